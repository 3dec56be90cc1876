// Conflicts that prevent a save.

public import CairnModel

/// A conflict in a save.
public enum SaveConflict: Sendable {
    /// The object was changed or deleted elsewhere since it was read.
    case version(VersionConflict)
    /// A uniqueness constraint would be violated.
    case constraint(ConstraintViolation)
}

/// An object that was changed or deleted elsewhere since it was read.
public struct VersionConflict: Sendable {
    /// The object.
    public var id: ObjectID
    /// Its entity, as an index of the schema.
    public var entity: Int
    /// The entity's name.
    public var entityName: String
    /// The row on which the changes are based; nil if it was never read.
    public var base: Row?
    /// The currently stored row; nil if it was deleted.
    public var stored: Row?
    /// Whether the save was to delete the object.
    public var isDeletion: Bool

    /// Describes a conflict.
    public init(
        id: ObjectID, entity: Int, entityName: String, base: Row?, stored: Row?, isDeletion: Bool
    ) {
        self.id = id
        self.entity = entity
        self.entityName = entityName
        self.base = base
        self.stored = stored
        self.isDeletion = isDeletion
    }
}

/// A uniqueness constraint that would be violated.
public struct ConstraintViolation: Sendable {
    /// The entity that declares the constraint, as an index of the schema.
    public var entity: Int
    /// The entity's name.
    public var entityName: String
    /// The names of the constraint's properties.
    public var constraint: [String]
    /// The values that are not unique.
    public var values: [Value]
    /// The stored object that has these values; nil if the conflict is between objects of the save.
    public var stored: Row?
    /// The objects of the save that have these values, in the order of their creation. If objects became equal only because
    /// references were cleared, these objects, although the save does not contain them.
    public var objects: [ObjectID]
    /// The constraint's options; nil if it has none.
    public var options: UniquenessRule?

    /// Describes a conflict.
    public init(
        entity: Int, entityName: String, constraint: [String], values: [Value], stored: Row?,
        objects: [ObjectID], options: UniquenessRule? = nil
    ) {
        self.entity = entity
        self.entityName = entityName
        self.constraint = constraint
        self.values = values
        self.stored = stored
        self.objects = objects
        self.options = options
    }
}

extension Schema {
    /// The constraint that a conflict is about.
    package func constraint(of violation: ConstraintViolation) -> SchemaConstraint? {
        entities[violation.entity].constraints.first {
            $0.names == violation.constraint && $0.options == violation.options
        }
    }
}
