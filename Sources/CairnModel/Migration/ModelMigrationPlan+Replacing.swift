// The plan of a migration in which no object is kept: a mapping creates all of them again.
//
// Hierarchies go on all the same, so that objects can keep their numbers, and no number is ever given to another one.

extension ModelMigrationPlan {
    /// The plan of a migration with a mapping model: all objects are replaced. The changes are the same as in any plan.
    package init(replacingObjectsOf old: Schema, with new: Schema) {
        let plan = ModelMigrationPlan(from: old, to: new)
        oldSchema = old
        newSchema = new
        changes = plan.changes
        entities = new.entities.map { entity in
            EntityMigration(
                name: entity.name, source: nil,
                columns: entity.columns.map(MigrationPlanner.initial), droppedColumns: [],
                sourceIndex: nil)
        }
        droppedEntities = old.entities.map(\.name).sorted { $0.comesBefore($1) }
        hasSameVersion = plan.hasSameVersion
        pairs = new.pairs.map { _ in PairsMigration(origins: [], kept: nil, isTurned: false) }
        constraints = plan.constraints.map {
            ConstraintMigration(
                entity: $0.entity, constraint: $0.constraint, source: nil, mayFail: true)
        }
        hierarchies = plan.hierarchies
        matches = new.entities.map { _ in nil }
    }
}
