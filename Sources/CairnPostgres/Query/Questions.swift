// Queries to the server, each on one state.

import CairnStore

protocol Questions: AnyObject, Sendable {
    /// The number of the last commit of the state.
    var commit: UInt64 { get }

    /// Sends statements in one round trip.
    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult]

    /// Sends statements, and passes the result in batches of rows until the closure returns false, so that the result is
    /// never in memory as a whole. The closure can send statements too.
    func stream(
        _ statement: Statement, _ body: (PostgresResult) throws(StoreError) -> Bool
    ) throws(StoreError)
}

extension Questions {
    func ask(_ statement: Statement) throws(StoreError) -> PostgresResult {
        try ask([statement])[0]
    }
}
