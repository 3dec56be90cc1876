// Copies a store in a database into a log, lets the log be migrated, and replaces the old tables by the result: so every
// migration has the same effects as on the log.
//
//   1. A transaction begins, and the table `cairn_store` is locked, once nobody reads or writes any more: every transaction
//      begins with a look at it.
//   2. The store is copied into a log in a temporary folder.
//   3. Whoever wants the other model leads the log there.
//   4. The tables go, those of the new model are made and filled, and the transaction ends. The table `cairn_store` is one of them:
//      whoever has waited for it with a state of before finds no row there, and looks again.
//
// Invariants: whatever stops it, the store is as it was, or what the log has come to, and which of them is found out if the
// connection is lost at the end. A process that dies leaves a folder in the place for temporary ones.
// Memory: what a store on the log takes.
// Threads: one at a time.

import CairnFormat
import CairnLog
import CairnMigration
import CairnModel
import CairnMoving
import CairnStore
import Foundation
import Synchronization

/// A store whose contents are about to be replaced. Nobody else can use it meanwhile.
final class StoreReplacement: Sendable {
    /// The store as it is: no snapshot of it can be had, as all of them would wait for this.
    let core: StoreCore
    /// Where the log is.
    let path: String
    private let folder: String
    private let connection: PostgresConnection
    private let isOver = Mutex(false)

    /// Begins it: waits until nobody has the store any more.
    init(at connectionString: String, _ options: PostgresOptions) throws(StoreError) {
        let string = try StoreCore.sql { () throws(SQLFailure) in
            try ConnectionString(connectionString)
        }
        let bound = CallBound.within(.seconds(options.timeout))
        let connection = try StoreCore.sql { () throws(SQLFailure) in
            try PostgresConnection.open(string, bound)
        }
        self.connection = connection
        let pool = ConnectionPool(string, settings: .init(limit: 1))
        let opening = StoreOpening(pool: pool, space: string.schema, options: options)
        try Self.lock(connection, string.schema, options)
        guard let found = try opening.find(connection) else {
            throw StoreError(
                .openFailed,
                "there is no store here: the schema \(string.schema) of the database has none")
        }
        core = try opening.core(found, nil)
        folder =
            FileManager.default.temporaryDirectory
            .appending(path: "cairn-migration-\(UUID().uuidString)").path
        path = folder + "/store"
    }

    deinit { cancel() }

    // MARK: Beginning

    /// The store as it is, to be handed over.
    func content() throws(StoreError) -> PostgresContent {
        try PostgresContent(core, WriteQuestions(connection, CallBound()))
    }

