// Migrates closed stores in a database to another model.

package import CairnLog
public import CairnMigration
public import CairnModel
import CairnMoving
public import CairnStore

extension PostgresStore {
    /// Migrates a store to another version of its model, with everything that can be inferred, in one step. The effects are
    /// those of `LogStore.migrate(at:to:options:)`.
    ///
    /// Other users of the store finish their current transactions; nobody reads or writes during the migration. After that,
    /// users with the old model get `.incompatibleModel`. If the process dies, the store has either the old model or the
    /// new one. If another process is migrating the store, this waits for it.
    ///
    /// If no rows have to be rewritten, the server migrates the store on its own. Otherwise its contents go through a log
    /// in the temporary folder, which must have enough space.
    ///
    /// ```swift
    /// let report = try PostgresStore.migrate(at: "postgresql://db1/shop", to: Schema(newModel))
    /// ```
    ///
    /// - Parameters:
    ///   - connection: as for ``open(_:schema:options:)``.
    ///   - options: the options for opening the store. With ``PostgresOptions/migrationProgress`` the migration can be
    ///     cancelled.
    /// - Throws: `StoreError`; the store has not changed: `.cannotInferMapping` with the changes that require a mapping in
    ///   its details, `.migrationConstraintViolation` with a `MigrationDuplicates` as its cause, `.migrationFailed` if
    ///   objects lack what the new model requires, `.migrationCancelled`, `.storeInUse` if others keep reading or writing.
    @discardableResult
    public static func migrate(
        at connection: String, to schema: Schema, options: PostgresOptions = PostgresOptions()
    ) throws(StoreError) -> MigrationReport {
        try migrate(at: connection, to: schema, options: options, isAutomatic: false)
    }

    /// - Parameter isAutomatic: whether nobody has asked for it, so that it must not lead back to a version that was left.
    static func migrate(
        at connection: String, to schema: Schema, options: PostgresOptions, isAutomatic: Bool
    ) throws(StoreError) -> MigrationReport {
        let replacement = try StoreReplacement(at: connection, options)
        defer { replacement.cancel() }
        let old = replacement.core.catalog
        let plan = try ModelMigrationPlan.inferred(from: old.schema, to: schema)
        if old.schema.model == schema.model { return MigrationReport(plan: plan) }
        let leadsBack = isAutomatic && old.next.leftVersions.contains(schema.model.versionChecksum)
        if options.migrationPrelude == nil, !leadsBack,
            let change = try PlainChange(
                plan, old, in: replacement.core.layout.space,
                hasHistory: replacement.content().head.history != nil)
        {
            var monitor = MigrationMonitor(options.migrationProgress)
            try monitor.begin(.finishing, total: 0)
            return try replacement.finish(change, plan)
        }
        return try throughLog(replacement, options) { path, logOptions throws(StoreError) in
            let report = try LogStore.migrate(
                at: path, to: schema, options: logOptions, prelude: options.migrationPrelude,
                isAutomatic: isAutomatic)
            return (report, report.commit != nil)
        }
    }

    /// Has a store go through a log that a closure may lead to another model, by whatever means: those of the log do.
    ///
    /// - Parameter body: gets the log's folder, and how it is to be opened; says whether the store is to be what the log is then.
    package static func throughLog<R>(
        at connection: String, options: PostgresOptions,
        _ body: (String, LogStoreOptions) throws(StoreError) -> (R, isChanged: Bool)
    ) throws(StoreError) -> R {
        let replacement = try StoreReplacement(at: connection, options)
        defer { replacement.cancel() }
        return try throughLog(replacement, options, body)
    }

    private static func throughLog<R>(
        _ replacement: StoreReplacement, _ options: PostgresOptions,
        _ body: (String, LogStoreOptions) throws(StoreError) -> (R, isChanged: Bool)
    ) throws(StoreError) -> R {
        do throws(StoreError) {
            try replacement.makeLog()
            let (result, isChanged) = try body(replacement.path, options.ofMigratedLog)
            if isChanged { try replacement.finish() }
            return result
        } catch {
            var error = error
            // That of the log means nothing to anybody.
            if error.context.path?.hasPrefix(replacement.path) == true { error.context.path = nil }
            throw error
        }
    }

    /// Begins to migrate a store to another version of its model with a mapping model, for `MigrationManager`.
    ///
    /// Nobody else can read or write until the migration is finished or cancelled. Migrated objects keep their ids, if the
    /// hierarchy of their entity continues. Earlier changes in the history no longer refer to objects.
    public static func beginMigration(
        at connection: String, to schema: Schema, options: PostgresOptions = PostgresOptions()
    ) throws(StoreError) -> any MappedMigration {
        let replacement = try StoreReplacement(at: connection, options)
        return try PostgresMigration(replacement, to: schema, options)
    }

    /// The objects of a store that violate constraints of another version of its model. Nothing is written.
    ///
    /// - Throws: `StoreError`: `.cannotInferMapping` if the migration cannot be inferred anyway; the errors of opening the
    ///   store.
    public static func duplicates(
        at connection: String, for schema: Schema, options: PostgresOptions = PostgresOptions()
    ) throws(StoreError) -> [ConstraintDuplicates] {
        try throughLog(at: connection, options: options) { path, logOptions throws(StoreError) in
            (try LogStore.duplicates(at: path, for: schema, options: logOptions), false)
        }
    }
}

/// A migration of a store in a database by a mapping: that of the log that it goes through.
private final class PostgresMigration: MappedMigration {
    private let replacement: StoreReplacement
    private let inner: any MappedMigration

    var source: any PersistentStore { inner.source }
    var destination: any PersistentStore { inner.destination }

    init(_ replacement: StoreReplacement, to schema: Schema, _ options: PostgresOptions)
        throws(StoreError)
    {
        self.replacement = replacement
        do throws(StoreError) {
            try replacement.makeLog()
            inner = try LogStore.beginMigration(
                at: replacement.path, to: schema, options: options.ofMigratedLog)
        } catch {
            replacement.cancel()
            throw error
        }
    }

    func finish(_ successions: [ObjectSuccession]) throws(StoreError) {
        do throws(StoreError) {
            try inner.finish(successions)
        } catch {
            replacement.cancel()
            throw error
        }
        try replacement.finish()
    }

    func cancel() {
        inner.cancel()
        replacement.cancel()
    }
}

extension PostgresOptions {
    /// How the log is opened that a store goes through: nobody relies on it.
    fileprivate var ofMigratedLog: LogStoreOptions {
        var options = LogStoreOptions()
        options.durability = .relaxed
        options.allowsSharedDisk = true
        options.migrationProgress = migrationProgress
        options.migrationPrelude = migrationPrelude
        options.migrationModels = migrationModels
        return options
    }
}
