// Information about a connection string and its store, without opening the store.
//
// Threads: any.

package import CairnStore

extension PostgresStore {
    /// A connection string for people, without the password and everything else that may be secret.
    ///
    /// - Returns: nil if it is invalid.
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
