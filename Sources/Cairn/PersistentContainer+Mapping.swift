// Leads stores to another version of their model by mappings.

public import CairnLog
import CairnMigration
public import CairnModel
public import CairnObjects

extension PersistentContainer {
    /// Leads a closed store to another version of its model by a mapping.
    ///
    /// ```swift
    /// var mapping = try MappingModel(drafting: ModelMigrationPlan(from: old, to: new))
    /// mapping["UserToUser"]?.entityMigrationPolicy = RemoveDuplicates.self
    /// try PersistentContainer.migrateStore(at: "shop.cairn", to: new, mapping: mapping)
    /// ```
    ///
    /// - Parameters:
    ///   - policies: the classes of policies that mappings know by their names only, with the module or without.
    ///   - progress: told how far it has come; it can be cancelled by it from elsewhere.
    /// - Throws: `ModelError` if the model is invalid, `StoreError` as `LogStore.beginMigration(at:to:options:)` and
    ///   `MigrationManager.migrate()`; the store is as it was.
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
