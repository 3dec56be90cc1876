// Registered consumers of the history of whatever store there is: a store, or those behind a coordinator.
//
// A store says itself who its consumers are; see HistoryStore. Of several stores each that keeps a history has the consumer, and
// a token says of each how far it has come.

public import CairnStore
import FoundationEssentials

/// Consumers of the history: who has to have seen it before it is deleted.
///
/// ```swift
/// try container.registerHistoryConsumer("search")
/// let seen = try container.historyConsumers()["search"]
/// for transaction in try container.execute(.fetchHistory(after: seen)).transactions {
///     index(transaction)
///     try container.advance("search", to: transaction.token)
/// }
/// try container.execute(.deleteSeenHistory())
/// ```
extension PersistentStore {
    /// The registered consumers, and up to where each has seen the history: of several stores, in each that knows it.
    ///
    /// - Throws: `StoreError` if a store was closed.
    public func historyConsumers() throws(StoreError) -> [String: PersistentHistoryToken] {
        var consumers: [String: PersistentHistoryToken] = [:]
        for store in historyStores where store.historyTracking != .off {
            for (name, token) in try store.historyConsumers() {
                consumers[name] = consumers[name]?.merging(token) ?? token
            }
        }
        return consumers
    }

    /// Prevents history from being deleted before a consumer has seen it, in all writable stores that keep a history;
    /// see `HistoryStore.registerHistoryConsumer(_:)`. A registered consumer keeps its position, so register it again
    /// when a store is added.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if no store keeps a history; `.readOnly` if none that does can be written. Some of
    ///   several stores may know the consumer by then.
    public func registerHistoryConsumer(_ name: String) throws(StoreError) {
        try changingConsumers { store throws(StoreError) in
            try store.registerHistoryConsumer(name)
        }
    }

    /// Records that a consumer has seen the history up to a token, so that it can be deleted up to there. Stores that the
    /// token does not name, and read-only stores, are skipped.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if the consumer is not registered, or the token has no position in the
    ///   stores that keep a history; `.historyTokenExpired` if a position is not in a store's history; `.readOnly`. With
    ///   several stores, some of them may already have recorded it.
    public func advance(_ consumer: String, to token: PersistentHistoryToken) throws(StoreError) {
        var isNamed = false
        try changingConsumers { store throws(StoreError) in
            guard token.numbers[store.identity.identifier] != nil else { return }
            isNamed = true
            try store.advance(consumer, to: token)
        }
        let isElsewhere = historyStores.contains {
            $0.isReadOnly && token.numbers[$0.identity.identifier] != nil
        }
        if !isNamed, !isElsewhere {
            throw StoreError(.invalidRequest, "the token belongs to the history of another store")
        }
    }

    /// Removes a consumer from all stores in which it is registered.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if no store keeps a history; `.readOnly`.
    public func removeHistoryConsumer(_ name: String) throws(StoreError) {
        try changingConsumers { store throws(StoreError) in
            try store.removeHistoryConsumer(name)
        }
    }

    /// Writes to all stores that keep a history, but for those that are opened for reading only, if there are others.
    private func changingConsumers(_ body: (any HistoryStore) throws(StoreError) -> Void)
        throws(StoreError)
    {
        let stores = historyStores.filter { $0.historyTracking != .off }
        if stores.isEmpty { throw StoreError.noHistory }
        let written = stores.filter { !$0.isReadOnly }
        // A store that is the only one says itself why it cannot be written.
        for store in written.isEmpty ? stores : written { try writingHistory(of: store, body) }
    }
}

extension PersistentContainer {
    /// The registered consumers of the history, and up to where each has seen it.
    ///
    /// - Throws: `StoreError` if a store was closed.
    public func historyConsumers() throws(StoreError) -> [String: PersistentHistoryToken] {
        try store.historyConsumers()
    }

    /// Prevents history from being deleted before a consumer has seen it: what is retained now, and what will be
    /// written. The store remembers its consumers.
    ///
    /// ```swift
    /// try container.registerHistoryConsumer("search")
    /// let seen = try container.historyConsumers()["search"]
    /// for transaction in try container.execute(.fetchHistory(after: seen)).transactions {
    ///     index(transaction)
    ///     try container.advance("search", to: transaction.token)
    /// }
    /// try container.execute(.deleteSeenHistory())
    /// ```
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if no store keeps a history; `.readOnly`.
    public func registerHistoryConsumer(_ name: String) throws(StoreError) {
        try store.registerHistoryConsumer(name)
    }

    /// Records that a consumer has seen the history up to a token, so that it can be deleted up to there.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if the consumer is not registered, or the token has no position in the
    ///   store; `.historyTokenExpired` if its position is not in the store's history; `.readOnly`.
    public func advance(_ consumer: String, to token: PersistentHistoryToken) throws(StoreError) {
        try store.advance(consumer, to: token)
    }

    /// Removes a consumer. Does nothing if it is not registered.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if no store keeps a history; `.readOnly`.
    public func removeHistoryConsumer(_ name: String) throws(StoreError) {
        try store.removeHistoryConsumer(name)
    }
}
