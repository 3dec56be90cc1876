// Opens a store in a database, or creates one.
//
//   1. A store is there if its table `cairn_store` has a row. That is written last.
//   2. Its tables are made in one transaction, what stands in them at first is written in another: some databases keep
//      the two apart. Between the two the model that they were made for stands in a comment on `cairn_store`: who finds the
//      tables of somebody else, who may have been stopped behind them, finishes that store, whatever its own model is.
//   3. The model of the store has to store the same as the one that it is opened with.
//
// Threads: owned by one call.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

struct StoreOpening {
    let pool: ConnectionPool
    let space: String
    let options: PostgresOptions

    /// How often to check whether another process has created the store concurrently.
    private static let attempts = 10

    /// - Parameter schema: nil: the store's own.
    /// - Returns: also whether it was created by this call.
    func open(_ schema: Schema?) throws(StoreError) -> (core: StoreCore, wasMade: Bool) {
        let connection = try StoreCore.sql { () throws(SQLFailure) in try pool.borrow(bound) }
        defer { pool.giveBack(connection) }
        return try open(connection, schema)
    }

    /// Whether there is a store.
    func isStore() throws(StoreError) -> Bool {
        let connection = try StoreCore.sql { () throws(SQLFailure) in try pool.borrow(bound) }
        defer { pool.giveBack(connection) }
        return try find(connection) != nil
    }

    private var bound: CallBound { .within(.seconds(options.timeout)) }

    /// What the store says of itself.
    struct Found {
        let identifier: UUID
        let version: Int32
        let catalog: Catalog
        let modelVersion: Int64
        let keepsHistory: Bool
        let hasRedirects: Bool
        let lastCommit: UInt64
        let notifies: Bool
    }

    private func open(_ connection: PostgresConnection, _ schema: Schema?) throws(StoreError)
        -> (core: StoreCore, wasMade: Bool)
    {
        var wasMade = false
        for attempt in 1...Self.attempts {
            do throws(StoreError) {
                if let found = try find(connection) {
                    let core = try core(found, schema)
                    try settleHistory(connection, core)
                    removeTokens(connection, core.layout)
                    return (core, wasMade)
                }
                guard options.createsIfMissing, !options.isReadOnly else {
                    throw StoreError(
                        .openFailed,
                        "there is no store here: the schema \(space) of the database has none")
                }
                guard let schema else { throw StoreError(.openFailed, "a new store needs a model") }
                wasMade = try make(connection, schema)
            } catch {
                guard error.code == .storeInUse, attempt < Self.attempts else { throw error }
            }
        }
        throw StoreError(.storeInUse, "the store is repeatedly being created and removed")
    }

    // MARK: Finding

    func find(_ connection: PostgresConnection) throws(StoreError) -> Found? {
        try StoreCore.sql { () throws(SQLFailure) -> Result<Found?, StoreError> in
            let tables = try connection.run(
                "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1 AND table_name = $2",
                [.text(space), .text(SystemTable.store.rawValue)], bound: bound)
            guard try tables.int64(0, 0) > 0 else { return .success(nil) }
            let table = space.quoted + "." + SystemTable.store.rawValue.quoted
            let question = Statement(
                """
                SELECT identifier, version, model, keeps_history, EXISTS (SELECT 1 FROM \
                \(space.quoted).\(SystemTable.redirects.rawValue.quoted)), last_commit, model_version \
                FROM \(table)
                """)
            var rows = try connection.run(question, bound: bound)
            // Who has waited for a migration to end sees a state in which the table had not been made anew yet.
            if rows.rowCount == 0 { rows = try connection.run(question, bound: bound) }
            guard rows.rowCount > 0 else { return .success(nil) }
            let version = try rows.int32(0, 1)
            guard version <= TableCreation.version else {
                return .failure(
                    StoreError(
                        .openFailed,
                        "the store was created by a newer version of Cairn: its tables have version \(version), but this one supports \(TableCreation.version)"
                    ))
            }
            let model = try rows.bytes(0, 2)
            guard let catalog = try? CatalogDocument.decode(model) else {
                return .failure(
                    StoreError(.damaged, "the model in the table cairn_store cannot be read"))
            }
            return .success(
                Found(
                    identifier: try rows.uuid(0, 0), version: version, catalog: catalog,
                    modelVersion: try rows.int64(0, 6), keepsHistory: try rows.bool(0, 3),
                    hasRedirects: try rows.bool(0, 4),
                    lastCommit: UInt64(clamping: try rows.int64(0, 5)),
                    notifies: options.notifies && connection.takesNotify))
        }.get()
    }

    func core(_ found: Found, _ wanted: Schema?) throws(StoreError) -> StoreCore {
        var catalog = found.catalog
        if let wanted, wanted.model != catalog.schema.model {
            guard options.allow(wanted, for: catalog.schema),
                let made = CatalogDocument.catalog(catalog, under: wanted.model)
            else {
                throw StoreError(
                    .incompatibleModel,
                    "the store was created with another model: \(wanted.difference(to: catalog.schema))",
                    cause: ModelMismatch(store: catalog.storedModel, model: wanted.model))
            }
            catalog = made
        }
        try TableLayout.check(catalog)
        return StoreCore(
            pool: pool, identifier: found.identifier, catalog: catalog,
            modelVersion: found.modelVersion, in: space, options: options,
            keepsHistory: found.keepsHistory, hasRedirects: found.hasRedirects,
            lastCommit: found.lastCommit, notifies: found.notifies)
    }

    // MARK: History

