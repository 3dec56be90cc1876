// Opens stores that are migrated through the versions of their model first.

public import CairnLog
import CairnMigration
public import CairnModel
public import CairnObjects
import CairnStore

extension PersistentContainer {
    /// A container over the store in a folder, which is made if it is missing, and migrated to the model first, stage by stage,
    /// if it is of an earlier version.
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

    /// A container over the store of the newest version of some typed classes, which is made if it is missing, and migrated
    /// through the stages of a plan first if it is of an earlier version.
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
        guard let newest = plan.schemas.last else {
            preconditionFailure("\(plan) has no version")
        }
        try self.init(
            at: path, model: newest.managedObjectModel,
            stagedMigration: StagedMigrationManager(plan),
            classes: ObjectClasses(for: newest.models), options: options,
            mergePolicy: mergePolicy())
    }
}
