// Who asks the server: each question is about one state.

import CairnStore

protocol Questions: AnyObject, Sendable {
    /// The number of the last commit of the state.
    var commit: UInt64 { get }

    /// Asks, all in one round trip.
    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult]
}

extension Questions {
    func ask(_ statement: Statement) throws(StoreError) -> PostgresResult {
        try ask([statement])[0]
    }
}
