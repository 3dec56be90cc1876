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
    ///   - schema: the model of the program; nil: that of the store.
    /// - Throws: `StoreError`: `.openFailed` if there is no store, or the server cannot be reached; `.incompatibleModel`.
    public static func open(
        _ connection: String, schema: Schema?, options: PostgresOptions = PostgresOptions()
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
