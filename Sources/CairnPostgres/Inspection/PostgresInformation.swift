// Information about a store in a database, for people.
//
//   1. What the server says is asked first, and does not need a store that opens.
//   2. Servers that only understand the same SQL do not know sizes, or who is connected: then nothing is said of that.
//   3. Contents are those of one state.
//
// Threads: values.

package import CairnModel
package import CairnStore
package import FoundationEssentials

/// Information about a store in a database.
package struct PostgresInformation: Sendable {
    /// A table of the store's schema.
    package struct Table: Sendable {
        package let name: String
        /// With its indexes; nil if the server does not say it.
        package let bytes: UInt64?
    }

    /// A connection to the database, of whatever program.
    package struct Connection: Sendable {
        package let process: Int64
        package let program: String?
        package let user: String?
        package let address: String?
        package let state: String?
    }

    /// What the table of the store says.
    package struct Head: Sendable {
        package let identifier: UUID
        /// Of the tables' layout.
        package let version: Int32
        package let commit: UInt64
        /// Of the last commit; nil if no history is kept, or it does not reach back to it.
        package let time: Date?
        package let author: String?
    }

    /// What a store has that opens.
    package struct Contents: Sendable {
        package let schema: Schema
        /// By entity: objects of this very entity.
        package let objects: [Int]
        /// By entity: the name of its table.
        package let tables: [String]
        /// By relationship kept as pairs: its name, the name of its table, and how many pairs there are.
        package let pairs: [(name: String, table: String, count: Int)]
        package let redirects: Int
        /// What is retained of the history, and how many transactions that is; nil if none is kept.
        package let history: (bounds: PersistentHistoryBounds, transactions: Int)?
        package let metadata: StoreMetadata
    }

    /// Such as "PostgreSQL 15.8".
    package let server: String
    package let database: String
    /// The schema of the database that the store is in.
    package let space: String
    package let user: String
    /// Whether the server only reads, since it follows another one.
    package let isStandby: Bool
    /// nil if there is no store.
    package let head: Head?
    package let tables: [Table]
    /// Those of others.
    package let connections: [Connection]

    /// Asks a server.
    ///
    /// - Throws: `StoreError` if it cannot be reached.
    package init(of connection: String, options: PostgresOptions = PostgresOptions())
        throws(StoreError)
    {
        let string = try StoreCore.sql { () throws(SQLFailure) in try ConnectionString(connection) }
        let pool = ConnectionPool(string, settings: .init(limit: 1))
        defer { pool.close() }
        self = try StoreCore.sql { () throws(SQLFailure) -> Self in
            let connection = try pool.borrow(.within(.seconds(options.timeout)))
            defer { pool.giveBack(connection) }
            return try Self(connection, string.schema, .within(.seconds(options.timeout)))
        }
    }

    private init(_ connection: PostgresConnection, _ space: String, _ bound: CallBound)
        throws(SQLFailure)
    {
        self.space = space
        let server = try connection.run(
            "SELECT version(), current_database(), current_user::text, pg_is_in_recovery()",
            bound: bound)
        // What it was compiled with is nobody's question here.
        let version = try server.string(0, 0)
        self.server =
            version.firstRange(of: " (").map { String(version[..<$0.lowerBound]) } ?? version
        database = try server.string(0, 1)
        user = try server.string(0, 2)
        isStandby = try server.bool(0, 3)
        tables = try Self.tables(connection, space, bound)
        head =
            tables.contains { $0.name == SystemTable.store.rawValue }
            ? try Self.head(connection, space, bound) : nil
        connections = (try? Self.connections(connection, bound)) ?? []
    }

    private static func tables(
        _ connection: PostgresConnection, _ space: String, _ bound: CallBound
    ) throws(SQLFailure) -> [Table] {
        let parameters: [SQLParameter] = [.text(space)]
        let names = try connection.run(
            "SELECT table_name::text FROM information_schema.tables WHERE table_schema = $1 AND table_type = 'BASE TABLE' ORDER BY 1",
            parameters, bound: bound)
        var bytes: [String: UInt64] = [:]
        if let sizes = try? connection.run(
            """
            SELECT c.relname::text, pg_total_relation_size(c.oid) FROM pg_catalog.pg_class AS c \
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1 AND c.relkind = 'r'
            """, parameters, bound: bound)
        {
            for row in 0..<sizes.rowCount {
                bytes[try sizes.string(row, 0)] = UInt64(clamping: try sizes.int64(row, 1))
            }
        }
        var tables: [Table] = []
        for row in 0..<names.rowCount {
            let name = try names.string(row, 0)
            tables.append(Table(name: name, bytes: bytes[name]))
        }
        return tables
    }

    private static func head(
        _ connection: PostgresConnection, _ space: String, _ bound: CallBound
    ) throws(SQLFailure) -> Head? {
        func sql(_ table: SystemTable) -> String { space.quoted + "." + table.rawValue.quoted }
        let rows = try connection.run(
            """
            SELECT s.identifier, s.version, s.last_commit, t.made, t.author FROM \(sql(.store)) AS s \
            LEFT JOIN \(sql(.transactions)) AS t ON t.commit = s.last_commit
            """, bound: bound)
        guard rows.rowCount > 0 else { return nil }
        return Head(
            identifier: try rows.uuid(0, 0), version: try rows.int32(0, 1),
            commit: UInt64(clamping: try rows.int64(0, 2)),
            time: rows.isNull(0, 3)
                ? nil : Date(timeIntervalSinceReferenceDate: try rows.double(0, 3)),
            author: rows.isNull(0, 4) ? nil : try rows.string(0, 4))
    }

    private static func connections(_ connection: PostgresConnection, _ bound: CallBound)
        throws(SQLFailure) -> [Connection]
    {
        let rows = try connection.run(
            """
            SELECT pid::bigint, application_name::text, usename::text, host(client_addr), state::text \
            FROM pg_catalog.pg_stat_activity WHERE datname = current_database() \
            AND pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY pid
            """, bound: bound)
        func text(_ row: Int, _ column: Int) throws(SQLFailure) -> String? {
            guard !rows.isNull(row, column) else { return nil }
            let text = try rows.string(row, column)
            return text.isEmpty ? nil : text
        }
        var connections: [Connection] = []
        for row in 0..<rows.rowCount {
            connections.append(
                Connection(
                    process: try rows.int64(row, 0), program: try text(row, 1),
                    user: try text(row, 2), address: try text(row, 3), state: try text(row, 4)))
        }
        return connections
    }
}

