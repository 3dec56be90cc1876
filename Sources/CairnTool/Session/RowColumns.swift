// The printed columns of an object: its id, its entity, and its values.

import CairnInspection
import CairnModel
import CairnStore

/// The printed columns of an entity's objects, and their form.
struct RowColumns {
    private enum Item {
        case objectID
        case entity
        case value(Int)
    }

    private let session: StoreSession
    private let items: [(name: String, item: Item)]
    private let alignments: [TextTable.Alignment]

    /// Creates columns with these names, in their order; `objectID` and `entity` are also valid, unless an
    /// attribute has that name. Without names: the id, the entity if there are several, and all values.
    init(_ wanted: [String], _ entity: SchemaEntity, _ session: StoreSession) throws {
        self.session = session
        if wanted.isEmpty {
            var items: [(String, Item)] = [("objectID", .objectID)]
            if entity.family.count > 1 { items.append(("entity", .entity)) }
            self.items = items + entity.columns.enumerated().map { ($1.name, .value($0)) }
        } else {
            items = try wanted.map { name in
                if let index = entity.columnIndex(named: name) { return (name, .value(index)) }
                switch name {
                case "objectID": return (name, .objectID)
                case "entity": return (name, .entity)
                default: return (name, .value(try session.column(name, of: entity)))
                }
            }
        }
        alignments = items.map { item in
            guard case .value(let index) = item.item else { return .left }
            switch entity.columns[index].kind {
            case .attribute(.integer16), .attribute(.integer32), .attribute(.integer64),
                .attribute(.double), .attribute(.float), .attribute(.decimal):
                return .right
            default: return .left
            }
        }
    }

    /// Whether the columns require more than an object's id.
    var needsRows: Bool {
        items.contains { if case .objectID = $0.item { false } else { true } }
    }

    /// Returns an empty table for the columns.
    func table(widest: Int) -> TextTable {
        TextTable(
            items.map { PlainText.visible($0.name) }, alignments: alignments, widest: widest)
    }

    /// Returns a row of the table.
    func cells(_ row: Row) -> [String] {
        items.map { item in
            switch item.item {
            case .objectID: "p\(row.id.reference)"
            case .entity: session.schema.entities[row.entity].name
            case .value(let index): PlainText.value(session.value(index, row))
            }
        }
    }

    /// Returns a row as a JSON object.
    func json(_ row: Row, _ printed: (Value) -> JSONValue = { JSONValue($0) }) -> JSONValue {
        .object(
            items.map { item in
                let value: JSONValue =
                    switch item.item {
                    case .objectID: .string("p\(row.id.reference)")
                    case .entity: .string(session.schema.entities[row.entity].name)
                    case .value(let index): printed(session.value(index, row))
                    }
                return .init(key: item.name, value: value)
            })
    }
}
