// The location of a store in a database, for containers.

public import CairnLog
public import CairnMigration
public import CairnModel
public import CairnStore

/// A store in a schema of a PostgreSQL database.
public struct PostgresLocation: StoreLocation {
    /// A libpq connection string, as a URI or as keywords and values; see `PostgresStore.open(_:schema:options:)`.
    public var connection: String
    /// The options for opening the store.
    public var options: PostgresOptions

    /// Opens the store, creates it if it does not exist, and migrates it if it has another version of the model, unless the
    /// options specify otherwise.
    public func openStore(_ schema: Schema) throws(StoreError) -> any PersistentStore {
        var options = options
        if options.shouldMigrateStoreAutomatically == nil {
            options.shouldMigrateStoreAutomatically = true
        }
        return try PostgresStore.open(connection, schema: schema, options: options)
    }
}

extension PostgresLocation: MigratingLocation {
    /// The store's metadata; nil if there is no store, or the options are read-only.
    public func metadataToMigrate() throws(StoreError) -> StoreMetadata? {
        if options.isReadOnly { return nil }
        var options = options
        options.isReadOnly = true
        let store: PostgresStore
        do throws(StoreError) {
            store = try PostgresStore.open(connection, schema: nil, options: options)
        } catch {
            // A server that cannot be asked may have a store: to open that later would migrate it past the stages.
            if error.code == .openFailed, error.cause == nil { return nil }
            throw error
        }
        defer { try? store.close() }
        return try store.metadata()
    }

    /// Migrates the store through a log, which a closure migrates, in one transaction.
    public func migrateThroughLog(
        _ body: (_ path: String, _ options: LogStoreOptions) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try PostgresStore.throughLog(at: connection, options: options) {
            path, options throws(StoreError) in ((), try body(path, options))
        }
    }
}

extension StoreLocation where Self == PostgresLocation {
    /// A store in a PostgreSQL database.
    ///
    /// ```swift
    /// let container = try PersistentContainer(
    ///     at: .postgres("postgresql://db1,db2/shop?target_session_attrs=read-write"), for: Product.self)
    /// ```
    ///
    /// - Parameter connection: a libpq connection string, as a URI or as keywords and values. The option `cairn_schema` is
    ///   the schema of the store; the default is `cairn`.
    public static func postgres(
        _ connection: String, options: PostgresOptions = PostgresOptions()
    ) -> PostgresLocation {
        PostgresLocation(connection: connection, options: options)
    }
}
