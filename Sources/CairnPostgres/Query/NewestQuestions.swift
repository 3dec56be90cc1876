// Queries on the newest state, each in the state of its own time: a single query needs neither a snapshot nor a transaction
// that has to be ended.
//
// Threads: any.

import CairnStore

final class NewestQuestions: Questions {
    private let core: StoreCore

    init(_ core: StoreCore) { self.core = core }

    /// The last commit that was seen.
    var commit: UInt64 { core.noted }

    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        statements.isEmpty ? [] : try core.ask(statements)
    }

    /// The whole answer at once: no transaction is there to have a cursor.
    func stream(
        _ statement: Statement, _ body: (PostgresResult) throws(StoreError) -> Bool
    ) throws(StoreError) {
        _ = try body(ask(statement))
    }
}
