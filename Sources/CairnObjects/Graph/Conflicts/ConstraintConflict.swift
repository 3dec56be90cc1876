// A violated uniqueness constraint, as a merge policy sees it.

public import CairnModel
import CairnStore

/// Objects that would violate a uniqueness constraint.
///
/// Snapshots contain the attributes and to-one relationships (as object ids); nil values are absent.
public final class ConstraintConflict {
    /// The names of the constraint's properties.
    public let constraint: [String]
    /// The constraint's options, as whether case counts; nil if it has none.
    public var options: UniquenessRule? { conflict.options }
    /// Their values when the conflict was found. Where case does not count, or which objects take part, those of the first.
    public let constraintValues: [String: Any]
    /// The stored object that has them; nil if the conflict is among objects of the save.
    public let databaseObject: ManagedObject?
    /// The stored object's values.
    public let databaseSnapshot: [String: Any]?
    /// The objects of the save: one against a stored object, two or more among each other, stored ones
    /// first, then in the order of their creation.
    public let conflictingObjects: [ManagedObject]
    /// The values that these had when they were read; empty for new ones.
    public let conflictingSnapshots: [[String: Any]]
    let conflict: ConstraintViolation
    let context: ManagedObjectContext

    init(
        _ conflict: ConstraintViolation, database: ManagedObject?, objects: [ManagedObject],
        _ context: ManagedObjectContext
    ) {
        self.conflict = conflict
        self.context = context
        constraint = conflict.constraint
        var values: [String: Any] = [:]
        for (name, value) in zip(conflict.constraint, conflict.values) { values[name] = value.any }
        constraintValues = values
        databaseObject = database
        databaseSnapshot = conflict.stored.map(context.snapshotValues)
        conflictingObjects = objects
        conflictingSnapshots = objects.map { $0.row.map(context.snapshotValues) ?? [:] }
    }
}
