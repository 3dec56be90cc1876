// The part of the contract for stores with a history.

public import FoundationEssentials

/// Whether a store keeps a history of its commits.
public enum PersistentHistoryTracking: Sendable, Hashable {
    /// The store keeps no history.
    case off
    /// The store keeps a history, as specified when it was opened.
    case on
    /// The store was opened without specifying it, and continues its existing history so that it has no gap. Specify on or
    /// off when you open it.
    case keptOn
}

/// The retained range of a history.
public struct PersistentHistoryBounds: Sendable, Hashable {
    /// The last commit that is not, or no longer, in the history. Tokens after it are valid.
    public let horizon: UInt64
    /// The last commit.
    public let last: UInt64

    /// Creates a range.
    public init(horizon: UInt64, last: UInt64) {
        self.horizon = horizon
        self.last = last
    }
}

/// Iterates over the transactions in one state of a store, oldest first. Not thread-safe.
public protocol PersistentHistoryCursor: AnyObject {
    /// The next transaction; nil after the last one.
    ///
    /// - Throws: `StoreError` if the transaction cannot be read. The next call returns the one after it.
    func next() throws(StoreError) -> PersistentHistoryTransaction?
}

/// A store that can keep a history of its commits.
public protocol HistoryStore: PersistentStore {
    /// Whether the store keeps a history.
    var historyTracking: PersistentHistoryTracking { get }

    /// The retained range; nil if it keeps no history.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func historyBounds() throws(StoreError) -> PersistentHistoryBounds?

    /// Iterates over the transactions after a commit, in the current state. Programs usually call ``fetchHistory(_:)``.
    ///
    /// - Throws: `StoreError`: `.historyTokenExpired` if some of the transactions after the commit are not retained.
    func historyCursor(after number: UInt64) throws(StoreError) -> any PersistentHistoryCursor

    /// The newest retained transaction up to a commit, and when it was committed; nil if there is none.
    ///
    /// - Throws: `StoreError` if it cannot be read.
    func historyMoment(through number: UInt64) throws(StoreError) -> (
        transaction: UInt64, time: Date
    )?

    /// The newest retained transaction that was committed before a date; nil if there is none. Transactions that cannot be
    /// read are skipped.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func historyTransaction(before date: Date) throws(StoreError) -> UInt64?

    /// Deletes the history up to a commit, as far as every registered consumer has seen it, and returns the number of
    /// deleted transactions. It does not affect later commits. Programs usually call
    /// ``ManagedObjectContext/execute(_:)-(PersistentHistoryChangeRequest)``.
    func deleteHistory(through number: UInt64) throws(StoreError) -> Int

    /// The registered consumers, and the last commit that each of them has seen.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func historyConsumerNumbers() throws(StoreError) -> [String: UInt64]

    /// Records how far a consumer has seen the history; nil removes the consumer. An unknown consumer is registered, unless
    /// it must exist. A consumer's position never moves backward.
    ///
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if no history is kept, the commit does not exist yet, or the
    ///   consumer must be registered and is not.
    func setHistoryConsumer(_ name: String, seen number: UInt64?, mustExist: Bool)
        throws(StoreError)
}

extension HistoryStore {
    /// The position after the newest commit; nil if no history is kept.
    ///
    /// - Throws: `StoreError` if the store was closed.
    public func currentHistoryToken() throws(StoreError) -> PersistentHistoryToken? {
        try historyBounds().map { bounds throws(StoreError) in
            try historyToken(behind: bounds.last)
        }
    }

    /// The point behind a commit.
    ///
    /// - Throws: `StoreError` if the store was closed.
    package func historyToken(behind number: UInt64) throws(StoreError) -> PersistentHistoryToken {
        PersistentHistoryToken(
            store: identity.identifier, number: number, mark: try historyMark(through: number))
    }

    /// What tells a point of this history from one of another; nil if nothing does.
    private func historyMark(through number: UInt64) throws(StoreError)
        -> PersistentHistoryToken.Mark?
    {
        do throws(StoreError) {
            return try historyMoment(through: number).map {
                .init(transaction: $0.transaction, time: $0.time.timeIntervalSinceReferenceDate)
            }
        } catch {
            // What follows it can be read.
            if error.code == .damaged { return nil }
            throw error
        }
    }

