// Rows from dictionaries.
//
//   1. Taken over at once, since dictionaries of `Any` cannot be handed to another thread: every value
//      becomes a `Value`, nested dictionaries become dotted keys, and each key is kept once.
//   2. Filled: a key is looked up in the entity when it is first met, and each value converted to the
//      type of its attribute.

import CairnModel

/// Rows from dictionaries, converted to values once so that any thread can use them.
package struct DictionaryRows: Sendable {
    /// What a dictionary says under a key.
    enum Content: Sendable {
        case value(Value)
        /// A value whose type cannot be stored, with the name of the type for the error.
        case unknown(String)
        /// A nested dictionary, whose values are separate cells.
        case group
        /// The target of a relationship.
        case target(RowTarget)
        /// Several targets.
        case targets(RowTargets)
    }

    struct Cell: Sendable {
        /// Which key, as an index of `keys`.
        let key: Int
        let content: Content
    }

    /// Every key that occurs.
    private(set) var keys: [String] = []
    /// The cells of all rows.
    private(set) var cells: [Cell] = []
    /// Where the cells of each row end.
    private(set) var ends: [Int] = []
    private var indexes: [String: Int] = [:]

    init(_ objects: [[String: Any]]) {
        ends.reserveCapacity(objects.count)
        cells.reserveCapacity(objects.count * (objects.first?.count ?? 0))
        for object in objects {
            add(object, prefix: "")
            ends.append(cells.count)
        }
        indexes = [:]
    }

    private mutating func add(_ object: [String: Any], prefix: String) {
        for (key, any) in object {
            let index = self.index(prefix.isEmpty ? key : prefix + key)
            if let value = Value(any: any) {
                cells.append(Cell(key: index, content: .value(value)))
            } else if let group = any as? [String: Any] {
                cells.append(Cell(key: index, content: .group))
                add(group, prefix: keys[index] + ".")
            } else if let target = any as? RowTarget {
                cells.append(Cell(key: index, content: .target(target)))
            } else if let list = any as? [Any] {
                cells.append(Cell(key: index, content: Self.targets(list)))
            } else if let targets = any as? RowTargets {
                cells.append(Cell(key: index, content: .targets(targets)))
            } else {
                cells.append(Cell(key: index, content: .unknown("\(type(of: any))")))
            }
        }
    }

    /// The targets that a list names.
    private static func targets(_ list: [Any]) -> Content {
        var targets: [RowTarget] = []
        for any in list {
            if let value = Value(any: any) {
                guard let target = RowTarget(value) else { return .unknown("list with nil in it") }
                targets.append(target)
            } else if let target = any as? RowTarget {
                targets.append(target)
            } else if let keys = any as? [String: Any] {
                var values: [String: Value] = [:]
                for (name, part) in keys {
                    guard let value = Value(any: part) else {
                        return .unknown("list of \(type(of: part))")
                    }
                    values[name] = value
                }
                targets.append(.keys(values))
            } else {
                return .unknown("list of \(type(of: any))")
            }
        }
        return .targets(.replacing(targets))
    }

    private mutating func index(_ key: String) -> Int {
        // No use in guessing the next key: each dictionary has an order of its own.
        if let known = indexes[key] { return known }
        indexes[key] = keys.count
        keys.append(key)
        return keys.count - 1
    }
}

/// Fills rows from dictionaries.
struct DictionaryFiller: RowFiller {
    /// What a key stands for in the entity.
    private enum Target {
        case column(Int, AttributeType)
        case composite(Range<Int>)
        /// A to-one relationship, by its column.
        case reference(Int)
        /// A part of the key of a relationship's target.
        case part(Int, name: String)
        /// A to-many relationship, by its index.
        case list(Int)
        case refused(String)
    }

    private let rows: DictionaryRows
    private let targets: [Target]
    private var position = 0
    /// By column of a reference, what a row says of its target's key.
    private var parts: [Int: [String: Value]] = [:]

    init(rows: DictionaryRows, entity: SchemaEntity) {
        self.rows = rows
        targets = rows.keys.map { Self.target($0, entity) }
    }