extension PostgresInformation.Contents {
    /// Counts what a store has, in one state of it.
    ///
    /// - Throws: `StoreError`.
    package init(of store: PostgresStore) throws(StoreError) {
        let core = store.core
        let layout = core.layout
        let reading = try ReadTransaction(core, begins: true)
        let entity = TableLayout.Fixed.entity.quoted
        var statements = layout.tables.map { table in
            Statement(
                "SELECT \(entity), count(*) FROM \(layout.sql(table.name)) GROUP BY \(entity)")
        }
        statements += layout.pairs.map { Statement("SELECT count(*) FROM \(layout.sql($0.name))") }
        // Those that are kept for other processes alone are none of the history.
        statements += [
            Statement("SELECT count(*) FROM \(layout.sql(.redirects))"),
            Statement(
                """
                SELECT count(*) FROM \(layout.sql(.transactions)) \
                WHERE commit > (SELECT history_begins FROM \(layout.sql(.store)))
                """),
        ]
        let results = try reading.ask(statements)
        var objects = [Int](repeating: 0, count: core.schema.entities.count)
        var counts: [Int] = []
        try StoreCore.sql { () throws(SQLFailure) in
            for result in results.prefix(layout.tables.count) {
                for row in 0..<result.rowCount {
                    guard let entity = layout.entity(ofCode: try result.int16(row, 0)) else {
                        continue
                    }
                    objects[entity] = Int(try result.int64(row, 1))
                }
            }
            for result in results.dropFirst(layout.tables.count) {
                counts.append(Int(try result.int64(0, 0)))
            }
        }
        schema = core.schema
        self.objects = objects
        tables = schema.entities.map { layout.tables[layout.table(of: $0.index)].name }
        pairs = zip(schema.pairs, layout.pairs).enumerated().map { index, pairs in
            (pairs.0.name, pairs.1.name, counts[index])
        }
        redirects = counts[layout.pairs.count]
        let transactions = counts[layout.pairs.count + 1]
        history = try store.historyBounds().map { ($0, transactions) }
        metadata = try store.metadata()
    }
}
