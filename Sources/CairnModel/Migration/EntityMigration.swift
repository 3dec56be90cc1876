// How the columns of each entity are migrated: the part of a migration plan that a store uses.
//
// Threads: values.

/// Where the objects of an entity of the new model, and the values of their columns, come from.
public struct EntityMigration: Sendable, Hashable {
    /// The entity's name in the new model.
    public let name: String
    /// Its name in the old model; nil if it is new.
    public let source: String?
    /// The origin of each of its columns, in the order of ``SchemaEntity/columns``. A new entity has no objects, so the
    /// list says nothing about its columns.
    public let columns: [ColumnMigration]
    /// The names of the old columns that the entity no longer has.
    public let droppedColumns: [String]
    /// The index in the old schema.
    package let sourceIndex: Int?
}

/// Where the values of one column come from.
public struct ColumnMigration: Sendable, Hashable {
    /// Where they come from.
    public enum Origin: Sendable, Hashable {
        /// Nowhere: existing objects get the initial value.
        case initial
        /// From a column of the old model, by its name there.
        case column(String)
        /// From a relationship that the old model stores differently.
        case links
        /// They are computed, like those of a derived attribute.
        case derivation
    }

    /// The column's name in the new model.
    public let name: String
    /// Where its values come from.
    public let origin: Origin
    /// How the old values are converted; nil: they do not change.
    public let conversion: ValueConversion?
    /// The value in objects that were created before the column existed.
    public let initialValue: Value
    /// The value that replaces nil: the default, for an attribute that is no longer optional; otherwise nil.
    public let nilValue: Value
    /// The index of the old column in the old entity.
    package let sourceIndex: Int?
    /// Where references come from that were kept otherwise; empty if they were not. The owner is the object that has the
    /// column.
    package let links: [LinkOrigin]

    /// Whether an object has the same value as before, byte by byte.
    package var keepsValues: Bool {
        if case .column = origin { conversion == nil && nilValue.isNull } else { false }
    }
}

/// Who was connected with whom in the old model, seen from the side that owns the links in the new one.
package struct LinkOrigin: Sendable, Hashable {
    /// How the old model kept the links.
    package enum Form: Sendable, Hashable {
        /// As references in rows of an entity.
        case column(entity: Int, column: Int)
        /// As pairs.
        case pairs(Int)
    }
    /// How the old model kept the links.
    package let form: Form
    /// Whether the owner is who has the reference, or the source of the pairs; else he is at the other end.
    package let ownerIsHolder: Bool
    /// Whether the relationship is its own inverse: then the owner may be at either end.
    package let isSymmetric: Bool
    /// The entity, in the old schema, of whose objects, with those that inherit from it, the links were.
    package let owner: Int

    /// The same links seen from the other side.
    package func turned(owner: Int) -> LinkOrigin {
        LinkOrigin(
            form: form, ownerIsHolder: !ownerIsHolder, isSymmetric: isSymmetric, owner: owner)
    }
}

/// Where the pairs of a relationship come from. The owner is their source.
package struct PairsMigration: Sendable, Hashable {
    /// What they are made of; empty if the relationship is new.
    package let origins: [LinkOrigin]
    /// The old pairs, if they are the same rows.
    package let kept: Int?
    /// Whether source and destination have changed sides in those.
    package let isTurned: Bool
}

/// Where the index of a uniqueness constraint comes from.
package struct ConstraintMigration: Sendable, Hashable {
    /// The entity that declares it, in the new schema.
    package let entity: Int
    /// Its place among that entity's constraints, inherited ones counted.
    package let constraint: Int
    /// The old constraint with the same keys of the same rows, by the declaring entity and its place there.
    package let source: Source?
    /// Whether two rows may have the same key.
    package let mayFail: Bool

    package struct Source: Sendable, Hashable {
        package let entity: Int
        package let constraint: Int
    }
}

/// Where the number space of a hierarchy comes from.
package struct HierarchyMigration: Sendable, Hashable {
    /// The root, in the new schema.
    package let root: Int
    /// The root, in the old schema, of the hierarchy whose objects it has; nil if it is new.
    package let source: Int?
    /// Whether it has a number space of its own now: the old one stays with another part of the old hierarchy.
    package let isSplitOff: Bool
}
