// Opens stores that are migrated through the versions of their model first.

public import CairnLog
public import CairnMigration
public import CairnModel
public import CairnObjects
import CairnStore

extension PersistentContainer {
    /// Creates a container for the store in a folder. The store is created if it does not exist, and migrated to the model
    /// first, stage by stage, if it has an earlier version.
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if the store cannot be migrated or opened; see
    ///   ``StagedMigrationManager/migrateStore(at:to:options:)``.
    public convenience init(
        at path: String, model: ManagedObjectModel, stagedMigration manager: StagedMigrationManager,
        classes: ObjectClasses = ObjectClasses(), options: LogStoreOptions = LogStoreOptions(),
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        if !options.isReadOnly { try manager.migrateStore(at: path, to: model, options: options) }
        var options = options
        options.shouldMigrateStoreAutomatically = false
        try self.init(
            at: path, model: model, classes: classes, options: options, mergePolicy: mergePolicy())
    }

    /// Creates a container for the store in a folder, with the newest version of typed classes. The store is created if it
    /// does not exist, and migrated through the stages of a plan first if it has an earlier version.
    ///
    /// ```swift
    /// let container = try PersistentContainer(at: "shop.cairn", migrationPlan: ShopPlan.self)
    /// ```
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if the store cannot be migrated or opened; see
    ///   ``StagedMigrationManager/migrateStore(at:to:options:)``.
    public convenience init(
        at path: String, migrationPlan plan: any SchemaMigrationPlan.Type,
        options: LogStoreOptions = LogStoreOptions(),
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        let newest = Self.newest(of: plan)
        try self.init(
            at: path, model: newest.managedObjectModel,
            stagedMigration: StagedMigrationManager(plan),
            classes: ObjectClasses(for: newest.models), options: options,
            mergePolicy: mergePolicy())
    }
    /// Creates a container for the store at a location. The store is created if it does not exist, and migrated to the
    /// model first, stage by stage, if it has an earlier version. All stages are one change of the store.
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if the store cannot be migrated or opened; see
    ///   ``StagedMigrationManager/migrateStore(at:to:)``.
    public convenience init(
        at location: some MigratingLocation, model: ManagedObjectModel,
        stagedMigration manager: StagedMigrationManager,
        classes: ObjectClasses = ObjectClasses(),
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        try manager.migrateStore(at: location, to: model)
        try self.init(at: location, model: model, classes: classes, mergePolicy: mergePolicy())
    }

    /// Creates a container for the store at a location, with the newest version of typed classes. The store is created if
    /// it does not exist, and migrated through the stages of a plan first if it has an earlier version.
    ///
    /// ```swift
    /// let container = try PersistentContainer(at: .postgres(url), migrationPlan: ShopPlan.self)
    /// ```
    ///
    /// - Throws: `ModelError` if the model is invalid, `StoreError` if the store cannot be migrated or opened; see
    ///   ``StagedMigrationManager/migrateStore(at:to:)``.
    public convenience init(
        at location: some MigratingLocation, migrationPlan plan: any SchemaMigrationPlan.Type,
        mergePolicy: @autoclosure @escaping @Sendable () -> MergePolicy = .error
    ) throws {
        let newest = Self.newest(of: plan)
        try self.init(
            at: location, model: newest.managedObjectModel,
            stagedMigration: StagedMigrationManager(plan),
            classes: ObjectClasses(for: newest.models), mergePolicy: mergePolicy())
    }

    /// The version that a plan leads to.
    private static func newest(of plan: any SchemaMigrationPlan.Type) -> any VersionedSchema.Type {
        guard let newest = plan.schemas.last else {
            preconditionFailure("\(plan) has no version")
        }
        return newest
    }
}
