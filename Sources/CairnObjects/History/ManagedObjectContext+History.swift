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

    /// Goes through what a request asks for, a transaction at a time: see `HistoryStore.fetchHistory(_:)`. Of several stores
    /// behind a coordinator the oldest transactions come first, by their times.
    ///
    /// - Throws: As ``execute(_:)-(PersistentHistoryChangeRequest)``.
    public func fetchHistory(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryStream
    {
        try store.history(request)
    }

    /// Brings the objects of the context up to what a transaction of the history changed, as
    /// ``mergeChanges(fromContextDidSave:)-(Notification)`` does.
    public func mergeChanges(from transaction: PersistentHistoryTransaction) {
        mergeChanges(ChangesToMerge(transaction))
    }
}

extension PersistentHistoryTransaction {
    /// What the transaction changed, as a notification that a context can merge:
    /// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(Notification)``. Nobody posts it.
    public func objectIDNotification() -> Notification {
        typealias Key = ManagedObjectContext.NotificationKey
        var info: [AnyHashable: Any] = [Key.historyToken.rawValue: token]
        for (key, ids) in [
            (Key.insertedObjectIDs, insertedObjectIDs), (.updatedObjectIDs, updatedObjectIDs),
            (.deletedObjectIDs, deletedObjectIDs),
        ] where !ids.isEmpty {
            info[key.rawValue] = Set(ids)
        }
        return Notification(name: NotificationNames.didSaveIDsUnasked, object: nil, userInfo: info)
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

    /// Goes through what a request asks for, a transaction at a time.
    ///
    /// - Throws: As ``execute(_:)``.
    public func fetchHistory(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryStream
    {
        try store.history(request)
    }

    /// The point behind everything that is committed, of the stores that keep a history; nil if none does.
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

    /// Goes through what a request asks for, a transaction at a time. The oldest come first, by their times; those of one
    /// store stay in their order.
    ///
    /// - Throws: As ``execute(_:)-(PersistentHistoryChangeRequest)``.
    public func fetchHistory(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryStream
    {
        try history(request)
    }

    /// The point behind everything that is committed to some stores, or to all that keep a history; nil if none does.
    ///
    /// - Throws: `StoreError` if a store was closed.
    public func currentPersistentHistoryToken(fromStores stores: [any PersistentStore]? = nil)
        throws(StoreError) -> PersistentHistoryToken?
    {
        try historyToken(of: stores?.map(\.identity.identifier))
    }
}
