// The plan of a migration that needs no mapping, or an error that says why there is none.

public import CairnModel

extension ModelMigrationPlan {
    /// How a model becomes another one without a mapping, or an error that says for what one is needed.
    ///
    /// ```swift
    /// let plan = try ModelMigrationPlan.inferred(from: old, to: new)
    /// ```
    ///
    /// Whether objects agree with a new uniqueness constraint only their store can tell: such a plan is inferred.
    ///
    /// - Throws: `StoreError`: `.cannotInferMapping` with an error for each change that needs a mapping in
    ///   ``StoreError/details``; `.invalidRequest` with a `ModelError` as its cause if one of the models is wrong in itself.
    public static func inferred(from old: ManagedObjectModel, to new: ManagedObjectModel)
        throws(StoreError) -> ModelMigrationPlan
    {
        let plan: ModelMigrationPlan
        do throws(ModelError) {
            plan = try ModelMigrationPlan(from: old, to: new)
        } catch {
            throw StoreError(.invalidRequest, "a model is invalid: \(error)", cause: error)
        }
        return try plan.inferred()
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
            "the migration to the new model cannot be inferred: give a mapping for what follows",
            details: plan.changes.filter { $0.inferability == .no }.map { change in
                StoreError(
                    .cannotInferMapping,
                    "\(change.words): \(change.reason ?? "a mapping is needed")",
                    context: .init(entity: change.entity, key: change.property))
            })
    }
}
