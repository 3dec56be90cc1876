// How the rows of two stores differ.
//
//   1. The keys of an entity's rows in the second store are listed: the first uniqueness constraint that both stores have,
//      or the ids.
//   2. The rows of the first store come in portions; each finds its other in the list, is compared with it property by
//      property, and is taken off the list.
//   3. What is left on the list is in the second store only.
//
// A list has no more of a row than its key as text, and where it is. Values are compared as they are; only where they differ, or lead
// to objects, is something printable made of them.
//
// To-many relationships are compared where they are kept as pairs, and from one side; others are columns of what they lead to.
// Of the latter the order is compared, if both stores keep one: if the members are the same, but stand otherwise.
// Properties that only one store has are a difference of the schemas.
//
// Threads: one.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore

/// A row that is not the same in both stores.
struct RowDifference {
    /// A property that is not the same.
    struct Property {
        let name: String
        let first: JSONValue
        let second: JSONValue
    }

    let entity: String
    /// The names of what it is told by; empty if that is the id.
    let keyNames: [String]
    let key: RowKey
    let isInFirst: Bool
    let isInSecond: Bool
    /// If it is in both.
    let properties: [Property]
}

/// Compares the rows of an entity.
struct RowComparison {
    let first: ComparedStore
    let second: ComparedStore
    /// Told of each difference.
    let report: (RowDifference) -> Void
    /// Told how many rows of the first store are done.
    let progress: (Int) -> Void

    /// Compares the rows of this very entity; nil where a store does not have it.
    func compare(_ ours: SchemaEntity?, _ theirs: SchemaEntity?) throws {
        guard let name = ours?.name ?? theirs?.name else { return }
        let common = ours?.plainConstraints.first { constraint in
            theirs.map { $0.plainConstraints.contains { $0.names == constraint.names } } ?? true
        }
        let constraint = ours == nil ? theirs?.plainConstraints.first : common
        let names = constraint?.names ?? []
        func columns(_ entity: SchemaEntity?) -> [Int]? {
            names.isEmpty ? nil : entity.map { names.compactMap($0.columnIndex(named:)) }
        }
        func report(
            _ key: RowKey, _ isInFirst: Bool, _ isInSecond: Bool,
            _ properties: [RowDifference.Property] = []
        ) {
            self.report(
                RowDifference(
                    entity: name, keyNames: names, key: key, isInFirst: isInFirst,
                    isInSecond: isInSecond, properties: properties))
        }
        let keys = columns(theirs ?? ours)
        var list = try theirs.map { try RowList(of: second, $0, columns($0)) } ?? RowList()
        var done = 0
        if let ours {
            let pairing = theirs.map { Pairing(first, ours, second, $0) }
            let keys = columns(ours)
            try first.forEachPortion(of: ours) { rows in
                let others = try rows.map { row in try list.take(row, keys, first) }
                let pairs = zip(rows, others).filter { $0.1 != nil }
                let found =
                    try pairing?.differences(
                        pairs.map(\.0), try second.rows(pairs.compactMap(\.1))) ?? []
                var next = found.makeIterator()
                for (row, other) in zip(rows, others) {
                    guard other != nil else {
                        report(try first.key(keys, row), true, false)
                        continue
                    }
                    if let properties = next.next(), !properties.isEmpty {
                        report(try first.key(keys, row), true, true, properties)
                    }
                }
                done += rows.count
                progress(done)
            }
        }
        guard theirs != nil else { return }
        try second.forEachPortion(of: list.left) { rows in
            for row in rows { report(try second.key(keys, row), false, true) }
        }
    }
}

/// The rows of an entity that have not been found in the other store.
private struct RowList {
    private var ids: [ObjectID] = []
    /// Places among the ids by the text of a key.
    private var places: [ByteText: UInt32] = [:]
    /// The same for rows without a key, by number.
    private var numbers: [UInt64: UInt32] = [:]

    /// An empty list.
    init() {}

    /// All rows of this very entity.
    ///
    /// - Parameter columns: those of the key; nil if rows are told by their ids.
    init(of store: ComparedStore, _ entity: SchemaEntity, _ columns: [Int]?) throws {
        ids = try store.ids(of: entity)
        guard let columns else {
            numbers.reserveCapacity(ids.count)
            for (place, id) in ids.enumerated() { numbers[id.reference] = UInt32(place) }
            return
        }
        places.reserveCapacity(ids.count)
        var place: UInt32 = 0
        try store.forEachPortion(of: ids) { rows in
            for row in rows {
                if let text = try store.key(columns, row).text {
                    places[text] = place
                } else {
                    numbers[row.id.reference] = place
                }
                place += 1
            }
        }
    }

