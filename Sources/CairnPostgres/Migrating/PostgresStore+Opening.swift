public import CairnModel
public import CairnStore

extension PostgresStore {
    /// Opens the store in a schema of a database, or creates it.
    ///
    /// ```swift
    /// let store = try PostgresStore.open("postgresql://db1,db2/shop?target_session_attrs=read-write", schema: schema)
    /// ```
    ///
    /// - Parameters:
    ///   - connection: a libpq connection string, as a URI or as keywords and values. The option `cairn_schema` is the
    ///     schema of the store in the database; the default is `cairn`.
    ///   - schema: the program's model; nil: the store's model. A store with another version is migrated to it, depending
    ///     on ``PostgresOptions/shouldMigrateStoreAutomatically``.
    /// - Throws: `StoreError`: `.openFailed` if there is no store, or the server cannot be reached; `.incompatibleModel`.
    public static func open(
        _ connection: String, schema: Schema?, options: PostgresOptions = PostgresOptions()
    ) throws(StoreError) -> PostgresStore {
        guard let schema, options.leads else { return try opened(connection, schema, options) }
        do throws(StoreError) {
            return try opened(connection, schema, options)
        } catch {
            guard error.code == .incompatibleModel else { throw error }
        }
        _ = try migrate(at: connection, to: schema, options: options, isAutomatic: true)
        return try opened(connection, schema, options)
    }

    private static func opened(
        _ connection: String, _ schema: Schema?, _ options: PostgresOptions
    ) throws(StoreError) -> PostgresStore {
        let string = try StoreCore.sql { () throws(SQLFailure) in try ConnectionString(connection) }
        let pool = ConnectionPool(
            string,
            settings: .init(
                limit: max(2, options.connections), patience: .seconds(options.timeout)),
            observer: options.observer,
            onOpen: { connection throws(SQLFailure) in try connection.settleSession() })
        do throws(StoreError) {
            let opening = StoreOpening(pool: pool, space: string.schema, options: options)
            let opened = try opening.open(schema)
            return PostgresStore(opened.core, wasMade: opened.wasMade)
        } catch {
            pool.close()
            throw error
        }
    }
}
