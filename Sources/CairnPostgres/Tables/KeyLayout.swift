// Where the keys of uniqueness constraints are stored.
//
// A plain constraint is a unique index over its columns. That says the same as the model where values are equal exactly if
// their bytes are, and where none of them is a number that is none. Others (numbers with fractions, dates, constraints with
// options) have a column of their own with the bytes of the key, nil where a row takes no part, and the index is over that.
// Of texts and bytes, which may be long, the index has the beginnings and hashes of the rest (`LongValue`).
//
// Invariants: the same model gives the same keys.
// Threads: a plain value.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// How the database enforces constraints.
struct KeyLayout: Sendable {
    /// How one constraint is kept.
    enum Form: Sendable, Hashable {
        /// With an index over its columns.
        case columns
        /// With an index over a column with that name.
        case column(String)
    }

    /// A constraint, of the entity that declares it.
    struct Key: Sendable {
        let entity: Int
        let constraint: SchemaConstraint
        /// What its bytes are made of.
        let bytes: KeyForm
        let form: Form
        /// The name of the index.
        let index: String
    }

    /// In the order of the entities and of their constraints.
    let keys: [Key]
    private let schema: Schema

    init(_ schema: Schema) {
        self.schema = schema
        var keys: [Key] = []
        for entity in schema.entities {
            var names = SQLNames()
            for constraint in entity.constraints where constraint.declaringEntity == entity.index {
                let words = constraint.names.joined(separator: "+")
                let name = names.give("\(entity.name).\(words)")
                let isPlain =
                    constraint.options == nil
                    && constraint.columns.allSatisfy { Self.isPlain(entity.columns[$0]) }
                    // A part of a hierarchy has it for itself: a column that others have nil in says so.
                    && entity.root == entity.index
                keys.append(
                    Key(
                        entity: entity.index, constraint: constraint,
                        bytes: KeyForm(constraint, of: entity),
                        form: isPlain ? .columns : .column("_key." + name), index: "unique " + name)
                )
            }
        }
        self.keys = keys
    }

    private static func isPlain(_ column: SchemaColumn) -> Bool {
        switch column.kind {
        case .reference: return true
        case .attribute(let type):
            switch type {
            case .integer16, .integer32, .integer64, .string, .boolean, .uuid, .uri, .binary:
                return true
            default: return false
            }
        }
    }

    /// The columns that the table of a hierarchy has for keys.
    func columns(of root: Int) -> [String] { keysWithColumns(of: root).map(\.column) }

    /// The constraints of a hierarchy that have a column, and that.
    func keysWithColumns(of root: Int) -> [(key: Key, column: String)] {
        keys.compactMap { key in
            guard schema.entities[key.entity].root == root, case .column(let name) = key.form else {
                return nil
            }
            return (key, name)
        }
    }

    /// The statement that makes the index of a constraint.
    func statement(_ key: Key, _ layout: TableLayout) -> String {
        let table = layout.tables[layout.table(of: key.entity)]
        return """
            CREATE UNIQUE INDEX \(key.index.quoted) ON \(layout.sql(table.name)) \
            (\(key.elements(layout).joined(separator: ", ")))
            """
    }
}

extension KeyLayout.Key {
    /// What the key is kept in: its columns, or the one with its bytes.
    private func parts(_ layout: TableLayout) -> [(name: String, type: ColumnType)] {
        switch form {
        case .columns:
            constraint.columns.map { column in
                let column = layout.column(column, of: entity)
                return (column.name, column.type)
            }
        case .column(let name): [(name, .bytea)]
        }
    }

    /// Whether the bytes of a key may be more than an index has room for.
    private func isLong(_ part: ColumnType, _ layout: TableLayout) -> LongValue? {
        guard let long = LongValue(part) else { return nil }
        if case .columns = form { return long }
        let hasLong = constraint.columns.contains {
            LongValue(layout.column($0, of: entity).type) != nil
        }
        return hasLong || constraint.columns.count > 16 ? long : nil
    }

    /// The elements of the index.
    fileprivate func elements(_ layout: TableLayout) -> [String] {
        var room = LongValue.most
        var beginnings: [String] = []
        var rests: [String] = []
        for part in parts(layout) {
            guard let long = isLong(part.type, layout) else {
                beginnings.append(part.name.quoted)
                continue
            }
            if room > 0 {
                room -= 1
                beginnings.append(long.beginning(part.name.quoted))
                rests.append(long.rest(part.name.quoted))
            } else {
                beginnings.append(LongValue.whole(part.name.quoted))
            }
        }
        return beginnings + rests
    }

    /// The terms that say of a row under a name that it has the key whose parts stand elsewhere: such that the index is used.
    func terms(_ row: String, _ parts: [String], _ layout: TableLayout) -> [String] {
        var room = LongValue.most
        return zip(self.parts(layout), parts).flatMap { part, other in
            let column = "\(row).\(part.name.quoted)"
            let same = "\(column) = \(other)"
            guard let long = isLong(part.type, layout) else { return [same] }
            room -= 1
            return room >= 0
                ? ["\(long.beginning(column)) = \(long.beginning(other))", same]
                : ["\(LongValue.whole(column)) = \(LongValue.whole(other))", same]
        }
    }
}
