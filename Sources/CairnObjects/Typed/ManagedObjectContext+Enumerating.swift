// Going over many objects without holding many.
//
//   1. Which objects match, and their order, is decided once: their ids are kept.
//   2. Rows are read a batch at a time; the objects of a batch go when the one after the next is read, unless somebody
//      holds them.
//   3. Changed objects are held by the context until they are saved. So a change is an error, unless the caller says
//      that it is meant.
//
// Threads: the context's.

public import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// Calls a closure with each object that matches a request, in order, reading them in batches.
    ///
    /// ```swift
    /// var total = 0.0
    /// try context.enumerate(FetchRequest<Product>()) { total += $0.price }
    /// ```
    ///
    /// In memory are the ids of all objects, and the objects of at most two batches. Changed objects, which the context has
    /// to retain, would defeat that: so the context must have no changes, and the closure must not make any. Code that
    /// changes objects must allow it, and save from time to time:
    ///
    /// ```swift
    /// var count = 0
    /// try context.enumerate(FetchRequest<Product>(), allowEscapingMutations: true) { product in
    ///     product.price *= 1.1
    ///     count += 1
    ///     if count.isMultiple(of: 5000) { try context.save() }
    /// }
    /// try context.save()
    /// ```
    ///
    /// The matching objects are determined at the start. Objects that are deleted from the store later are skipped.
    ///
    /// - Parameters:
    ///   - request: the objects and their order; its ``FetchRequest/fetchBatchSize`` is ignored.
    ///   - batchSize: how many rows to read at a time.
    ///   - allowEscapingMutations: whether changes in the context are allowed.
    ///   - block: called with each object.
    /// - Throws: `StoreError` as ``fetch(_:)->[Result]``; `.invalidRequest` if the context has changes that are not
    ///   allowed. The errors of the closure, which end the iteration.
    /// - Complexity: that of ``fetchObjectIDs(_:)``, and one read of the store for each batch.
    public func enumerate<Result: ManagedObject>(
        _ request: FetchRequest<Result>, batchSize: Int = 5000,
        allowEscapingMutations: Bool = false, block: (Result) throws -> Void
    ) throws {
        precondition(batchSize > 0, "a batch has at least one object")
        var request = request
        request.fetchBatchSize = batchSize
        if !allowEscapingMutations { try refuseChanges(of: request.entityName) }
        for object in try fetchLazily(request) {
            // Reading its batch may have failed.
            try throwReadError()
            guard try isThere(object) else { continue }
            try block(object)
            if !allowEscapingMutations { try refuseChanges(of: request.entityName) }
        }
        try throwReadError()
    }

    /// Whether an object is stored still. It may have become a fault since its batch was read.
    private func isThere(_ object: ManagedObject) throws(StoreError) -> Bool {
        if object.isFault, !object.hasCells {
            do throws(StoreError) {
                try fulfillOrThrow(object)
            } catch {
                if error.code == .objectNotFound { return false }
                throw error
            }
        }
        return !object.isGone
    }

    private func refuseChanges(of entity: String) throws(StoreError) {
        guard hasChanges else { return }
        throw StoreError(
            .invalidRequest,
            "the context has unsaved changes during enumeration, which keep objects in memory: save them, or allow escaping mutations",
            context: .init(entity: entity))
    }

    // MARK: Ids and numbers

    /// The ids of the objects that match a request, in its order; the same as ``fetchObjectIDs(_:)``.
    ///
    /// - Throws: As ``fetchObjectIDs(_:)``.
    public func fetchIdentifiers<Result>(_ request: FetchRequest<Result>) throws(StoreError)
        -> [ObjectID]
    {
        try fetchObjectIDs(request)
    }

    /// How many objects match a request; the same as ``count(for:)``.
    ///
    /// - Throws: As ``count(for:)``.
    public func fetchCount<Result>(_ request: FetchRequest<Result>) throws(StoreError) -> Int {
        try count(for: request)
    }
}
