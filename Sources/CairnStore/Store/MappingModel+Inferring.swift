// The mapping model of a migration that needs none, or an error that says for what one is needed.

public import CairnModel

extension MappingModel {
    /// The mapping model that says of every object what can be inferred: a beginning for mappings that say more, and a migration
    /// that goes over each object where a policy is to be asked.
    ///
    /// ```swift
    /// var mapping = try MappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    /// mapping["UserToUser"]?.entityMigrationPolicy = RemoveDuplicates.self
    /// ```
    ///
    /// - Throws: `StoreError` as ``ModelMigrationPlan/inferred(from:to:)``: `.cannotInferMapping` with an error for each change
    ///   that needs a mapping. ``MappingModel/init(drafting:)`` leaves these open instead.
    public static func inferredMappingModel(
        forSourceModel source: ManagedObjectModel, destinationModel destination: ManagedObjectModel
    ) throws(StoreError) -> MappingModel {
        MappingModel(drafting: try ModelMigrationPlan.inferred(from: source, to: destination))
    }
}
