// Rows given as dictionaries.

import CairnModel

/// Rows given as dictionaries, converted to values once so that they can be handed to any thread.
package struct DictionaryRows: Sendable {
    /// A value that has no place in a store is kept by the name of its type, to be named in the error.
    enum Cell: Sendable {
        case value(Value)
        case unknown(String)
    }

    let rows: [[(key: String, cell: Cell)]]

    init(_ objects: [[String: Any]]) {
        rows = objects.map { object in
            object.map { key, any in
                (key, Value(any: any).map(Cell.value) ?? .unknown("\(Swift.type(of: any))"))
            }
        }
    }
}

/// Fills rows from dictionaries.
struct DictionaryFiller: RowFiller {
    let rows: DictionaryRows
    let entity: SchemaEntity
    var position = 0

    init(rows: DictionaryRows, entity: SchemaEntity) {
        self.rows = rows
        self.entity = entity
    }

    mutating func fill(_ writer: borrowing RowWriter, row: Int) throws -> Bool {
        guard position < rows.rows.count else { return true }
        defer { position += 1 }
        for (key, cell) in rows.rows[position] {
            guard let column = entity.columnIndex(named: key) else {
                throw StoreError(
                    .invalidRequest, "the entity has no stored attribute of this name",
                    context: .init(entity: entity.name, key: key, row: row))
            }
            guard case .attribute(let type) = entity.columns[column].kind else {
                throw StoreError(
                    .invalidRequest, "a batch insert does not set relationships",
                    context: .init(entity: entity.name, key: key, row: row))
            }
            switch cell {
            case .value(let value):
                guard let exact = value.converted(to: type), writer.set(column, exact) else {
                    throw StoreError(
                        .invalidRequest, "\(value) is not a value of type \(type.rawValue)",
                        context: .init(entity: entity.name, key: key, row: row))
                }
            case .unknown(let name):
                throw StoreError(
                    .invalidRequest, "a \(name) is not a value of type \(type.rawValue)",
                    context: .init(entity: entity.name, key: key, row: row))
            }
        }
        return false
    }
}
