// What all parts of an open store share: its location, its identity and its tables.
//
// Threads: any.

import CairnLog
import CairnModel
import CairnStore
import Foundation
import Synchronization

/// An open store.
final class StoreCore: Sendable {
    let pool: ConnectionPool
    let identity: StoreIdentity
    /// The numbers of the model.
    let catalog: Catalog
    private let encoded = Mutex<EncodedCatalog?>(nil)
    /// How often the store has got another model.
    let modelVersion: Int64
    let layout: TableLayout
    let keys: KeyLayout
    let options: PostgresOptions
    /// Whether a history is kept: others may begin or end it at any time.
    private let keepsHistory: Atomic<Bool>
    /// The last commit that was seen by anybody here.
    private let lastNoted: Atomic<UInt64>
    /// Whether the server takes NOTIFY.
    let notifies: Bool
    /// Whether an id may lead to another object than its own. It never becomes false again.
    let hasRedirects: Atomic<Bool>
    /// Held while a transaction ends and its commit is told, so that commits are told in their order.
    let committing = Mutex(())
    var schema: Schema { layout.schema }

    init(
        pool: ConnectionPool, identifier: UUID, catalog: Catalog, modelVersion: Int64,
        in space: String, options: PostgresOptions, keepsHistory: Bool, hasRedirects: Bool,
        lastCommit: UInt64, notifies: Bool
    ) {
        self.pool = pool
        identity = StoreIdentity(
            identifier: identifier,
            hierarchies: catalog.schema.entities.map { entity in
                catalog.trees[catalog.entities[entity.index].tree].id
            })
        self.catalog = catalog
        self.modelVersion = modelVersion
        layout = TableLayout(catalog, in: space)
        keys = KeyLayout(catalog.schema)
        self.options = options
        self.keepsHistory = Atomic(keepsHistory)
        lastNoted = Atomic(lastCommit)
        self.notifies = notifies
        self.hasRedirects = Atomic(hasRedirects)
    }

    /// The same with their document, encoded once.
    func encodedCatalog() throws(StoreError) -> EncodedCatalog {
        if let known = encoded.withLock({ $0 }) { return known }
        let made = try EncodedCatalog(catalog)
        encoded.withLock { $0 = made }
        return made
    }

    /// How long a call may take.
    var bound: CallBound { .within(.seconds(options.timeout)) }

    /// A connection, until it is given back.
    func borrow(for purpose: ConnectionPool.Purpose = .request) throws(StoreError)
        -> PostgresConnection
    {
        try Self.sql { () throws(SQLFailure) in try pool.borrowPatiently(bound, for: purpose) }
    }

    func selection(_ table: Int) -> RowSelection {
        RowSelection(layout: layout, table: table, identity: identity)
    }

    /// Asks for the last commit, whether there are redirects, whether a history is kept, and of which model the store is. Every
    /// transaction begins with this: who gives the store another model makes its table anew, and so waits for them.
    var stateQuestion: Statement {
        Statement(
            """
            SELECT last_commit, EXISTS (SELECT 1 FROM \(layout.sql(.redirects))), keeps_history, \
            model_version \
            FROM \(layout.sql(.store))
            """)
    }

    /// The last commit as the answer has it; the rest is noted.
    func noteState(_ result: PostgresResult) throws(SQLFailure) -> UInt64 {
        try checkModel(result, column: 3)
        if try result.bool(0, 1) { hasRedirects.store(true, ordering: .relaxed) }
        keepsHistory.store(try result.bool(0, 2), ordering: .relaxed)
        let commit = UInt64(clamping: try result.int64(0, 0))
        note(commit)
        return commit
    }

    // MARK: History

    /// Whether a history is kept, as it was seen last.
    var historyTracking: PersistentHistoryTracking {
        guard keepsHistory.load(ordering: .relaxed) else { return .off }
        return options.persistentHistoryTracking == true ? .on : .keptOn
    }

    func note(keepsHistory: Bool) { self.keepsHistory.store(keepsHistory, ordering: .relaxed) }

