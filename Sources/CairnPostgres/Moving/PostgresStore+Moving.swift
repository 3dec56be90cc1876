// Copies a whole store: between the log and a database, and between databases.
//
// It is the same store then, under the same identifier: with its objects and their ids, row versions, orders, redirects,
// metadata, model and history. What the log keeps of its past (`LogStoreOptions.pastStates`) stays there.
//
// Threads: any.

public import CairnLog
import CairnModel
public import CairnMoving
public import CairnStore
import FoundationEssentials

extension PostgresStore {
    /// Copies the current state of the store into a new folder, as a log store with the same identifier. Others can write
    /// to the store meanwhile.
    ///
    /// ```swift
    /// try store.copy(toFolder: "shop.cairn")
    /// ```
    ///
    /// If the copy is interrupted, the folder cannot be opened; remove it with `LogStore.destroy(at:force:)`.
    ///
    /// - Throws: `StoreError`: `.openFailed` if the path exists already; `.noSpace`, `.inputOutput`.
    @discardableResult
    public func copy(toFolder path: String) throws(StoreError) -> StoreCopyReport {
        try LogStore.make(at: path, of: content())
    }

    /// Copies the current state of the store into another schema of a database, which must not contain a store, with the
    /// same identifier. The copy is atomic.
    ///
    /// - Parameter connection: as for ``open(_:schema:options:)``.
    /// - Throws: `StoreError`: `.openFailed` if there is a store already, or the server cannot be reached.
    @discardableResult
    public func copy(toDatabase connection: String) throws(StoreError) -> StoreCopyReport {
        try Self.make(at: connection, of: content(), timeout: core.options.timeout)
    }

    /// The store as it is now, to be handed over.
    func content() throws(StoreError) -> PostgresContent {
        try checkOpen()
        return try PostgresContent(core, ReadTransaction(core))
    }

    /// Makes a store in a database of the content of another store.
    ///
    /// - Parameter timeout: seconds that it waits for others, at most.
    static func make(
        at connection: String, of content: some StoreContent, timeout: Double
    ) throws(StoreError) -> StoreCopyReport {
        let string = try StoreCore.sql { () throws(SQLFailure) in try ConnectionString(connection) }
        let connection = try StoreCore.sql { () throws(SQLFailure) in
            try PostgresConnection.open(string, .within(.seconds(timeout)))
        }
        let space = string.schema
        do throws(StoreError) {
            try StoreCore.sql { () throws(SQLFailure) in try connection.run("BEGIN") }
            try begin(space, connection, timeout)
            var writer = try ContentWriter(content, connection, in: space)
            try writer.run()
            try StoreCore.sql { () throws(SQLFailure) in try connection.run("COMMIT") }
            return writer.report
        } catch {
            // Its end ends the transaction, too, if that is still open.
            guard let failure = error.cause as? SQLFailure, failure.isNameTaken,
                !failure.isUniqueViolation || failure.tableName?.hasPrefix("pg_") == true
            else { throw error }
            throw StoreError(
                .openFailed,
                "there already is a store, or something with the same name: choose a schema other than \(space)",
                cause: failure)
        }
    }

    /// Makes the schema, if there is none.
    private static func begin(
        _ space: String, _ connection: PostgresConnection, _ timeout: Double
    ) throws(StoreError) {
        try StoreCore.sql { () throws(SQLFailure) in
            let found = try connection.pipeline([
                // In milliseconds; none means for ever.
                Statement(
                    "SET LOCAL lock_timeout = \(Int(max(1, min(timeout * 1000, 2e9))))", [], .once),
                Statement(
                    "SELECT count(*) FROM information_schema.schemata WHERE schema_name = $1",
                    [.text(space)]),
            ])[1]
            if try found.int64(0, 0) == 0 {
                try connection.run("CREATE SCHEMA \(space.quoted)", [], .once)
            }
        }
    }
}

extension LogStore {
    /// Copies the current state of the store into a schema of a PostgreSQL database, which must not contain a store, with
    /// the same identifier. The copy is atomic. Others can write to this store meanwhile.
    ///
    /// ```swift
    /// try LogStore.open(at: "shop.cairn").copy(toDatabase: "postgresql://db1/shop")
    /// ```
    ///
    /// - Parameters:
    ///   - connection: as for `PostgresStore.open(_:schema:options:)`.
    ///   - timeout: the maximum number of seconds to wait for others.
    /// - Throws: `StoreError`: `.openFailed` if there is a store already, or the server cannot be reached;
    ///   `.invalidRequest`, with entity and property, if PostgreSQL cannot store a value.
    @discardableResult
    public func copy(toDatabase connection: String, timeout: Double = 30) throws(StoreError)
        -> StoreCopyReport
    {
        // As for a backup: what can be read is copied, also if the disk fails.
        let content = try LogStoreContent(self)
        var report = try PostgresStore.make(at: connection, of: content, timeout: timeout)
        report.leavesPastStates = content.hasPastStates
        return report
    }
}
