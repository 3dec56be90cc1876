// Requests that go to the store without objects.
//
// They do not touch what is in the context: objects that are here show what they showed, until they are fetched or refreshed.

import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// The author of a batch: a child context that has none writes for the context that has the stores, as its saves do.
    private var batchAuthor: String? { transactionAuthor ?? root.transactionAuthor }

    /// Inserts and updates many rows. Unless the request specifies otherwise, the context's merge policy, author and name
    /// are used.
    ///
    /// Only ``MergePolicy/mergeType`` and ``MergePolicy/setOnly`` of a merge policy apply, and `setOnly` only if the
    /// request has no policy of its own. Overrides in a subclass of ``MergePolicy`` are not called, because there are no
    /// objects to pass to them: batches use the built-in policy on which it is based.
    ///
    /// - Throws: `StoreError` with row and key; in that case nothing was written.
    @discardableResult
    public func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        try checkMayWrite()
        var request = request
        if request.mergePolicy == nil {
            request.mergePolicy = mergePolicy.mergeType
            request.setOnly = request.setOnly || mergePolicy.setOnly
        }
        request.author = request.author ?? batchAuthor
        request.contextName = request.contextName ?? name
        if request.makesObjects, let entity = schema.entity(named: request.entityName) {
            request.objectClass = classes.type(for: entity, in: schema)
        }
        let result = try carryOut(request)
        if result.commit != nil { knownRows.noteBatch() }
        return result
    }

    private func carryOut(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
        guard board.wants(.batches) else { return try store.execute(request) }
        return try watched(BatchEvent(.insert, entity: request.entityName)) {
            () throws(StoreError) in
            try store.execute(request)
        } _: { result, event in
            event.inserted = result.insertedCount
            event.updated = result.updatedCount + result.markedCount
            event.deleted = result.deletedCount
        }
    }

    /// Updates many objects. Unless the request specifies otherwise, the context's author and name are used.
    ///
    /// - Throws: `StoreError`: `.constraintConflict` with the objects that would share a key, or a validation error for the
    ///   new values; in that case nothing was written.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        try checkMayWrite()
        var request = request
        request.author = request.author ?? batchAuthor
        request.contextName = request.contextName ?? name
        let result = try carryOut(request)
        if result.commit != nil { knownRows.noteBatch() }
        return result
    }

    private func carryOut(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        guard board.wants(.batches) else { return try store.execute(request) }
        return try watched(BatchEvent(.update, entity: request.entityName)) {
            () throws(StoreError) in
            try store.execute(request)
        } _: { result, event in
            event.updated = result.updatedCount
        }
    }

    /// Deletes many objects. Unless the request specifies otherwise, the context's author and name are used.
    ///
    /// - Throws: `StoreError`; in that case nothing was deleted.
    @discardableResult
    public func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        try checkMayWrite()
        var request = request
        request.author = request.author ?? batchAuthor
        request.contextName = request.contextName ?? name
        let result = try carryOut(request)
        if result.commit != nil { knownRows.noteBatch() }
        return result
    }

    private func carryOut(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
        guard board.wants(.batches) else { return try store.execute(request) }
        return try watched(BatchEvent(.delete, entity: entityName(of: request.target))) {
            () throws(StoreError) in
            try store.execute(request)
        } _: { result, event in
            event.deleted = result.deletedCount + result.cascadedCount
        }
    }

    /// Deletes the stored objects that a request finds, unsaved changes left out of account.
    ///
    /// - Throws: `StoreError`; nothing is deleted then.
    @discardableResult
    public func executeBatchDelete<Result>(_ request: FetchRequest<Result>) throws(StoreError)
        -> BatchDeleteResult
    {
        try execute(BatchDeleteRequest(.fetch(try storeFetch(request))))
    }

    /// Refuses to write to what a migration comes from.
    private func checkMayWrite() throws(StoreError) {
        guard migrationPart == .source else { return }
        throw StoreError(
            .readOnly,
            "a migration cannot change the old store: change objects in its destination context")
    }
}