    /// Takes the row off the list that is the same object as one of the other store.
    mutating func take(_ row: Row, _ columns: [Int]?, _ store: ComparedStore) throws -> ObjectID? {
        let text = columns == nil ? nil : try store.key(columns, row).text
        let place =
            if let text {
                places.removeValue(forKey: text)
            } else {
                numbers.removeValue(forKey: row.id.reference)
            }
        return place.map { ids[Int($0)] }
    }

    /// What is left, in the order of the store.
    var left: [ObjectID] {
        (Array(places.values) + Array(numbers.values)).sorted().map { ids[Int($0)] }
    }
}

extension ComparedStore {
    private static let portion = 1024

    /// The rows of this very entity.
    func forEachPortion(of entity: SchemaEntity, _ body: ([Row]) throws -> Void) throws {
        try forEachPortion(of: try ids(of: entity), body)
    }

    /// The rows of objects.
    func forEachPortion(of ids: [ObjectID], _ body: ([Row]) throws -> Void) throws {
        for start in stride(from: 0, to: ids.count, by: Self.portion) {
            try body(try rows(ids[start..<min(start + Self.portion, ids.count)]))
        }
    }
}

/// What an entity has in both stores.
private struct Pairing {
    private let first: ComparedStore
    private let second: ComparedStore
    private let ours: SchemaEntity
    private let theirs: SchemaEntity
    private let columns: [(name: String, ours: Int, theirs: Int, isAttribute: Bool)]
    private let relationships: [Relationship]

    private struct Relationship {
        let name: String
        let ours: Int
        let theirs: Int
        let isOrdered: Bool
        /// Whether who is a member is compared elsewhere.
        let isOrderOnly: Bool
    }

    init(
        _ first: ComparedStore, _ ours: SchemaEntity, _ second: ComparedStore,
        _ theirs: SchemaEntity
    ) {
        self.first = first
        self.second = second
        self.ours = ours
        self.theirs = theirs
        columns = ours.columns.enumerated().compactMap { index, column in
            // Ids of two stores say nothing about each other.
            theirs.columnIndex(named: column.name).map {
                (column.name, index, $0, column.attribute != nil)
            }
        }
        relationships = ours.relationships.enumerated().compactMap { index, relationship in
            let name = relationship.description.name
            guard let other = theirs.relationshipIndex(named: name),
                theirs.relationships[other].description.isToMany
            else { return nil }
            let isOrdered =
                relationship.keepsOrder && theirs.relationships[other].keepsOrder
            let isOrderOnly: Bool
            switch relationship.storage {
            case .pairs(_, isSource: true): isOrderOnly = false
            case .pairs, .inverseColumn: isOrderOnly = true
            case .column, .transient: return nil
            }
            if isOrderOnly && !isOrdered { return nil }
            return Relationship(
                name: name, ours: index, theirs: other, isOrdered: isOrdered,
                isOrderOnly: isOrderOnly)
        }
    }

    /// Whether two values are printed alike: NaN is not equal to itself, and texts may be equal that are not the same.
    private static func isSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
        if case .string(let text) = one, case .string(let other) = other {
            return text.hasSameBytes(as: other)
        }
        return one.line.hasSameBytes(as: other.line)
    }

    /// The properties that differ, row by row.
    func differences(_ rows: [Row], _ others: [Row]) throws -> [[RowDifference.Property]] {
        var result: [[RowDifference.Property]] = []
        for (row, other) in zip(rows, others) {
            var properties: [RowDifference.Property] = []
            for column in columns {
                if column.isAttribute,
                    first.stored(column.ours, row) == second.stored(column.theirs, other)
                {
                    continue
                }
                let mine = try first.value(column.ours, row)
                let yours = try second.value(column.theirs, other)
                if !Self.isSame(mine, yours) {
                    properties.append(.init(name: column.name, first: mine, second: yours))
                }
            }
            result.append(properties)
        }
        for relationship in relationships {
            let isOrdered = relationship.isOrdered
            let mine = try first.members(relationship.ours, of: rows, ours, isOrdered: isOrdered)
            let yours = try second.members(
                relationship.theirs, of: others, theirs, isOrdered: isOrdered)
            for index in rows.indices where mine[index] != yours[index] {
                if relationship.isOrderOnly, mine[index].sorted() != yours[index].sorted() {
                    continue
                }
                result[index].append(
                    .init(
                        name: relationship.name,
                        first: .array(mine[index].map { .string($0.text) }),
                        second: .array(yours[index].map { .string($0.text) })))
            }
        }
        return result
    }
}
