// Where a store in a database is, for containers.

public import CairnModel
public import CairnStore

/// A store in a schema of a PostgreSQL database.
public struct PostgresLocation: StoreLocation {
    /// As libpq takes it, a URI or words; see `PostgresStore.open(_:schema:options:)`.
    public var connection: String
    /// How it is opened.
    public var options: PostgresOptions

    /// Opens the store there; one that is missing is made, and one of another version of the model is migrated to this one, unless
    /// the options say otherwise.
    public func openStore(_ schema: Schema) throws(StoreError) -> any PersistentStore {
        var options = options
        if options.shouldMigrateStoreAutomatically == nil {
            options.shouldMigrateStoreAutomatically = true
        }
        return try PostgresStore.open(connection, schema: schema, options: options)
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
    /// - Parameter connection: as libpq takes it, a URI or words, with the option `cairn_schema` for the schema that the store is
    ///   in; without it that is `cairn`.
    public static func postgres(
        _ connection: String, options: PostgresOptions = PostgresOptions()
    ) -> PostgresLocation {
        PostgresLocation(connection: connection, options: options)
    }
}
