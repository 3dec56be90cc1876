// The mapping model of a migration that can be inferred, or an error that lists what requires a mapping.

public import CairnModel

extension MappingModel {
    /// A mapping model with everything that can be inferred: a starting point for custom mappings, and a migration that
    /// processes each object if a policy is to be called.
    ///
    /// ```swift
    /// var mapping = try MappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    /// mapping["UserToUser"]?.entityMigrationPolicy = RemoveDuplicates.self
    /// ```
    ///
    /// - Throws: `StoreError` as ``ModelMigrationPlan/inferred(from:to:)``: `.cannotInferMapping` with an error for each
    ///   change that requires a mapping. ``MappingModel/init(drafting:)`` leaves these undefined instead.
    public static func inferredMappingModel(
        forSourceModel source: ManagedObjectModel, destinationModel destination: ManagedObjectModel
    ) throws(StoreError) -> MappingModel {
        MappingModel(drafting: try ModelMigrationPlan.inferred(from: source, to: destination))
    }
}