    /// Begins a history, or ends the one that there was, as the options say.
    private func settleHistory(_ connection: PostgresConnection, _ core: StoreCore)
        throws(StoreError)
    {
        guard let isKept = options.persistentHistoryTracking, !options.isReadOnly else { return }
        let layout = core.layout
        let store = layout.sql(.store)
        var statements = [
            Statement("BEGIN"),
            Statement(
                """
                UPDATE \(store) SET keeps_history = $1, history_begins = last_commit \
                WHERE keeps_history <> $1
                """, [.bool(isKept)]),
        ]
        if !isKept {
            for table in [SystemTable.changes, .transactions, .consumers] {
                statements.append(Statement("DELETE FROM \(layout.sql(table))"))
            }
        }
        statements.append(Statement("COMMIT"))
        let all = statements
        try StoreCore.sql { () throws(SQLFailure) in try connection.pipeline(all, bound: bound) }
        core.note(keepsHistory: isKept)
    }

    // MARK: Tokens

    /// Removes the tokens of commits after which nobody will ask any more. Who may not is none the worse for it.
    private func removeTokens(_ connection: PostgresConnection, _ layout: TableLayout) {
        if options.isReadOnly { return }
        _ = try? connection.run(
            "DELETE FROM \(layout.sql(.tokens)) WHERE made < now() - interval '1 day'",
            bound: bound)
    }

    // MARK: Making

    /// Makes a store, unless somebody else does.
    ///
    /// - Returns: whether this one did.
    private func make(_ connection: PostgresConnection, _ schema: Schema) throws(StoreError) -> Bool
    {
        let catalog = Catalog(new: schema)
        if let excess = catalog.excess { throw StoreError(.invalidRequest, excess) }
        try TableLayout.check(catalog)
        let model = try CatalogDocument.encode(catalog)
        let layout = TableLayout(catalog, in: space)
        if try makeTables(connection, layout, model) {
            let isFirst = try write(connection, layout, catalog, model)
            let table = layout.sql(.store)
            // It is read no more: who has written the row meanwhile does not mind.
            _ = try? connection.run("COMMENT ON TABLE \(table) IS NULL", [], .once, bound: bound)
            return isFirst
        } else if let model = try begunModel(connection) {
            let found = model.withUnsafeBytes { try? CatalogDocument.decode($0) }
            guard let catalog = found else {
                throw StoreError(
                    .damaged,
                    "the comment on the table cairn_store does not belong to a store that is being created"
                )
            }
            return try write(connection, TableLayout(catalog, in: space), catalog, model)
        }
        return false
    }

    /// Makes the tables, with the model that they are for; false if somebody else has made them.
    private func makeTables(
        _ connection: PostgresConnection, _ layout: TableLayout, _ model: [UInt8]
    ) throws(StoreError) -> Bool {
        let creation = TableCreation(layout: layout, keys: KeyLayout(layout.schema))
        let comment = """
            COMMENT ON TABLE \(layout.sql(.store)) IS \(String(decoding: model, as: UTF8.self).literal)
            """
        do throws(SQLFailure) {
            try connection.run(
                "CREATE SCHEMA IF NOT EXISTS \(space.quoted)", [], .once, bound: bound)
        } catch {
            // Of several who make it at once, those who come second fail. It is there then, but says nothing of tables.
            guard error.isNameTaken else { throw StoreError(error) }
        }
        do throws(SQLFailure) {
            let tables = ["BEGIN"] + creation.statements + [comment, "COMMIT"]
            try connection.pipeline(tables.map { Statement($0, [], .once) }, bound: bound)
            return true
        } catch {
            if connection.transactionStatus != .none {
                _ = try? connection.run("ROLLBACK", [], .once, bound: bound)
            }
            guard error.isNameTaken else { throw StoreError(error) }
        }
        return false
    }

    /// The model of tables that were made and in which nothing stands yet.
    private func begunModel(_ connection: PostgresConnection) throws(StoreError) -> [UInt8]? {
        try StoreCore.sql { () throws(SQLFailure) in
            let result = try connection.run(
                """
                SELECT obj_description(c.oid, 'pg_class') FROM pg_class AS c \
                JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                WHERE n.nspname = $1 AND c.relname = $2
                """, [.text(space), .text(SystemTable.store.rawValue)], bound: bound)
            if result.rowCount == 0 {
                throw SQLFailure(
                    .unreadable,
                    "the schema \(space) contains tables whose names the store needs, but no store: choose another schema with the option cairn_schema"
                )
            }
            return result.isNull(0, 0) ? nil : Array(try result.string(0, 0).utf8)
        }
    }

    /// Writes what stands in the tables at first. Who comes second changes nothing.
    ///
    /// - Returns: whether nobody else has written it.
    private func write(
        _ connection: PostgresConnection, _ layout: TableLayout, _ catalog: Catalog,
        _ model: [UInt8]
    ) throws(StoreError) -> Bool {
        try StoreCore.sql { () throws(SQLFailure) in
            let first = FirstRows(layout: layout, catalog: catalog)
            let statements = [
                Statement("BEGIN"), first.entities, first.numbers(),
                first.store(.init(identifier: UUID(), model: model)), Statement("COMMIT"),
            ]
            let results = try connection.pipeline(statements, bound: bound)
            // The last one before the end.
            return results[statements.count - 2].affectedRows == 1
        }
    }
}

extension SQLFailure {
    /// Whether there is something of that name already.
    var isNameTaken: Bool {
        isUniqueViolation || ["42P06", "42P07", "42710"].contains(sqlState?.code)
    }
}
