// What is known of a connection string, and of the store that it leads to, without opening that.
//
// Threads: any.

package import CairnStore

extension PostgresStore {
    /// A connection string for people: without its password, and whatever else is not known to be no secret.
    ///
    /// - Returns: nil if it cannot be read.
    package static func title(of connection: String) -> String? {
        (try? ConnectionString(connection))?.description
    }

    /// Whether there is a store in the schema of a database that a connection string names.
    ///
    /// - Throws: `StoreError` if the server cannot be reached.
    package static func isStore(
        at connection: String, options: PostgresOptions = PostgresOptions()
    ) throws(StoreError) -> Bool {
        let string = try StoreCore.sql { () throws(SQLFailure) in try ConnectionString(connection) }
        let pool = ConnectionPool(string, settings: .init(limit: 1))
        defer { pool.close() }
        return try StoreOpening(pool: pool, space: string.schema, options: options).isStore()
    }
}
