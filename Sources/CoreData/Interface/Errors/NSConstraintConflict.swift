// A violated uniqueness constraint, as a merge policy sees it.
//
// Threads: the context's queue.

import CairnObjects
public import Foundation

/// Objects that would violate a uniqueness constraint.
///
/// Snapshots have the attributes and to-one relationships, these as ids; nil values are absent.
open class NSConstraintConflict: NSObject {
    let core: ConstraintConflict
    /// The values of the constraint's properties when the conflict was found.
    public let constraintValues: [String: Any]
    /// The stored object that has them; nil if the conflict is among objects of the save.
    public let databaseObject: NSManagedObject?
    /// The stored object's values.
    public let databaseSnapshot: [String: Any]?
    /// The objects of the save: one against a stored object, two or more among each other.
    public let conflictingObjects: [NSManagedObject]
    /// The values that these had when they were read; empty for new ones.
    public let conflictingSnapshots: [[AnyHashable: Any]]
    /// The names of the constraint's properties.
    public var constraint: [String] { core.constraint }

    /// What stands against the save of a context.
    init(_ core: ConstraintConflict, in context: NSManagedObjectContext) {
        self.core = core
        constraintValues = context.facadeValues(core.constraintValues)
        databaseObject = core.databaseObject.map(NSManagedObjectContext.object)
        databaseSnapshot = core.databaseSnapshot.map(context.facadeValues)
        conflictingObjects = core.conflictingObjects.map(NSManagedObjectContext.object)
        conflictingSnapshots = core.conflictingSnapshots.map(context.facadeValues)
    }

    /// Only a store knows of conflicts: a save reports them.
    @available(
        *, unavailable, message: "conflicts are found by a store: a save reports them"
    )
    public init(
        constraint: [String], database databaseObject: NSManagedObject?,
        databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
        conflictingSnapshots: [Any]
    ) { fatalError("unavailable") }

    open override var description: String {
        let objects = conflictingObjects.map { "\($0.objectID)" }.joined(separator: ", ")
        let stored = databaseObject.map { "; stored as \($0.objectID)" } ?? ""
        return "\(constraint.joined(separator: ", ")): \(objects)\(stored)"
    }
}

/// A conflict of the context behind, with Core Data's types.
func facadeConflict(_ conflict: Any, in context: NSManagedObjectContext) -> NSObject? {
    switch conflict {
    case let conflict as MergeConflict: NSMergeConflict(conflict, in: context)
    case let conflict as ConstraintConflict: NSConstraintConflict(conflict, in: context)
    default: nil
    }
}
