// What stands against a save.

public import CairnModel

/// A conflict that a save met.
public enum SaveConflict: Sendable {
    /// The object was changed or deleted by somebody else since it was read.
    case version(VersionConflict)
    /// A uniqueness constraint would be violated.
    case constraint(ConstraintViolation)
}

/// An object that was changed or deleted by somebody else since it was read.
public struct VersionConflict: Sendable {
    /// The object.
    public var id: ObjectID
    /// Its entity, as an index of the schema.
    public var entity: Int
    /// The row the changes were made against; nil if it was never read.
    public var base: Row?
    /// The row as it is stored now; nil if it was deleted.
    public var stored: Row?
    /// Whether the save wanted to delete the object.
    public var isDeletion: Bool

    /// Describes a conflict.
    public init(id: ObjectID, entity: Int, base: Row?, stored: Row?, isDeletion: Bool) {
        self.id = id
        self.entity = entity
        self.base = base
        self.stored = stored
        self.isDeletion = isDeletion
    }
}

/// A uniqueness constraint that would be violated.
public struct ConstraintViolation: Sendable {
    /// The entity that declares the constraint.
    public var entity: Int
    /// The names of the constraint's properties.
    public var constraint: [String]
    /// The values that are not unique.
    public var values: [Value]
    /// The stored object that has them; nil if the conflict is among the objects of the save.
    public var stored: Row?
    /// The objects of the save that have them, in the order of their creation.
    public var objects: [ObjectID]

    /// Describes a conflict.
    public init(
        entity: Int, constraint: [String], values: [Value], stored: Row?, objects: [ObjectID]
    ) {
        self.entity = entity
        self.constraint = constraint
        self.values = values
        self.stored = stored
        self.objects = objects
    }
}
