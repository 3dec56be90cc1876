// One state of the store that the server keeps readable: a transaction that does not see later commits.
//
//   1. It begins with the first question, in one round trip, or when it is made: a state that somebody keeps is that of then.
//   2. It has a connection to itself until it is let go. Nobody waits for its end.
//   3. The server ends it when nobody has asked it anything for long, and when it goes away itself: what was asked before is
//      of a state that nobody can be asked about any more.
//
// Threads: any; one question at a time.

import CairnStore
import Synchronization

final class ReadTransaction: CursorQuestions {
    private enum Stage {
        case waiting
        case open(PostgresConnection, commit: UInt64)
        /// Why it can no longer be queried.
        case over(StoreError)
    }

    private let core: StoreCore
    /// Held while a question is asked, which waits for the network and for nobody else.
    private let stage = Mutex(Stage.waiting)
    let cursors = Mutex(CursorNames())

    /// - Parameter begins: whether the state is that of now, and not that of the first question.
    init(_ core: StoreCore, begins: Bool = true) throws(StoreError) {
        self.core = core
        if begins {
            _ = try stage.withLock { stage throws(StoreError) in try begin([], &stage) }
        }
    }

    deinit {
        stage.withLock { stage in
            if case .open(let connection, _) = stage { core.pool.giveBack(connection) }
        }
    }

    /// The number of the last commit that it sees; 0 if the server cannot say it.
    var commit: UInt64 {
        stage.withLock { stage in
            if case .waiting = stage { _ = try? begin([], &stage) }
            guard case .open(_, let commit) = stage else { return 0 }
            return commit
        }
    }

    /// Asks, all in one round trip.
    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        if statements.isEmpty { return [] }
        return try stage.withLock { stage throws(StoreError) in try ask(statements, &stage) }
    }

    private func ask(_ statements: [Statement], _ stage: inout Stage) throws(StoreError)
        -> [PostgresResult]
    {
        switch stage {
        case .waiting: return try begin(statements, &stage)
        case .over(let error): throw error
        case .open(let connection, _):
            let closing = cursors.withLock { $0.closing() }
            do throws(SQLFailure) {
                let results = try connection.pipeline(closing + statements, bound: core.bound)
                return Array(results.dropFirst(closing.count))
            } catch {
                guard connection.isBroken || connection.transactionStatus != .open else {
                    throw StoreError(error)
                }
                core.pool.giveBack(connection)
                let isLost = connection.isBroken && error.isConnectionLoss
                let failure = isLost ? lost(error) : StoreError(error)
                stage = .over(isLost ? failure : Self.ended(error))
                throw failure
            }
        }
    }

    /// Begins, and asks. A connection that is lost here has answered nothing yet: another one is as good. So is another state if
    /// this one is of before a migration had made the store's table anew.
    private func begin(
        _ statements: [Statement], _ stage: inout Stage
    ) throws(StoreError) -> [PostgresResult] {
        // In milliseconds, as the server takes it: at least one, as none means for ever.
        let patience = Int(min(max(core.options.snapshotTimeout * 1000, 1), 2e9))
        let begin = [
            Statement("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
            Statement("SET LOCAL idle_in_transaction_session_timeout = \(patience)", [], .once),
            core.stateQuestion,
        ]
        return try Retries(Self.attempts).run { () throws(StoreError) in
            let connection = try core.borrow(for: .snapshot)
            do throws(SQLFailure) {
                let results = try connection.pipeline(begin + statements, bound: core.bound)
                stage = .open(connection, commit: try core.noteState(results[2]))
                return Array(results[begin.count...])
            } catch {
                let failure = core.explained(error, connection)
                core.pool.giveBack(connection)
                throw StoreError(failure)
            }
        }
    }

    private static let attempts = 3

    /// What is said of a state whose connection is gone.
    private func lost(_ failure: SQLFailure) -> StoreError {
        let reason =
            failure.sqlState?.isIdleInTransaction == true
            ? "it was unused for longer than \(core.options.snapshotTimeout) seconds (option snapshotTimeout)"
            : "the connection to the server was lost"
        return StoreError(
            .snapshotExpired, "the snapshot can no longer be read, take a new one: \(reason)",
            cause: failure)
    }

    private static func ended(_ failure: SQLFailure) -> StoreError {
        StoreError(
            .snapshotExpired,
            "the snapshot can no longer be read, take a new one: an earlier query failed",
            cause: failure)
    }
}
