// Leads stores to another version of their model by mappings.

public import CairnLog
import CairnMigration
public import CairnModel
public import CairnObjects

extension PersistentContainer {
    /// Migrates a closed store to another version of its model with a mapping.
    ///
    /// ```swift
    /// var mapping = try MappingModel(drafting: ModelMigrationPlan(from: old, to: new))
    /// mapping["UserToUser"]?.entityMigrationPolicy = RemoveDuplicates.self
    /// try PersistentContainer.migrateStore(at: "shop.cairn", to: new, mapping: mapping)
    /// ```
    ///
    /// - Parameters:
    ///   - policies: the policy classes that mappings refer to by name, with or without the module.
    ///   - progress: reports progress, and can cancel the migration from elsewhere.
    /// - Throws: `ModelError` if the model is invalid, `StoreError` like `LogStore.beginMigration(at:to:options:)` and
    ///   `MigrationManager.migrate()`; the store is unchanged.
    public static func migrateStore(
        at path: String, to model: ManagedObjectModel, mapping: MappingModel,
        policies: [String: EntityMigrationPolicy.Type] = [:],
        progress: MappingProgress = MappingProgress(), options: LogStoreOptions = LogStoreOptions()
    ) throws {
        let migration = try LogStore.beginMigration(
            at: path, to: try Schema(model), options: options)
        try MigrationManager(
            migration, mapping: mapping, policies: policies, progress: progress
        ).migrate()
    }
}
