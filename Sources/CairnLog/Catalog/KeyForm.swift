// The composition of a uniqueness constraint's keys.
//
// Plain keys are the bytes of the values: see `KeyBuffer`. A constraint with options has keys of another
// form, which no plain constraint can have: every part is preceded by its length, even if it is the only one;
// a nil part is a length of all ones; and strings are folded if the constraint requires that. A row that the
// constraint's predicate excludes has no key.
//
// Threads: immutable, so any.

import CairnFormat
package import CairnModel
import CairnStore

/// The columns of a constraint, and its options. A class, so that loading keys counts one reference.
package final class KeyForm: Sendable {
    /// The columns of the key, by index in the entity and its descendants.
    package let columns: [Int]
    /// The columns that a row's key, and whether it has one, depend on.
    package let watched: [Int]
    /// The options; nil if there are none.
    let rule: KeyRule?
    /// The types of the columns that the condition tests; nil for one that is only tested for nil.
    let asked: [AttributeType?]
    /// Whether the key, or its existence, depends on a reference and nil counts: clearing it may create a
    /// key.
    let watchesReferences: Bool

    init(_ columns: [Int], _ rule: KeyRule?, _ entity: SchemaEntity?) {
        self.columns = columns
        self.rule = rule
        let asked = rule?.conditionColumns ?? []
        watched = columns + asked.filter { !columns.contains($0) }
        self.asked = asked.map { column in
            guard rule?.valueColumns.contains(column) == true,
                case .attribute(let type)? = entity?.columns[column].kind
            else { return nil }
            return type
        }
        watchesReferences =
            rule != nil && watched.contains { entity?.columns[$0].attribute == nil }
    }

    /// Creates the form of the keys of a constraint of an entity.
    package convenience init(_ constraint: SchemaConstraint, of entity: SchemaEntity) {
        self.init(constraint.columns, constraint.rule, entity)
    }

    /// Whether every row whose key has no nil takes part, whatever its values.
    var isWhole: Bool { rule?.condition == nil }

    /// The column of a key with a single column and no options, if its cells are hashed and compared as they
    /// are.
    func plainColumn(of entity: Catalog.StoredEntity) -> Int? {
        guard rule == nil, columns.count == 1 else { return nil }
        let kind = entity.columns[columns[0]].kind
        return kind == .bytes || kind == .integer ? columns[0] : nil
    }

    /// Whether a row's key, or its existence, depends on the bytes of a column, and not only on whether it is
    /// nil.
    func comparesBytes(of column: Int) -> Bool {
        columns.contains(column) || rule?.valueColumns.contains(column) == true
    }
}
