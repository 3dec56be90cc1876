// The part of the contract that stores with a history keep.

public import FoundationEssentials

/// Whether a store keeps a history of its commits.
public enum PersistentHistoryTracking: Sendable, Hashable {
    /// It keeps none.
    case off
    /// It keeps one, as it was asked to when it was opened.
    case on
    /// It was opened by somebody who said nothing of a history, and goes on with the one that it had, so that it has no
    /// gap. Say so when you open it, or that you want none.
    case keptOn
}

/// What of a history is retained.
public struct PersistentHistoryBounds: Sendable, Hashable {
    /// The last commit of which the history says nothing any more, or never did. A token behind it is good.
    public let horizon: UInt64
    /// The last commit.
    public let last: UInt64

    /// Describes what is retained.
    public init(horizon: UInt64, last: UInt64) {
        self.horizon = horizon
        self.last = last
    }
}

/// Goes through the transactions of one state of a store, oldest first. For one thread at a time.
public protocol PersistentHistoryCursor: AnyObject {
    /// The next transaction; nil behind the last one.
    ///
    /// - Throws: `StoreError` if it cannot be read; asked once more it gives the one behind it.
    func next() throws(StoreError) -> PersistentHistoryTransaction?
}

/// A store that can keep a history of what was committed to it.
public protocol HistoryStore: PersistentStore {
    /// Whether it does.
    var historyTracking: PersistentHistoryTracking { get }

    /// What is retained; nil if it keeps no history.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func historyBounds() throws(StoreError) -> PersistentHistoryBounds?

    /// Goes through the transactions behind a commit, as they are now. People ask by ``fetchHistory(_:)``.
    ///
    /// - Throws: `StoreError`: `.historyTokenExpired` if some of what followed the commit is not retained.
    func historyCursor(after number: UInt64) throws(StoreError) -> any PersistentHistoryCursor

    /// The newest transaction up to a commit that is retained, and when it was committed; nil if there is none.
    ///
    /// - Throws: `StoreError` if it cannot be read.
    func historyMoment(through number: UInt64) throws(StoreError) -> (
        transaction: UInt64, time: Date
    )?

    /// The newest transaction that is retained and was committed before a moment; nil if there is none. Those that cannot be
    /// read are passed over.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func historyTransaction(before date: Date) throws(StoreError) -> UInt64?

    /// Deletes the history up to a commit, as far as every registered consumer has seen it; gives how many transactions that
    /// were. Of commits to come nothing is said. People ask by ``execute(_:)``.
    func deleteHistory(through number: UInt64) throws(StoreError) -> Int

    /// The registered consumers, and the last commit that each has seen.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func historyConsumerNumbers() throws(StoreError) -> [String: UInt64]

    /// Notes how far a consumer has seen the history; nil: that it is none any more. One that is not known is registered,
    /// unless it must be. No one goes back.
    ///
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if no history is kept, the commit is still to come, or the
    ///   consumer is not registered and must be.
    func setHistoryConsumer(_ name: String, seen number: UInt64?, mustExist: Bool)
        throws(StoreError)
}

extension HistoryStore {
    /// The point behind the newest commit; nil if no history is kept.
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

    /// Goes through what a request asks for, a transaction at a time: in memory is one of them. Result type and limit of the
    /// request say nothing here but whether transactions come with their changes.
    ///
    /// ```swift
    /// let history = try store.fetchHistory(.fetchHistory(after: token))
    /// while let transaction = try history.next() {
    ///     try index.apply(transaction)
    ///     token = transaction.token
    /// }
    /// ```
    ///
    /// It reads the state of now, which is kept readable meanwhile.
    ///
    /// With durability below `.full` it also tells of commits that a power failure may still undo. Who applies them to
    /// something that outlives the program calls `LogStore.synchronize()` before; otherwise the token has expired after
    /// the power failure.
    ///
    /// - Throws: `StoreError`: `.historyTokenExpired` if some of what followed the point has been deleted, or it is none of
    ///   the store's, which was replaced by another copy of it (see ``PersistentHistoryToken``); `.invalidRequest` if the
    ///   store keeps no history, the request deletes, or its condition names a key that there is not.
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
                "some of the history after the token was deleted, so what has changed since is not known: read everything again"
            )
        }
        if number > bounds.last {
            throw StoreError(
                .historyTokenExpired,
                "the token is newer than the store, which was probably replaced by an older copy of it"
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
                "the token belongs to another course of the store's history: the store was replaced by another copy of it, or has lost its last commits in a power failure"
            )
        }
    }

    /// Does what a request asks for.
    ///
    /// - Throws: As ``fetchHistory(_:)``; `.readOnly` for a deletion from a store that is opened for reading only.
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

    /// The registered consumers, and up to where each has seen the history.
    ///
    /// - Throws: `StoreError` if the store was closed.
    public func historyConsumers() throws(StoreError) -> [String: PersistentHistoryToken] {
        try historyConsumerNumbers().mapValues {
            PersistentHistoryToken(store: identity.identifier, number: $0)
        }
    }

    /// Keeps the history from being deleted before somebody has seen it: what is retained now, and what will be written.
    /// It is remembered in the store. One that is registered already stays where it is. Only who opens the store with
    /// `persistentHistoryTracking` false ends the history all the same, and forgets its consumers.
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

    /// Notes that a consumer has seen the history up to a token: that much may be deleted.
    ///
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if it is not registered, or the token names nothing in this
    ///   store; `.historyTokenExpired` if it names something that is not in the store's history.
    public func advance(_ consumer: String, to token: PersistentHistoryToken) throws(StoreError) {
        guard let bounds = try historyBounds() else { throw StoreError.noHistory }
        guard let point = token.numbers[identity.identifier] else {
            throw StoreError(.invalidRequest, "the token belongs to the history of another store")
        }
        // No one goes back, so what was deleted since does no harm.
        let number = point < bounds.horizon ? point : try self.number(of: token, bounds)
        try setHistoryConsumer(consumer, seen: number, mustExist: true)
    }

    /// Forgets a consumer; nothing is done if it is not registered.
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
            "the store keeps no history: open it with persistentHistoryTracking to begin one")
    }

    /// A consumer is not registered.
    package static var noSuchConsumer: StoreError {
        StoreError(.invalidRequest, "no such consumer of the history is registered")
    }

    /// A consumer says that it has seen what is still to come.
    package static var unseenCommit: StoreError {
        StoreError(.invalidRequest, "a consumer cannot have seen a commit that is still to come")
    }
}
