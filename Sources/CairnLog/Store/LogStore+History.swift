// The history of a log store.

import CairnFormat
public import CairnStore
public import FoundationEssentials

extension LogStore: HistoryStore {
    /// Whether the store keeps a history of its commits, and whether it was opened with that option.
    public var historyTracking: PersistentHistoryTracking {
        guard engine.tracksHistory else { return .off }
        return asksForHistory ? .on : .keptOn
    }

    /// Returns the retained range of the history; nil if the store keeps none.
    ///
    /// - Throws: `StoreError` if the store was closed.
    public func historyBounds() throws(StoreError) -> PersistentHistoryBounds? {
        try checkOpen()
        return engine.registry.read { state in
            state.catalog.metadata?.history.flatMap { settings in
                settings.isTracked
                    ? PersistentHistoryBounds(
                        horizon: settings.horizon, last: max(state.commit, settings.horizon)) : nil
            }
        }
    }

    /// Returns a cursor over the transactions after a commit.
    public func historyCursor(after number: UInt64) throws(StoreError)
        -> any PersistentHistoryCursor
    {
        try checkOpen()
        return try engine.historyReader(after: number)
    }

    /// Returns the newest retained transaction up to a commit, and the date of its commit.
    public func historyMoment(through number: UInt64) throws(StoreError) -> (
        transaction: UInt64, time: Date
    )? {
        try checkOpen()
        return try engine.historyMoment(through: number).map {
            ($0.transaction, Date(timeIntervalSinceReferenceDate: $0.time))
        }
    }

    /// Returns the newest retained transaction that was committed before a date.
    public func historyTransaction(before date: Date) throws(StoreError) -> UInt64? {
        try checkOpen()
        return try engine.historyTransaction(before: date.timeIntervalSinceReferenceDate)
    }

    /// Deletes the history up to a commit, as far as every registered consumer has seen it.
    public func deleteHistory(through number: UInt64) throws(StoreError) -> Int {
        try checkOpen()
        return try engine.deleteHistory(through: number)
    }

    /// Returns the registered consumers, and the last commit that each of them has seen.
    public func historyConsumerNumbers() throws(StoreError) -> [String: UInt64] {
        try checkOpen()
        return engine.historySettings?.consumers ?? [:]
    }

    /// Records the last commit that a consumer has seen; nil removes the consumer.
    public func setHistoryConsumer(_ name: String, seen number: UInt64?, mustExist: Bool)
        throws(StoreError)
    {
        try checkOpen()
        try engine.setHistoryConsumer(name, seen: number, mustExist: mustExist)
    }

    /// The number of retained transactions, and the size of their frames in bytes.
    package var historyUse: (transactions: Int, bytes: UInt64) {
        engine.registry.read { ($0.history.count, $0.history.bytes) }
    }
}
