// The part of the contract that stores with past states keep.

public import FoundationEssentials

/// How far back a store can be read as it was.
public enum PastStateRetention: Sendable, Hashable {
    /// It is kept as it is, and nothing more.
    case off
    /// The states behind all commits from now on, until they are purged.
    case all
    /// Those behind so many of the last commits, at least.
    case transactions(Int)
    /// Those of so many of the last seconds, at least.
    case seconds(Double)
}

/// Which past states of a store can be read.
public struct PastStateBounds: Sendable, Hashable {
    /// The first commit whose state is kept.
    public let horizon: UInt64
    /// The last commit.
    public let last: UInt64
    /// How far back states are kept, from now on.
    public let retention: PastStateRetention
    /// Bytes of files that are kept for past states alone.
    public let bytes: UInt64

    /// Describes what can be read.
    public init(horizon: UInt64, last: UInt64, retention: PastStateRetention, bytes: UInt64) {
        self.horizon = horizon
        self.last = last
        self.retention = retention
        self.bytes = bytes
    }
}

/// A store that can be read as it was after a commit of the past.
public protocol PastStore: PersistentStore {
    /// Which past states can be read; nil if none are kept.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func pastStateBounds() throws(StoreError) -> PastStateBounds?

    /// The state after a commit: what a snapshot showed that was taken then.
    ///
    /// ```swift
    /// let before = try store.snapshot(at: transaction.transactionNumber - 1)
    /// ```
    ///
    /// - Throws: `StoreError`: `.pastStateUnavailable`, with the first commit whose state is kept, if that is a later one, or
    ///   the commit is still to come; `.invalidRequest` if the store keeps no past states.
    /// - Complexity: O(log behind the newest checkpoint before the commit), or behind a past state that was read just now. As
    ///   much memory as directory and indexes of the store take; two such states are kept for the next one who asks.
    func snapshot(at number: UInt64) throws(StoreError) -> any StoreSnapshot

    /// The last commit that was made up to a moment, by the clock of those who committed.
    ///
    /// - Throws: As ``snapshot(at:)``, if none of the commits up to then is kept.
    /// - Complexity: O(bytes of a segment).
    func transactionNumber(at date: Date) throws(StoreError) -> UInt64

    /// Gives the states before a commit up; states that somebody reads stay readable. The space comes back as soon as nothing
    /// else needs it.
    ///
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if the store keeps no past states.
    func purgePastStates(before number: UInt64) throws(StoreError)
}

extension PastStateRetention {
    /// Refuses what makes no sense.
    package func check() throws(StoreError) {
        let isPossible =
            switch self {
            case .off, .all: true
            case .transactions(let count): count >= 0
            case .seconds(let seconds): seconds >= 0 && seconds < 1e15
            }
        if isPossible { return }
        throw StoreError(
            .invalidRequest, "past states are kept for a number of commits or seconds, from 0")
    }
}

extension StoreError {
    /// Nobody keeps past states.
    package static var noPastStates: StoreError {
        StoreError(
            .invalidRequest, "the store keeps no past states: open it with `pastStates`")
    }
}
