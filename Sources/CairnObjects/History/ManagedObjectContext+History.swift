// The history as contexts, containers and coordinators are asked for it.

import CairnModel
public import CairnStore
public import Foundation

extension ManagedObjectContext {
    /// Fetches from the history of the store, or deletes from it.
    ///
    /// ```swift
    /// var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
    /// request.excludedAuthors = ["view"]
    /// for transaction in try context.execute(request).transactions {
    ///     context.mergeChanges(from: transaction)
    ///     token = transaction.token
    /// }
    /// ```
    ///
    /// - Throws: `StoreError`: `.historyTokenExpired` if some of what followed the point was deleted; `.invalidRequest` if the
    ///   store keeps no history; `.readOnly` for a deletion.
    @discardableResult
    public func execute(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryResult
    {
        try store.executeHistory(request)
    }

    /// Iterates over the results of a request, one transaction at a time: see `HistoryStore.fetchHistory(_:)`. With
    /// several stores behind a coordinator, the oldest transactions come first, by their timestamps.
    ///
    /// - Throws: As ``execute(_:)-(PersistentHistoryChangeRequest)``.
    public func fetchHistory(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryStream
    {
        try store.history(request)
    }

    /// Merges the changes of a history transaction into the context, like
    /// ``mergeChanges(fromContextDidSave:)-(Notification)``.
    public func mergeChanges(from transaction: PersistentHistoryTransaction) {
        mergeChanges(ChangesToMerge(transaction))
    }
}

extension PersistentHistoryTransaction {
    /// The transaction's changes, as a notification that a context can merge:
    /// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(Notification)``. It is never posted.
    public func objectIDNotification() -> Notification {
        typealias Key = ManagedObjectContext.NotificationKey
        var info: [AnyHashable: Any] = [Key.historyToken.rawValue: token]
        for (key, ids) in [
            (Key.insertedObjectIDs, insertedObjectIDs), (.updatedObjectIDs, updatedObjectIDs),
            (.deletedObjectIDs, deletedObjectIDs),
        ] where !ids.isEmpty {
            info[key.rawValue] = Set(ids)
        }
        return Notification(name: ContextNotice.didSaveIDs.unaskedName, object: nil, userInfo: info)
    }
}

extension PersistentContainer {
    /// Fetches from the history of the store, or deletes from it; see ``ManagedObjectContext/execute(_:)-(PersistentHistoryChangeRequest)``.
    ///
    /// - Throws: `StoreError`, as there.
    @discardableResult
    public func execute(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryResult
    {
        try store.executeHistory(request)
    }

    /// Iterates over the results of a request, one transaction at a time.
    ///
    /// - Throws: As ``execute(_:)``.
    public func fetchHistory(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryStream
    {
        try store.history(request)
    }

    /// The position after all commits, for the stores that keep a history; nil if none does.
    ///
    /// - Throws: `StoreError` if a store was closed.
    public func currentPersistentHistoryToken() throws(StoreError) -> PersistentHistoryToken? {
        try store.historyToken(of: nil)
    }
}

extension PersistentStoreCoordinator {
    /// Fetches from the history of the stores that keep one, or deletes from it; see
    /// ``ManagedObjectContext/execute(_:)-(PersistentHistoryChangeRequest)``.
    ///
    /// - Throws: `StoreError`, as there. Of a deletion a part may be done by then.
    @discardableResult
    public func execute(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryResult
    {
        try executeHistory(request)
    }

    /// Iterates over the results of a request, one transaction at a time. The oldest come first, by their timestamps;
    /// transactions of one store stay in order.
    ///
    /// - Throws: As ``execute(_:)-(PersistentHistoryChangeRequest)``.
    public func fetchHistory(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryStream
    {
        try history(request)
    }

    /// The position after all commits to some stores, or to all that keep a history; nil if none does.
    ///
    /// - Throws: `StoreError` if a store was closed.
    public func currentPersistentHistoryToken(fromStores stores: [any PersistentStore]? = nil)
        throws(StoreError) -> PersistentHistoryToken?
    {
        try historyToken(of: stores?.map(\.identity.identifier))
    }
}
