// Who asks the server: each question is about one state.

import CairnStore

protocol Questions: AnyObject, Sendable {
    /// The number of the last commit of the state.
    var commit: UInt64 { get }

    /// Asks, all in one round trip.
    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult]

    /// Asks, and hands over the answer some rows at a time, until the closure returns false: an answer need not be in memory as
    /// a whole. The closure may ask as well.
    func stream(
        _ statement: Statement, _ body: (PostgresResult) throws(StoreError) -> Bool
    ) throws(StoreError)
}

extension Questions {
    func ask(_ statement: Statement) throws(StoreError) -> PostgresResult {
        try ask([statement])[0]
    }

    /// The whole answer at once.
    func stream(
        _ statement: Statement, _ body: (PostgresResult) throws(StoreError) -> Bool
    ) throws(StoreError) {
        _ = try body(ask(statement))
    }
}
