// One state of the store, kept readable by the server: a transaction that sees nothing of what is committed after it began.
//
// It has a connection to itself until it is let go. The server ends it when nobody has asked it anything for long.
//
// Threads: any; one question at a time.

import CairnStore
import Synchronization

final class ReadTransaction: Questions {
    private let core: StoreCore
    /// Held while a question is asked, which waits for the network and for nobody else.
    private let state: Mutex<State>
    /// The number of the last commit that it sees.
    let commit: UInt64

    private struct State {
        var connection: PostgresConnection?
        var cursors = CursorNames()
    }

    /// So many rows come at first, and at most; and so many bytes if rows are large.
    private static let firstRows = 256
    private static let mostRows = 4096
    private static let mostBytes = 4 << 20

    /// Begins one.
    init(_ core: StoreCore) throws(StoreError) {
        self.core = core
        let connection = try core.borrow()
        // In milliseconds, as the server takes it: at least one, as none means for ever.
        let patience = Int(min(max(core.options.snapshotTimeout * 1000, 1), 2e9))
        do throws(SQLFailure) {
            let results = try connection.pipeline([
                Statement("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
                Statement("SET LOCAL idle_in_transaction_session_timeout = \(patience)", [], .once),
                core.stateQuestion,
            ])
            commit = try core.noteState(results[2])
        } catch {
            core.pool.giveBack(connection)
            throw StoreError(error)
        }
        state = Mutex(State(connection: connection))
    }

    deinit { end() }

    /// Asks, all in one round trip.
    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        if statements.isEmpty { return [] }
        return try state.withLock { state throws(StoreError) in
            try Self.ask(statements, &state, core)
        }
    }

    private static func ask(_ statements: [Statement], _ state: inout State, _ core: StoreCore)
        throws(StoreError) -> [PostgresResult]
    {
        guard let open = state.connection else { throw isOver }
        let closing = state.cursors.closing()
        do throws(SQLFailure) {
            let results = try open.pipeline(closing + statements, bound: core.bound)
            return closing.isEmpty ? results : Array(results.dropFirst(closing.count))
        } catch {
            if open.isBroken || open.transactionStatus != .open {
                state.connection = nil
                core.pool.giveBack(open)
            }
            if error.isConnectionLoss { throw isOver }
            throw StoreError(error)
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
                cursor, try Self.ask([declaration, Self.fetch(rows, cursor)], &state, core)[1]
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

    /// Lets the server forget the state.
    private func end() {
        state.withLock { state in
            guard let open = state.connection.take() else { return }
            _ = try? open.run("ROLLBACK", bound: core.bound)
            core.pool.giveBack(open)
        }
    }

    private static var isOver: StoreError {
        StoreError(
            .unusable,
            "the server keeps the state that is read no longer: the connection to it was lost, or it lay unused for too long"
        )
    }
}