    /// Copies the store into the log.
    func makeLog() throws(StoreError) {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw StoreError(
                .inputOutput,
                "cannot create a folder for the migration: \(error.localizedDescription)",
                context: .init(path: folder))
        }
        try LogStore.make(at: path, of: content())
    }

    /// Begins the transaction, and locks the store.
    private static func lock(
        _ connection: PostgresConnection, _ space: String, _ options: PostgresOptions
    ) throws(StoreError) {
        let table = space.quoted + "." + SystemTable.store.rawValue.quoted
        // In milliseconds; none means for ever.
        let patience = Int(max(1, min(options.timeout * 1000, 2e9)))
        func attempt(_ statement: String) throws(SQLFailure) {
            try connection.pipeline([
                Statement("BEGIN"),
                Statement("SET LOCAL lock_timeout = \(patience)", [], .once),
                Statement("SET LOCAL idle_in_transaction_session_timeout = 0", [], .once),
                Statement(statement, [], .once),
            ])
        }
        while true {
            do throws(SQLFailure) {
                try attempt("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
                return
            } catch {
                if error.sqlState?.isMissingTable == true {
                    throw StoreError(
                        .openFailed,
                        "there is no store here: the schema \(space) of the database has none")
                }
                guard error.sqlState?.isLocked == true else { throw StoreError(error) }
                // Others read or write: they may go on for ever. Where they cannot either, another migration is under way.
                try StoreCore.sql { () throws(SQLFailure) in
                    try connection.run("ROLLBACK", [], .once)
                }
                do throws(SQLFailure) {
                    try attempt("SELECT one FROM \(table)")
                } catch let other {
                    guard other.sqlState?.isLocked == true else { throw StoreError(other) }
                    try StoreCore.sql { () throws(SQLFailure) in
                        try connection.run("ROLLBACK", [], .once)
                    }
                    continue
                }
                throw StoreError(error)
            }
        }
    }

    // MARK: Ending

    /// Puts what the log has into the place of what the store has.
    func finish() throws(StoreError) {
        precondition(begin(), "a replacement is finished or cancelled once")
        defer { removeFolder() }
        do throws(StoreError) {
            var options = LogStoreOptions()
            options.durability = .relaxed
            options.allowsSharedDisk = true
            let log = try LogStore.open(at: path, schema: nil, options: options)
            defer { try? log.close() }
            let content = try LogStoreContent(log)
            // The cursor by which the store was read last is open still.
            let removal =
                ["CLOSE ALL"] + ReadableViews(layout: core.layout).removal
                + ["DROP TABLE \(oldTables)"]
            try StoreCore.sql { () throws(SQLFailure) in
                try connection.pipeline(removal.map { Statement($0, [], .once) })
            }
            var writer = try ContentWriter(content, connection, in: core.layout.space)
            try writer.run(modelVersion: core.modelVersion + 1)
            try end(with: [])
        } catch {
            rollBack()
            throw error
        }
    }

    /// Changes the tables as statements say.
    func finish(_ change: PlainChange, _ plan: ModelMigrationPlan) throws(StoreError)
        -> MigrationReport
    {
        precondition(begin(), "a replacement is finished or cancelled once")
        do throws(StoreError) {
            let content = try content()
            let removed = try count(change.droppedRoots)
            let commit = content.head.lastCommit + 1
            let writing =
                try change.statements
                + change.systemStatements(
                    core,
                    FirstRows.Store(
                        identifier: content.identity.identifier,
                        model: CatalogDocument.encode(change.catalog),
                        modelVersion: core.modelVersion + 1, lastCommit: commit,
                        keepsHistory: content.head.history != nil,
                        historyBegins: content.head.history?.horizon ?? commit))
            try end(with: writing)
            return MigrationReport(plan: plan, removedObjects: removed, commit: commit)
        } catch {
            rollBack()
            throw error
        }
    }

    /// Ends the transaction with its last statements. If the connection is lost meanwhile, another one asks which model the store
    /// has: it gets no answer before the server has ended the transaction in one way or the other.
    private func end(with statements: [Statement]) throws(StoreError) {
        let failure: SQLFailure
        do throws(SQLFailure) {
            try connection.pipeline(statements + [Statement("COMMIT")])
            return
        } catch {
            guard error.isConnectionLoss else { throw StoreError(error) }
            failure = error
        }
        do throws(StoreError) {
            _ = try core.ask([])
        } catch {
            if let answer = error.cause as? SQLFailure, answer.isModelChanged { return }
            throw StoreError(
                .commitUnknown,
                "it is unknown whether the store was migrated: the connection to the server was lost, and its outcome could not be queried",
                cause: error)
        }
        throw StoreError(failure)
    }

    /// How many objects the entities of some hierarchies have, by their names.
    private func count(_ roots: [Int]) throws(StoreError) -> [String: Int] {
        try StoreCore.sql { () throws(SQLFailure) in
            var counts: [String: Int] = [:]
            for root in roots {
                let table = core.layout.tables[core.layout.table(of: root)].name
                let entity = TableLayout.Fixed.entity.quoted
                let result = try connection.run(
                    "SELECT \(entity), count(*) FROM \(core.layout.sql(table)) GROUP BY \(entity)")
                for row in 0..<result.rowCount {
                    guard let entity = core.layout.entity(ofCode: try result.int16(row, 0)) else {
                        continue
                    }
                    counts[core.schema.entities[entity].name] = Int(try result.int64(row, 1))
                }
            }
            return counts
        }
    }

    /// Leaves the store as it is.
    func cancel() {
        guard begin() else { return }
        rollBack()
        removeFolder()
    }

    /// Begins to end it; false if somebody has.
    private func begin() -> Bool {
        isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
    }

    private var oldTables: String {
        let names =
            core.layout.pairs.map(\.name) + core.layout.tables.map(\.name)
            + SystemTable.allCases.map(\.rawValue)
        return names.map(core.layout.sql).joined(separator: ", ")
    }

    private func rollBack() { _ = try? connection.run("ROLLBACK", [], .once) }

    private func removeFolder() { try? FileManager.default.removeItem(atPath: folder) }
}