    /// The last commit that was seen by anybody here.
    var noted: UInt64 { lastNoted.load(ordering: .acquiring) }

    func note(_ commit: UInt64) {
        _ = lastNoted.max(commit, ordering: .acquiringAndReleasing)
    }

    /// Where those who want to know of commits are told. Others may be told there too: who is looks for himself.
    var channel: String {
        var names = SQLNames()
        return names.give("cairn:" + layout.space)
    }

    // MARK: Asking

    /// Asks what writes nothing, all in one round trip; once more if the connection is lost.
    ///
    /// - Parameter isOneState: whether all answers have to be of one state.
    func ask(_ statements: [Statement], inOneState isOneState: Bool = false) throws(StoreError)
        -> [PostgresResult]
    {
        let begin =
            isOneState ? [Statement("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")] : []
        let end = isOneState ? [Statement("COMMIT")] : []
        func ask() throws(StoreError) -> [PostgresResult] {
            let results = try send(begin + [stateQuestion] + statements + end)
            try Self.sql { () throws(SQLFailure) in try noteState(results[begin.count]) }
            return Array(results[(begin.count + 1)...].prefix(statements.count))
        }
        do throws(StoreError) {
            return try ask()
        } catch {
            guard let failure = error.cause as? SQLFailure,
                failure.isConnectionLoss || failure.isStoreReplaced
            else { throw error }
            return try ask()
        }
    }

    /// Carries out statements that are no request of the engine, all or none, in one round trip. Nothing of them is done if the
    /// store has another model by now.
    @discardableResult
    func carryOut(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        let begin = [Statement("BEGIN"), modelGuard]
        let results = try send(begin + statements + [Statement("COMMIT")])
        return Array(results[begin.count...].prefix(statements.count))
    }

    private func send(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        let connection = try borrow()
        defer { pool.giveBack(connection) }
        return try Self.sql { () throws(SQLFailure) in
            do throws(SQLFailure) {
                return try connection.pipeline(statements, bound: bound)
            } catch {
                throw explained(error, connection)
            }
        }
    }

    // MARK: The model

    private var modelQuestion: Statement {
        Statement("SELECT model_version FROM \(layout.sql(.store))")
    }

    /// Fails by dividing by zero if the store has another model than when it was opened: what follows it in its transaction is
    /// not carried out then. What it has read keeps away who gives the store another model until the transaction ends.
    private var modelGuard: Statement {
        Statement(
            "SELECT 1 / (SELECT count(*) FROM \(layout.sql(.store)) WHERE model_version = $1)",
            [.int64(modelVersion)])
    }

    /// Throws if the store has another model than when it was opened, as a column of an answer says.
    func checkModel(_ result: PostgresResult, column: Int) throws(SQLFailure) {
        guard result.rowCount > 0 else {
            throw SQLFailure(.storeReplaced, "the store no longer exists")
        }
        guard try result.int64(0, column) == modelVersion else {
            throw SQLFailure(
                .modelChanged,
                "the store was migrated to another model since it was opened: reopen it with that model"
            )
        }
    }

    /// What a failure comes from: a table that is missing may be one of the model that the store had before, and a division by
    /// zero is that of `modelGuard`.
    ///
    /// - Parameter connection: where it was; a transaction that is open there has failed.
    func explained(_ failure: SQLFailure, _ connection: PostgresConnection) -> SQLFailure {
        guard let state = failure.sqlState,
            state.isMissingTable || state.isStaleStatement || state.isDivisionByZero
        else { return failure }
        do throws(SQLFailure) {
            if connection.transactionStatus != .none {
                try connection.run("ROLLBACK", bound: bound)
            }
            try checkModel(connection.run(modelQuestion, bound: bound), column: 0)
            return failure
        } catch {
            return error.isModelChanged || error.isStoreReplaced ? error : failure
        }
    }

    /// Runs what talks to the server; what goes wrong there is said as stores say it.
    @discardableResult
    static func sql<R>(_ body: () throws(SQLFailure) -> R) throws(StoreError) -> R {
        do throws(SQLFailure) {
            return try body()
        } catch {
            throw StoreError(error)
        }
    }
}
