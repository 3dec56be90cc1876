// The composition of a uniqueness constraint's keys.
//
// Plain keys are the bytes of the values: see `KeyBuffer`. A constraint with options has keys of another form, which no
// plain constraint can have: every part has its length before it, also if there is one alone; a nil part is a length of all
// ones; and texts are folded if the constraint says so. A row that the constraint's predicate leaves out has no key.
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
    /// The types of the columns that the condition asks; nil for one of which only counts whether it is nil.
    let asked: [AttributeType?]
    /// Whether the key, or whether there is one, depends on a reference where nil counts: one that is cleared may make a key.
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

    /// The form of the keys of a constraint of an entity.
    package convenience init(_ constraint: SchemaConstraint, of entity: SchemaEntity) {
        self.init(constraint.columns, constraint.rule, entity)
    }

    /// Whether a row takes part whatever its values are, as long as none of the key is nil.
    var isWhole: Bool { rule?.condition == nil }

    /// The column of a key that is one alone, without options, if its cells are hashed and compared as they are.
    func plainColumn(of entity: Catalog.StoredEntity) -> Int? {
        guard rule == nil, columns.count == 1 else { return nil }
        let kind = entity.columns[columns[0]].kind
        return kind == .bytes || kind == .integer ? columns[0] : nil
    }

    /// Whether a row's key, or whether it has one, depends on the bytes of a column, and not on its being nil alone.
    func comparesBytes(of column: Int) -> Bool {
        columns.contains(column) || rule?.valueColumns.contains(column) == true
    }
}
