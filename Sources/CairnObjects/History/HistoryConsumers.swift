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

    /// Keeps the history from being deleted before somebody has seen it, in all stores that keep one and can be written; see
    /// `HistoryStore.registerHistoryConsumer(_:)`. Where it is registered already it stays where it is: so it is registered once
    /// more when a store is added.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if no store keeps a history; `.readOnly` if none that does can be written. Some of
    ///   several stores may know the consumer by then.
    public func registerHistoryConsumer(_ name: String) throws(StoreError) {
        try changingConsumers { store throws(StoreError) in
            try store.registerHistoryConsumer(name)
        }
    }

    /// Notes that a consumer has seen the history up to a token: that much may be deleted. Of stores that the token does not name
    /// nothing is noted, nor in those that are opened for reading only.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if the consumer is not registered, or the token names nothing in the stores that
    ///   keep a history; `.historyTokenExpired` if it names something that is not in a store's history; `.readOnly`. In some of
    ///   several stores it may be noted by then.
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

    /// Forgets a consumer; nothing is done where it is not registered.
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

    /// Keeps the history from being deleted before somebody has seen it: what is retained now, and what will be written. It is
    /// remembered in the store.
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

    /// Notes that a consumer has seen the history up to a token: that much may be deleted.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if the consumer is not registered, or the token names nothing in the store;
    ///   `.historyTokenExpired` if it names something that is not in the store's history; `.readOnly`.
    public func advance(_ consumer: String, to token: PersistentHistoryToken) throws(StoreError) {
        try store.advance(consumer, to: token)
    }

    /// Forgets a consumer; nothing is done if it is not registered.
    ///
    /// - Throws: `StoreError`: `.invalidRequest` if no store keeps a history; `.readOnly`.
    public func removeHistoryConsumer(_ name: String) throws(StoreError) {
        try store.removeHistoryConsumer(name)
    }
}