    private static func target(_ key: String, _ entity: SchemaEntity) -> Target {
        if let column = entity.columnIndex(named: key) {
            if entity.columns[column].attribute == nil { return .reference(column) }
            if let reason = entity.columns[column].reasonNotToBeSet { return .refused(reason) }
            if case .attribute(let type) = entity.columns[column].kind {
                return .column(column, type)
            }
        }
        if let leaves = entity.compositeColumns(key) { return .composite(leaves) }
        if let (column, name) = entity.targetPart(key) { return .part(column, name: name) }
        if let list = entity.listIndex(key) { return .list(list) }
        return .refused(entity.reasonForUnknownKey(key))
    }

    mutating func fill(_ batch: ColumnBatch, firstRow: Int) throws(StoreError) -> Bool {
        guard let columns = batch.columns.baseAddress else { return true }
        while batch.rows < ColumnBatch.capacity, !batch.isLarge {
            guard position < rows.ends.count else { return true }
            let start = position == 0 ? 0 : rows.ends[position - 1]
            for cell in rows.cells[start..<rows.ends[position]] {
                if case .list(let list) = targets[cell.key],
                    let members = Self.members(cell.content)
                {
                    batch.lists.pointee.append(members, relationship: list, row: batch.rows)
                    continue
                }
                if let message = set(cell.content, targets[cell.key], columns, batch.rows) {
                    batch.forget(row: batch.rows)
                    parts = [:]
                    var context = StoreError.Context(
                        entity: batch.entity.name, key: rows.keys[cell.key],
                        row: firstRow + batch.rows)
                    if case .value(let value) = cell.content,
                        case .column(_, let type) =
                            targets[cell.key]
                    {
                        context.value = value
                        context.detail =
                            "the \(value.kindName) \(value) is not a value of type \(type.rawValue)"
                    }
                    throw StoreError(.invalidRequest, message, context: context)
                }
            }
            if !parts.isEmpty {
                for (column, values) in parts {
                    columns[column].setLink(.keys(values), row: batch.rows)
                }
                parts = [:]
            }
            position += 1
            batch.rows += 1
        }
        return false
    }

    /// The members that a row says; nil if it says none.
    private static func members(_ content: DictionaryRows.Content) -> RowTargets? {
        switch content {
        case .targets(let targets): targets
        case .value(.null): []
        // An empty list of anything is one of bytes too.
        case .value(.binary(let data)) where data.isEmpty: []
        case .value, .unknown, .group, .target: nil
        }
    }

    /// Sets what a key stands for; a sentence if that is not possible.
    private mutating func set(
        _ content: DictionaryRows.Content, _ target: Target,
        _ columns: UnsafeMutablePointer<ColumnBuffer>, _ row: Int
    ) -> String? {
        switch (target, content) {
        case (.column(let column, let type), .value(let value)):
            if let exact = value.converted(to: type), columns[column].store(exact, row: row) {
                return nil
            }
            return "the \(value.kindName) is not a value of type \(type.rawValue)"
        case (.column(_, let type), .unknown(let name)):
            return "a \(name) is not a value of type \(type.rawValue)"
        case (.column(_, let type), .group):
            return "a dictionary is not a value of type \(type.rawValue)"
        case (.column(_, let type), .targets):
            return "a list is not a value of type \(type.rawValue)"
        case (.column(_, let type), .target):
            return "the target of a relationship is not a value of type \(type.rawValue)"
        case (.reference(let column), .value(let value)):
            columns[column].setLink(RowTarget(value), row: row)
            return nil
        case (.reference(let column), .target(let target)):
            columns[column].setLink(target, row: row)
            return nil
        case (.reference(let column), .group):
            // Its parts follow; an empty one names nothing.
            parts[column, default: [:]] = [:]
            return nil
        case (.reference, .targets):
            return "a list cannot identify the target of a to-one relationship"
        case (.reference, .unknown(let name)):
            return "a \(name) cannot identify the target of a relationship"
        case (.part(let column, let name), .value(let value)):
            parts[column, default: [:]][name] = value
            return nil
        case (.part, _): return "a part of a target's key must be a single value"
        case (.composite, .group): return nil
        case (.composite(let leaves), .value(.null)):
            for column in leaves { columns[column].setNil(row: row) }
            return nil
        case (.composite, _): return "a composite attribute takes a dictionary, not a single value"
        case (.list, .unknown(let name)):
            return "a \(name) cannot identify the members of a relationship"
        case (.list, _): return "the members of a to-many relationship must be a list"
        case (.refused(let reason), _): return reason
        }
    }
}
