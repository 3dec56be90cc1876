// A store as it was.                                                                              Format 79

import CairnFormat
public import CairnStore
public import FoundationEssentials

extension LogStore: PastStore {
    /// Which past states can be read, and what that costs; nil if none are kept.
    ///
    /// - Throws: `StoreError` if the store was closed.
    public func pastStateBounds() throws(StoreError) -> PastStateBounds? {
        try checkOpen()
        return try engine.pastBounds()
    }

    /// The state after a commit, as long as past states are kept that far back (``LogStoreOptions/pastStates``).
    public func snapshot(at number: UInt64) throws(StoreError) -> any StoreSnapshot {
        try checkOpen()
        return LogSnapshot(engine: engine, state: try engine.pinPast(number))
    }

    /// The last commit up to a moment.
    public func transactionNumber(at date: Date) throws(StoreError) -> UInt64 {
        try checkOpen()
        return try engine.pastCommit(at: date.timeIntervalSinceReferenceDate)
    }

    /// Gives the states before a commit up.
    public func purgePastStates(before number: UInt64) throws(StoreError) {
        try checkOpen()
        if isReadOnly { throw StoreError(.readOnly, "the store is opened for reading only") }
        guard engine.pastSettings != nil else { throw StoreError.noPastStates }
        try engine.releasePast(before: number)
        if durability == .full { try engine.synchronize() }
        engine.giveBackReleased()
    }
}
