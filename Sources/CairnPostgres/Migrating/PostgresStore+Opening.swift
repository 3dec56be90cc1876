public import CairnModel
public import CairnStore

extension PostgresStore {
    /// Opens the store in a schema of a database, or makes one there.
    ///
    /// ```swift
    /// let store = try PostgresStore.open("postgresql://db1,db2/shop?target_session_attrs=read-write", schema: schema)
    /// ```
    ///
    /// - Parameters:
    ///   - connection: as libpq takes it, a URI or words. The option `cairn_schema` says which schema of the database the
    ///     store is in; without it that is `cairn`.
    ///   - schema: the model of the program; nil: that of the store. A store of another version is migrated to it if
    ///     ``PostgresOptions/shouldMigrateStoreAutomatically`` says so.
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
