// Migrates closed stores to another model.

import CairnFormat
public import CairnLog
public import CairnModel
public import CairnStore
import SystemPackage

/// The result of a migration.
public struct MigrationReport: Sendable {
    /// The changes from the old model to the new one.
    public let plan: ModelMigrationPlan
    /// The number of objects that were deleted with their entities, by the names of these in the old model.
    public let removedObjects: [String: Int]
    /// The number of objects that were merged into others by deduplication rules.
    public let foldedObjects: Int
    /// The commit of the migration; nil if the store already had the new model.
    public let commit: UInt64?

    /// Says what was done.
    package init(
        plan: ModelMigrationPlan, removedObjects: [String: Int] = [:], foldedObjects: Int = 0,
        commit: UInt64? = nil
    ) {
        self.plan = plan
        self.removedObjects = removedObjects
        self.foldedObjects = foldedObjects
        self.commit = commit
    }
}

extension LogStore {
    /// Migrates a closed store to another version of its model, with everything that can be inferred, in one commit.
    ///
    /// Objects keep their ids, except objects of an entity that leaves its hierarchy: they keep their numbers in a
    /// hierarchy of their own. Rows do not change, and are read as the new model defines them, until compaction rewrites
    /// them. So the cost does not depend on the number of rows, unless a constraint is new, a relationship is stored
    /// differently or an attribute has to be computed. After a crash the store has either the old model or the new one.
    ///
    /// ```swift
    /// let report = try LogStore.migrate(at: "shop.cairn", to: Schema(newModel))
    /// print(report.plan.conclusion)  // can be inferred: metadata only
    /// ```
    ///
    /// Past states (``LogStoreOptions/pastStates``) start over: those of the old model can no longer be read. Versions of
    /// this library that do not support migration can no longer open the store.
    ///
    /// - Parameters:
    ///   - options: the options for opening the store. With ``LogStoreOptions/migrationProgress`` the migration can be
    ///     cancelled.
    /// - Throws: `StoreError`; the store has not changed: `.cannotInferMapping` with the changes that require a mapping in
    ///   ``StoreError/details``, `.migrationConstraintViolation` with a ``MigrationDuplicates`` as its cause,
    ///   `.migrationFailed` if objects lack what the new model requires, `.migrationCancelled`, `.noSpace` if the disk has
    ///   too little space (``LogStoreOptions/checksSpaceBeforeMigration``), `.storeInUse` if the store is open in this
    ///   process or another one writes to it.
    @discardableResult
    public static func migrate(
        at path: String, to schema: Schema, options: LogStoreOptions = LogStoreOptions()
    ) throws(StoreError) -> MigrationReport {
        try migrate(at: path, to: schema, options: options, prelude: options.migrationPrelude)
    }

    /// The same for a store that is opened. An app that has an older version only must not lead it back and have its objects lose
    /// what that version does not know.
    ///
    /// - Throws: `StoreError` with `.incompatibleModel` if the store was of that version once.
    static func migrateAutomatically(
        at path: String, to schema: Schema, options: LogStoreOptions
    ) throws(StoreError) {
        _ = try migrate(
            at: path, to: schema, options: options, prelude: options.migrationPrelude,
            isAutomatic: true)
    }

    /// The same with changes that are saved in the same commit before.
    ///
    /// - Parameters:
    ///   - prelude: told the store as it is, and the plan; what it gives is saved under the old model.
    ///   - isAutomatic: whether nobody has asked for it, so that it must not lead back.
    package static func migrate(
        at path: String, to schema: Schema, options: LogStoreOptions,
        prelude: MigrationPrelude.Maker?, isAutomatic: Bool = false
    ) throws(StoreError) -> MigrationReport {
        var options = options
        options.isReadOnly = false
        options.createsIfMissing = false
        do throws(StoreError) {
            let engine = try EngineRegistry.shared.openToMigrate(FilePath(path), options: options)
            let report: MigrationReport
            do throws(StoreError) {
                if isAutomatic { try engine.refuseToLeadBack(to: schema) }
                report = try migrate(engine, to: schema, options, prelude)
            } catch {
                // What went wrong first is what counts.
                try? EngineRegistry.shared.closeAfterMigration(engine)
                throw error
            }
            try EngineRegistry.shared.closeAfterMigration(engine)
            return report
        } catch {
            var error = error
            if error.context.path == nil { error.context.path = path }
            throw error
        }
    }

    private static func migrate(
        _ engine: Engine, to schema: Schema, _ options: LogStoreOptions,
        _ prelude: MigrationPrelude.Maker?
    ) throws(StoreError) -> MigrationReport {
        let plan = try ModelMigrationPlan.inferred(from: engine.schema, to: schema)
        if engine.schema.model == schema.model { return MigrationReport(plan: plan) }
        var before: MigrationPrelude?
        if let prelude {
            let store = LogStore(borrowing: engine)
            defer { store.giveBack() }
            before = try prelude(store, plan, options.migrationModels)
        }
        let result = try engine.migrate(
            plan, prelude: before?.requests ?? [],
            asksForSpace: options.checksSpaceBeforeMigration,
            MigrationMonitor(options.migrationProgress))
        return MigrationReport(
            plan: plan, removedObjects: result.removed,
            foldedObjects: before?.foldedObjects ?? 0, commit: result.commit)
    }

    /// The objects of a closed store that violate constraints of another version of its model. Nothing is written.
    ///
    /// - Throws: `StoreError`: `.cannotInferMapping` if the migration cannot be inferred anyway; the errors of opening the
    ///   store.
    /// - Complexity: O(objects of the entities with such constraints).
    public static func duplicates(
        at path: String, for schema: Schema, options: LogStoreOptions = LogStoreOptions()
    ) throws(StoreError) -> [ConstraintDuplicates] {
        var options = options
        options.isReadOnly = true
        options.createsIfMissing = false
        let store = try open(at: path, options: options)
        defer { try? store.close() }
        // The engine may be somebody's who has opened it with another model; the store is migrated from its own.
        let opened = store.engine.registry.read { $0.catalog }
        let catalog = CatalogDocument.catalog(opened, under: opened.storedModel) ?? opened
        let plan = try ModelMigrationPlan.inferred(from: catalog.schema, to: schema)
        var monitor = MigrationMonitor(options.migrationProgress)
        return try store.engine.readKeys(
            plan, CatalogSuccessor(of: catalog, plan), &monitor
        ).duplicates
    }
}
