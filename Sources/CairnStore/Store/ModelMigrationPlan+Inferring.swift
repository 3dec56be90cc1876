// The plan of a migration that can be inferred, or an error with the reasons why it cannot.

public import CairnModel

extension ModelMigrationPlan {
    /// Infers the migration from one model to another, or throws an error that lists the changes that require a mapping.
    ///
    /// ```swift
    /// let plan = try ModelMigrationPlan.inferred(from: old, to: new)
    /// ```
    ///
    /// Only the store can tell whether its objects satisfy a new uniqueness constraint, so such a migration can be
    /// inferred.
    ///
    /// - Throws: `StoreError`: `.cannotInferMapping` with an error in ``StoreError/details`` for each change that requires
    ///   a mapping; `.invalidRequest` with a `ModelError` as its cause if one of the models is invalid.
    public static func inferred(from old: ManagedObjectModel, to new: ManagedObjectModel)
        throws(StoreError) -> ModelMigrationPlan
    {
        try planned(from: old, to: new).inferred()
    }

    /// The same, also if the migration needs a mapping that can be inferred: ``hasInferredMapping``.
    package static func inferredOrMapped(from old: ManagedObjectModel, to new: ManagedObjectModel)
        throws(StoreError) -> ModelMigrationPlan
    {
        let plan = try planned(from: old, to: new)
        return plan.hasInferredMapping ? plan : try plan.inferred()
    }

    private static func planned(from old: ManagedObjectModel, to new: ManagedObjectModel)
        throws(StoreError) -> ModelMigrationPlan
    {
        do throws(ModelError) {
            return try ModelMigrationPlan(from: old, to: new)
        } catch {
            throw StoreError(.invalidRequest, "a model is invalid: \(error)", cause: error)
        }
    }

    /// The same of schemas.
    package static func inferred(from old: Schema, to new: Schema) throws(StoreError)
        -> ModelMigrationPlan
    {
        try ModelMigrationPlan(from: old, to: new).inferred()
    }

    private func inferred() throws(StoreError) -> ModelMigrationPlan {
        let plan = self
        if plan.inferability < .no { return plan }
        throw StoreError(
            .cannotInferMapping,
            "the migration to the new model cannot be inferred; provide a mapping for these changes",
            details: plan.changes.filter { $0.inferability == .no }.map { change in
                StoreError(
                    .cannotInferMapping,
                    "\(change.words): \(change.reason ?? "a mapping is needed")",
                    context: .init(entity: change.entity, key: change.property))
            })
    }
}
