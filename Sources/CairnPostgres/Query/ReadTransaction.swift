// One state of the store, kept readable by the server: a transaction that sees nothing of what is committed after it began.
//
//   1. It begins with the first question, in one round trip, or when it is made: a state that somebody keeps is that of then.
//   2. It has a connection to itself until it is let go. Nobody waits for its end.
//   3. The server ends it when nobody has asked it anything for long, and when it goes away itself: what was asked before is
//      of a state that nobody can be asked about any more.
//
// Threads: any; one question at a time.

import CairnStore
import Synchronization

final class ReadTransaction: Questions {
    private enum Stage {
        case waiting
        case open(PostgresConnection, commit: UInt64)
        /// Why no more can be asked.
        case over(StoreError)
    }

    private struct State {
        var stage = Stage.waiting
        var cursors = CursorNames()
    }

    /// So many rows come at first, and at most; and so many bytes if rows are large.
    private static let firstRows = 256
    private static let mostRows = 4096
    private static let mostBytes = 4 << 20

    private let core: StoreCore
    /// Held while a question is asked, which waits for the network and for nobody else.
    private let state = Mutex(State())

    /// - Parameter begins: whether the state is that of now, and not that of the first question.
    init(_ core: StoreCore, begins: Bool = true) throws(StoreError) {
        self.core = core
        if begins {
            _ = try state.withLock { state throws(StoreError) in try begin([], &state.stage) }
        }
    }

    deinit {
        state.withLock { state in
            if case .open(let connection, _) = state.stage { core.pool.giveBack(connection) }
        }
    }

    /// The number of the last commit that it sees; 0 if the server cannot say it.
    var commit: UInt64 {
        state.withLock { state in
            if case .waiting = state.stage { _ = try? begin([], &state.stage) }
            guard case .open(_, let commit) = state.stage else { return 0 }
            return commit
        }
    }

    /// Asks, all in one round trip.
    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        if statements.isEmpty { return [] }
        return try state.withLock { state throws(StoreError) in try ask(statements, &state) }
    }

    private func ask(_ statements: [Statement], _ state: inout State) throws(StoreError)
        -> [PostgresResult]
    {
        switch state.stage {
        case .waiting: return try begin(statements, &state.stage)
        case .over(let error): throw error
        case .open(let connection, _):
            let closing = state.cursors.closing()
            do throws(SQLFailure) {
                let results = try connection.pipeline(closing + statements, bound: core.bound)
                return closing.isEmpty ? results : Array(results.dropFirst(closing.count))
            } catch {
                guard connection.isBroken || connection.transactionStatus != .open else {
                    throw StoreError(error)
                }
                core.pool.giveBack(connection)
                let isLost = connection.isBroken && error.isConnectionLoss
                let failure = isLost ? lost(error) : StoreError(error)
                state.stage = .over(isLost ? failure : Self.ended(error))
                throw failure
            }
        }
    }

    /// Asks by a cursor, and hands over the answer some rows at a time.
    func stream(
        _ statement: Statement, _ body: (PostgresResult) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var rows = Self.firstRows
        let (cursor, first) = try state.withLock { state throws(StoreError) in
            // If that fails the transaction has failed, and its cursors are gone with it.
            let cursor = state.cursors.take()
            let declaration = Statement(
                "DECLARE \(CursorNames.name(cursor)) NO SCROLL CURSOR FOR \(statement.sql)",
                statement.parameters)
            return (
                cursor, try ask([declaration, Self.fetch(rows, cursor)], &state)[1]
            )
        }
        var result = first
        defer { state.withLock { $0.cursors.end(cursor) } }
        while true {
            let isLast = result.rowCount < rows
            if result.rowCount > 0, try !body(result) { return }
            if isLast { return }
            rows = Self.next(result)
            result = try ask(Self.fetch(rows, cursor))
        }
    }

    private static func fetch(_ rows: Int, _ cursor: Int) -> Statement {
        Statement("FETCH \(rows) FROM \(CursorNames.name(cursor))")
    }

    /// How many rows come next: as many as do not take too much memory, in steps, so that there are few statements.
    private static func next(_ result: PostgresResult) -> Int {
        let bytes = max(1, result.byteCount / max(1, result.rowCount))
        var rows = mostRows
        while rows > 1, rows * bytes > mostBytes { rows /= 4 }
        return rows
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
            ? "it lay unused for longer than the \(core.options.snapshotTimeout) seconds that the option snapshotTimeout allows"
            : "the connection to the server was lost"
        return StoreError(
            .snapshotExpired, "the snapshot can be read no longer, take a new one: \(reason)",
            cause: failure)
    }

    private static func ended(_ failure: SQLFailure) -> StoreError {
        StoreError(
            .snapshotExpired,
            "the snapshot can be read no longer, take a new one: a question before this one has failed",
            cause: failure)
    }
}
