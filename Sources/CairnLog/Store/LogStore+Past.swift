// Past states of a store.                                                                         Format 79

import CairnFormat
public import CairnStore
public import FoundationEssentials

extension LogStore: PastStore {
    /// Returns the past states that can be read, and the space they take; nil if none are kept.
    ///
    /// - Throws: `StoreError` if the store was closed.
    public func pastStateBounds() throws(StoreError) -> PastStateBounds? {
        try checkOpen()
        return try engine.pastBounds()
    }

    /// Returns the state after a commit, if past states are kept that long (``LogStoreOptions/pastStates``).
    public func snapshot(at number: UInt64) throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return LogSnapshot(engine: engine, state: try engine.pinPast(number))
    }

    /// Returns the number of the last commit up to a date.
    public func transactionNumber(at date: Date) throws(StoreError) -> UInt64 {
        try checkOpen()
        return try engine.pastCommit(at: date.timeIntervalSinceReferenceDate)
    }

    /// Purges the states before a commit.
    public func purgePastStates(before number: UInt64) throws(StoreError) {
        try checkOpen()
        if isReadOnly { throw StoreError(.readOnly, "the store is open for reading only") }
        guard engine.pastSettings != nil else { throw StoreError.noPastStates }
        try engine.releasePast(before: number)
        if durability == .full { try engine.synchronize() }
        engine.giveBackReleased()
    }
}
