// Migrates a store through the versions of its model, stage by stage.
//
//   1. The store's own model says which version it is of, and the stages which ones are still to come (`StageOrder`).
//   2. A stage of what can be inferred is one commit.
//   3. A custom stage: the store is opened with the model before, and its code runs; it is migrated to the model after, by what can
//      be inferred or a mapping; it is opened with that, and the other code runs.
//   4. Before a store is migrated by a stage with code afterwards it is noted among its metadata what is to be run, and when it has run
//      the note goes: so a process that ends in between does not leave it out.
//
// A store elsewhere goes through all of this as a log, and is replaced by that in the end (`MigratingLocation`).
//
// Invariants: between any two steps the store is whole, and of one of the versions.
// Threads: that of the caller; the store is closed before and after.

public import CairnLog
public import CairnMigration
public import CairnModel
public import CairnObjects
public import CairnStore

/// Migrates a store through the versions of its model, in stages.
///
/// ```swift
/// let manager = StagedMigrationManager([
///     LightweightMigrationStage([ModelReference(v1), ModelReference(v2)]),
///     CustomMigrationStage(currentModel: ModelReference(v2), nextModel: ModelReference(v3)) { … },
/// ])
/// try manager.migrateStore(at: "shop.cairn", to: v3)
/// ```
///
/// Stages are in version order. Between the last version of one stage and the first of the next, and up to the model
/// being opened, the store is migrated automatically. Stages that the store has already been through do nothing, and a
/// store may start in the middle of a stage.
public struct StagedMigrationManager: Sendable {
    /// The stages, in their order.
    public let stages: [MigrationStage]
    /// Models of versions that stages name by their checksums.
    public let models: [ModelReference]
    /// The versions of a plan in their order; nil: stages put them in order.
    private let planned: [String]?

    /// Describes a migration in stages.
    ///
    /// - Parameter models: of versions that stages name by their checksums.
    public init(_ stages: [any MigrationStageConvertible], models: [ModelReference] = []) {
        self.stages = stages.map(\.migrationStage)
        self.models = models
        planned = nil
    }

    /// The migration of a plan of typed classes. A stage may skip versions: a store with one of these is migrated to the
    /// next version.
    public init(_ plan: any SchemaMigrationPlan.Type) {
        stages = plan.stages
        models = plan.schemas.map { $0.modelReference }
        planned = models.map(\.versionChecksum)
    }

    /// The key of the store's metadata under which a stage is noted whose code has not run to its end.
    static let pendingKey = "CairnPendingMigrationStage"

    /// What is noted of a stage: its versions.
    private static func pending(_ stage: CustomMigrationStage) -> String {
        "\(stage.currentModel.versionChecksum) \(stage.nextModel.versionChecksum)"
    }

    /// Migrates a closed store to a model. Does nothing if there is no store, or if it already has that model.
    ///
    /// - Parameters:
    ///   - options: how to open it for the migration.
    /// - Returns: the number of versions it went through.
    /// - Throws: `StoreError`; the store has one of the versions and is intact: `.stagedMigrationUnknownVersion` if no
    ///   stage contains its version; `.stagedMigrationBackwards` if its version is later; `.modelReferenceNotFound`;
    ///   `.migrationFailed` with the error of a stage's code; errors of ``LogStore/migrate(at:to:options:)`` and
    ///   `MigrationManager.migrate()`.
    @discardableResult
    public func migrateStore(
        at path: String, to model: ManagedObjectModel,
        options: LogStoreOptions = LogStoreOptions()
    ) throws(StoreError) -> Int {
        let order = try order(to: model)
        guard let metadata = try metadata(at: path, options) else { return 0 }
        let version = metadata.model.versionChecksum
        if let stage = pendingStage(metadata, order) {
            try runAfter(stage, metadata.model, at: path, options)
        }
        var current = metadata.model
        let steps = try order.steps(from: version, to: model.versionChecksum)
        var options = options
        if options.migrationPrelude != nil {
            options.migrationModels = try ([current] + steps.map(\.model)).map {
                model throws(StoreError) in try schema(model)
            }
        }
        for step in steps {
            try migrate(from: current, over: step, at: path, options)
            current = step.model
        }
        return steps.count
    }

    /// Migrates a store at a location to a model, like a store in a folder. All stages are one atomic change of the store:
    /// it keeps its version, or has the last one.
    ///
    /// - Returns: the number of versions it went through.
    /// - Throws: As ``migrateStore(at:to:options:)`` and `PostgresStore.migrate(at:to:options:)`; the store has not
    ///   changed.
    @discardableResult
    public func migrateStore(at location: some MigratingLocation, to model: ManagedObjectModel)
        throws(StoreError) -> Int
    {
        let order = try order(to: model)
        // Mostly there is nothing to do: no log is made to find that.
        guard let metadata = try location.metadataToMigrate() else { return 0 }
        let steps = try order.steps(
            from: metadata.model.versionChecksum, to: model.versionChecksum)
        let isPending = pendingStage(metadata, order) != nil
        if steps.isEmpty, !isPending { return 0 }
        var count = 0
        try location.migrateThroughLog { path, options throws(StoreError) in
            // Somebody else may have done it by now.
            let metadata = try self.metadata(at: path, options)
            count = try migrateStore(at: path, to: model, options: options)
            return count > 0 || metadata.map { pendingStage($0, order) != nil } ?? false
        }
        return count
    }

