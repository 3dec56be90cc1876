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
    private let connection: Mutex<PostgresConnection?>
    /// The number of the last commit that it sees.
    let commit: UInt64

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
        self.connection = Mutex(connection)
    }

    deinit { end() }

    /// Asks, all in one round trip.
    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        if statements.isEmpty { return [] }
        return try connection.withLock { connection throws(StoreError) in
            guard let open = connection else { throw Self.isOver }
            do throws(SQLFailure) {
                return try open.pipeline(statements, bound: core.bound)
            } catch {
                if open.isBroken || open.transactionStatus != .open {
                    connection = nil
                    core.pool.giveBack(open)
                }
                if error.isConnectionLoss { throw Self.isOver }
                throw StoreError(error)
            }
        }
    }

    /// Lets the server forget the state.
    private func end() {
        connection.withLock { connection in
            guard let open = connection.take() else { return }
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
