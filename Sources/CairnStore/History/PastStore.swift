// The part of the contract for stores with past states.

public import FoundationEssentials

/// How far back a store keeps past states.
public enum PastStateRetention: Sendable, Hashable {
    /// Only the current state is kept.
    case off
    /// The states after all commits from now on, until they are purged.
    case all
    /// At least the states after that many of the last commits.
    case transactions(Int)
    /// At least the states of that many of the last seconds.
    case seconds(Double)
}

/// The past states of a store that can be read.
public struct PastStateBounds: Sendable, Hashable {
    /// The first commit whose state is available.
    public let horizon: UInt64
    /// The last commit.
    public let last: UInt64
    /// How long states are kept from now on.
    public let retention: PastStateRetention
    /// The size, in bytes, of files that are kept only for past states.
    public let bytes: UInt64

    /// Creates a range.
    public init(horizon: UInt64, last: UInt64, retention: PastStateRetention, bytes: UInt64) {
        self.horizon = horizon
        self.last = last
        self.retention = retention
        self.bytes = bytes
    }
}

/// A store whose past states can be read.
public protocol PastStore: PersistentStore {
    /// The past states that can be read; nil if none are kept.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func pastStateBounds() throws(StoreError) -> PastStateBounds?

    /// The state after a commit, as a snapshot taken at that time showed it.
    ///
    /// ```swift
    /// let before = try store.snapshot(at: transaction.transactionNumber - 1)
    /// ```
    ///
    /// - Throws: `StoreError`: `.pastStateUnavailable`, with the first commit whose state is available, if that is a later
    ///   one or the commit does not exist yet; `.invalidRequest` if the store keeps no past states.
    /// - Complexity: O(log after the newest checkpoint before the commit), or after a past state that was read recently. It
    ///   takes as much memory as the store's directory and indexes; two such states are cached.
    func snapshot(at number: UInt64) throws(StoreError) -> any StoreSnapshot

    /// The last commit made up to a date, by the clock of the process that committed.
    ///
    /// - Throws: As ``snapshot(at:)``, if the states of all commits up to then are gone.
    /// - Complexity: O(bytes of a segment).
    func transactionNumber(at date: Date) throws(StoreError) -> UInt64

    /// Purges the states before a commit. States that are being read stay readable. The space is reclaimed as soon as
    /// nothing else needs it.
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
            .invalidRequest, "past states are kept for a number of commits or seconds, 0 or more")
    }
}

extension StoreError {
    /// Nobody keeps past states.
    package static var noPastStates: StoreError {
        StoreError(
            .invalidRequest, "the store keeps no past states: open it with `pastStates`")
    }
}