    private func order(to model: ManagedObjectModel) throws(StoreError) -> StageOrder {
        try StageOrder(stages, models: models, planned: planned, to: model)
    }

    /// The stage that a store is behind, but for the code that runs after it.
    private func pendingStage(_ metadata: StoreMetadata, _ order: StageOrder)
        -> CustomMigrationStage?
    {
        guard case .string(let pending)? = metadata[Self.pendingKey],
            let first = pending.split(separator: " ").first,
            let stage = order.stage(from: String(first), to: metadata.model.versionChecksum),
            pending == Self.pending(stage)
        else { return nil }
        return stage
    }

    /// What the store says of itself; nil if there is none.
    private func metadata(at path: String, _ options: LogStoreOptions) throws(StoreError)
        -> StoreMetadata?
    {
        var options = options
        options.isReadOnly = true
        let store: LogStore
        do throws(StoreError) {
            store = try LogStore.open(at: path, options: options)
        } catch {
            // What else it may be, opening the store tells.
            if error.code == .openFailed { return nil }
            throw error
        }
        defer { try? store.close() }
        return try store.metadata()
    }

    // MARK: Steps

    private func migrate(
        from model: ManagedObjectModel, over step: StageOrder.Step, at path: String,
        _ options: LogStoreOptions
    ) throws(StoreError) {
        let schema = try schema(step.model)
        guard let stage = step.stage else {
            try LogStore.migrate(at: path, to: schema, options: options)
            return
        }
        if stage.willMigrateHandler != nil || stage.didMigrateHandler != nil {
            try withStore(stage.currentModel, model, at: path, options) {
                store, context throws(StoreError) in
                if stage.didMigrateHandler != nil {
                    try note(.string(Self.pending(stage)), in: store)
                }
                try run(stage.willMigrateHandler, of: stage, "before", in: context)
            }
        }
        if let mapping = stage.mapping {
            let migration = try LogStore.beginMigration(at: path, to: schema, options: options)
            try MigrationManager(
                migration, mapping: mapping, progress: Self.progress(options.migrationProgress)
            ).migrate()
        } else {
            try LogStore.migrate(at: path, to: schema, options: options)
        }
        try runAfter(stage, step.model, at: path, options)
    }

    /// A mapping's progress as those hear of it who are told of other migrations.
    private static func progress(_ tell: (@Sendable (MigrationProgress) -> Bool)?)
        -> MappingProgress
    {
        guard let tell else { return MappingProgress() }
        return MappingProgress { progress in
            let goesOn = tell(
                MigrationProgress(
                    stage: .mapping, done: progress.completedCount, total: progress.totalCount))
            if !goesOn { progress.cancel() }
        }
    }

    private func runAfter(
        _ stage: CustomMigrationStage, _ model: ManagedObjectModel, at path: String,
        _ options: LogStoreOptions
    ) throws(StoreError) {
        if stage.didMigrateHandler == nil { return }
        try withStore(stage.nextModel, model, at: path, options) {
            store, context throws(StoreError) in
            try run(stage.didMigrateHandler, of: stage, "after", in: context)
            try note(nil, in: store)
        }
    }

    /// Opens the store for the code of a stage.
    private func withStore(
        _ reference: ModelReference, _ model: ManagedObjectModel, at path: String,
        _ options: LogStoreOptions,
        _ body: (LogStore, ManagedObjectContext) throws(StoreError) -> Void
    ) throws(StoreError) {
        var options = options
        options.shouldMigrateStoreAutomatically = false
        options.createsIfMissing = false
        let store = try LogStore.open(at: path, schema: try schema(model), options: options)
        let context = ManagedObjectContext(store: store, classes: reference.classes)
        do throws(StoreError) {
            try body(store, context)
        } catch {
            context.reset()
            // What went wrong first is what counts.
            try? store.close()
            throw error
        }
        context.reset()
        try store.close()
    }

    private func run(
        _ handler: CustomMigrationStage.Handler?, of stage: CustomMigrationStage, _ when: String,
        in context: ManagedObjectContext
    ) throws(StoreError) {
        do {
            try handler?(context)
        } catch {
            throw StoreError(
                .migrationFailed,
                "the code that runs \(when) the stage \(stage.label) of a migration has failed",
                cause: error)
        }
    }

    /// Notes a stage whose code is to be run, or that none is.
    private func note(_ version: Value?, in store: LogStore) throws(StoreError) {
        var values = try store.metadata().values
        if values[Self.pendingKey] == version { return }
        values[Self.pendingKey] = version
        try store.setMetadata(values)
        try store.writeMetadata()
    }

    private func schema(_ model: ManagedObjectModel) throws(StoreError) -> Schema {
        do throws(ModelError) {
            return try Schema(model)
        } catch {
            throw StoreError(.invalidRequest, "a model is invalid: \(error)", cause: error)
        }
    }
}