    /// Iterates over the results of a request, one transaction at a time; only one is in memory. The request's result
    /// type and limit only determine whether transactions include their changes.
    ///
    /// ```swift
    /// let history = try store.fetchHistory(.fetchHistory(after: token))
    /// while let transaction = try history.next() {
    ///     try index.apply(transaction)
    ///     token = transaction.token
    /// }
    /// ```
    ///
    /// It reads the current state, which stays readable during the iteration.
    ///
    /// With durability below `.full`, it includes commits that a power failure may still undo. If you apply them to
    /// something that outlives the program, call `LogStore.synchronize()` first; otherwise the token expires after a
    /// power failure.
    ///
    /// - Throws: `StoreError`: `.historyTokenExpired` if some of the transactions after the point have been deleted, or the
    ///   point does not belong to the store's history because the store was replaced by another copy (see
    ///   ``PersistentHistoryToken``); `.invalidRequest` if the store keeps no history, the request deletes, or its
    ///   predicate contains an unknown key.
    public func fetchHistory(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryStream
    {
        guard case .fetch(let point) = request.operation else {
            throw StoreError(.invalidRequest, "the request deletes from the history")
        }
        let filter = try request.fetchRequest.map { fetch throws(StoreError) in
            try HistoryFilter(fetch, request.resultType)
        }
        guard let bounds = try historyBounds() else { throw StoreError.noHistory }
        switch point {
        case .beginning: return try streamFromStart(request, filter)
        case .date(let date): return try streamFromStart(request, filter, after: date)
        case .token(let token):
            guard token.numbers[identity.identifier] != nil else {
                return try streamFromStart(request, filter, keeping: token)
            }
            return try stream(request, filter, after: token, bounds)
        case .transaction(let number, let store):
            guard store == identity.identifier else {
                throw StoreError(.invalidRequest, "the transaction belongs to another store")
            }
            return try stream(
                request, filter, after: PersistentHistoryToken(store: store, number: number),
                bounds)
        }
    }

    /// Goes through what follows a token.
    private func stream(
        _ request: PersistentHistoryChangeRequest, _ filter: HistoryFilter?,
        after token: PersistentHistoryToken, _ bounds: PersistentHistoryBounds
    ) throws(StoreError) -> PersistentHistoryStream {
        let number = try self.number(of: token, bounds)
        return PersistentHistoryStream(
            try historyCursor(after: number), request, after: nil, from: token, filter)
    }

    /// Goes through all that is retained.
    ///
    /// - Parameter token: what is known of other stores.
    private func streamFromStart(
        _ request: PersistentHistoryChangeRequest, _ filter: HistoryFilter?,
        after date: Date? = nil, keeping token: PersistentHistoryToken? = nil
    ) throws(StoreError) -> PersistentHistoryStream {
        var horizon: UInt64?
        while true {
            guard let bounds = try historyBounds() else { throw StoreError.noHistory }
            do throws(StoreError) {
                let start = PersistentHistoryToken(
                    store: identity.identifier, number: bounds.horizon)
                return PersistentHistoryStream(
                    try historyCursor(after: bounds.horizon), request, after: date,
                    from: token?.merging(start) ?? start, filter)
            } catch {
                // Somebody may have deleted from it just now.
                guard error.code == .historyTokenExpired, horizon != bounds.horizon else {
                    throw error
                }
                horizon = bounds.horizon
            }
        }
    }

    /// The commit that a token names, behind which everything is retained.
    private func number(of token: PersistentHistoryToken, _ bounds: PersistentHistoryBounds)
        throws(StoreError) -> UInt64
    {
        guard let number = token.numbers[identity.identifier] else {
            throw StoreError(.invalidRequest, "the token belongs to the history of another store")
        }
        if number < bounds.horizon {
            throw StoreError(
                .historyTokenExpired,
                "part of the history after the token was deleted, so some changes are unknown: read everything again"
            )
        }
        if number > bounds.last {
            throw StoreError(
                .historyTokenExpired,
                "the token is newer than the store, which was probably replaced by an older copy"
            )
        }
        if let mark = token.marks[identity.identifier] { try check(mark) }
        return number
    }

    /// Refuses the mark of a token that was given for another course of the history, as far as that can be told.
    private func check(_ mark: PersistentHistoryToken.Mark) throws(StoreError) {
        let moment: (transaction: UInt64, time: Date)?
        do throws(StoreError) {
            moment = try historyMoment(through: mark.transaction)
        } catch {
            // It says nothing any more of when it was.
            if error.code == .damaged { return }
            throw error
        }
        if let moment, moment.transaction == mark.transaction,
            moment.time.timeIntervalSinceReferenceDate.bitPattern == mark.time.bitPattern
        {
            return
        }
        // Looked at behind the transaction: what is deleted meanwhile is not there any more.
        guard let bounds = try historyBounds(), mark.transaction <= bounds.horizon else {
            throw StoreError(
                .historyTokenExpired,
                "the token belongs to a diverged history: the store was replaced by another copy, or lost its last commits in a power failure"
            )
        }
    }

    /// Executes a request.
    ///
    /// - Throws: As ``fetchHistory(_:)``; `.readOnly` for a deletion from a read-only store.
    @discardableResult
    public func execute(_ request: PersistentHistoryChangeRequest) throws(StoreError)
        -> PersistentHistoryResult
    {
        if request.isDeletion {
            var result = PersistentHistoryResult(request.resultType)
            result.deletedTransactionCount = try deleteHistory(request)
            return result
        }
        return try fetchHistory(request).result()
    }

    package func deleteHistory(_ request: PersistentHistoryChangeRequest) throws(StoreError) -> Int
    {
        guard let bounds = try historyBounds() else { throw StoreError.noHistory }
        switch request.operation {
        case .fetch: return 0
        case .deleteSeen:
            guard let seen = try historyConsumerNumbers().values.min() else { return 0 }
            return try deleteHistory(through: seen)
        case .delete(.beginning): return 0
        case .delete(.token(let token)):
            guard let number = token.numbers[identity.identifier], number > bounds.horizon else {
                return 0
            }
            if let mark = token.marks[identity.identifier] { try check(mark) }
            return try deleteHistory(through: number - 1)
        case .delete(.transaction(let number, let store)):
            guard store == identity.identifier, number > 0 else {
                throw StoreError(.invalidRequest, "the transaction belongs to another store")
            }
            return try deleteHistory(through: number - 1)
        case .delete(.date(let date)):
            guard let last = try historyTransaction(before: date) else { return 0 }
            return try deleteHistory(through: last)
        }
    }

    // MARK: Consumers

    /// The registered consumers, and how far each of them has seen the history.
    ///
    /// - Throws: `StoreError` if the store was closed.
    public func historyConsumers() throws(StoreError) -> [String: PersistentHistoryToken] {
        try historyConsumerNumbers().mapValues {
            PersistentHistoryToken(store: identity.identifier, number: $0)
        }
    }

    /// Prevents history from being deleted before a consumer has seen it: what is retained now, and what will be
    /// written. The store remembers its consumers. A registered consumer keeps its position. Opening the store with
    /// `persistentHistoryTracking` false still ends the history, and forgets its consumers.
    ///
    /// ```swift
    /// try store.registerHistoryConsumer("search")
    /// let history = try store.fetchHistory(.fetchHistory(after: try store.historyConsumers()["search"]))
    /// …
    /// try store.advance("search", to: token)
    /// try store.execute(.deleteSeenHistory())
    /// ```
    ///
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if the store keeps no history.
    public func registerHistoryConsumer(_ name: String) throws(StoreError) {
        guard let bounds = try historyBounds() else { throw StoreError.noHistory }
        if try historyConsumerNumbers()[name] != nil { return }
        try setHistoryConsumer(name, seen: bounds.horizon, mustExist: false)
    }

    /// Records that a consumer has seen the history up to a token, so that it can be deleted up to there.
    ///
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if the consumer is not registered, or the token has no
    ///   position in this store; `.historyTokenExpired` if its position is not in the store's history.
    public func advance(_ consumer: String, to token: PersistentHistoryToken) throws(StoreError) {
        guard let bounds = try historyBounds() else { throw StoreError.noHistory }
        guard let point = token.numbers[identity.identifier] else {
            throw StoreError(.invalidRequest, "the token belongs to the history of another store")
        }
        // No one goes back, so what was deleted since does no harm.
        let number = point < bounds.horizon ? point : try self.number(of: token, bounds)
        try setHistoryConsumer(consumer, seen: number, mustExist: true)
    }

    /// Removes a consumer. Does nothing if it is not registered.
    ///
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if the store keeps no history.
    public func removeHistoryConsumer(_ name: String) throws(StoreError) {
        try setHistoryConsumer(name, seen: nil, mustExist: false)
    }
}

extension StoreError {
    /// No history is kept.
    package static var noHistory: StoreError {
        StoreError(
            .invalidRequest,
            "the store keeps no history: open it with persistentHistoryTracking to start one")
    }

    /// A consumer is not registered.
    package static var noSuchConsumer: StoreError {
        StoreError(.invalidRequest, "there is no registered history consumer with this name")
    }

    /// A consumer says that it has seen what is still to come.
    package static var unseenCommit: StoreError {
        StoreError(.invalidRequest, "a consumer cannot have seen a commit that does not exist yet")
    }
}
