// Merging two objects with the same key whose entities differ: a constraint applies to the whole family of the entity that
// declares it, so that a new Dog can meet a stored Cat.
//
//   1. An object is merged into another one only if that can keep everything that was set on it. What it cannot keep is a
//      property that its entity does not share, and a reference by a relationship that may not lead to such an object.
//   2. Otherwise the conflict is an error, whatever the policy does about values. The overwrite policy merges nothing into a
//      stored object: that goes, and the one that is saved takes its place.
//
// Threads: functions of values only.

public import CairnModel

extension ConflictRules {
    /// The columns that two entities of a family share: those of their nearest common ancestor.
    public static func sharedColumns(
        _ one: SchemaEntity, _ other: SchemaEntity, in schema: Schema
    ) -> Range<Int> {
        var current: Int? = one.index
        while let index = current {
            let ancestor = schema.entities[index]
            if other.isKind(of: ancestor) { return ancestor.columns.indices }
            current = ancestor.parent
        }
        return 0..<0
    }

    /// The first column of an object whose value would be lost by merging it into an object of another entity; nil if none
    /// would.
    ///
    /// - Parameters:
    ///   - entity: the entity of the object.
    ///   - values: its values, by column.
    ///   - assigned: the columns that were set, for a new object; nil for a stored one, whose values all count unless they
    ///     are nil or the default.
    ///   - survivor: the entity of the surviving object.
    public static func lostColumn(
        of entity: SchemaEntity, values: [Value], assigned: ColumnSet?, in survivor: SchemaEntity,
        _ schema: Schema
    ) -> Int? {
        if survivor.isKind(of: entity) { return nil }
        let shared = sharedColumns(entity, survivor, in: schema)
        return entity.columns.indices.dropFirst(shared.count).first { column in
            let description = entity.columns[column]
            if values[column].isNull || description.isDerived { return false }
            // A reference has no default: somebody led it there, be it from the other side.
            if description.relationship != nil { return true }
            return assigned?.contains(column) ?? (values[column] != description.defaultValue)
        }
    }
}
