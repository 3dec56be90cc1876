// The differences between the rows of two stores.
//
//   1. The keys of an entity's rows in the second store are listed: the first uniqueness constraint that both
//      stores have, or the ids.
//   2. The rows of the first store are read in portions; each is matched with a row in the list, compared
//      with it property by property, and that row is removed from the list.
//   3. Rows that remain in the list are only in the second store.
//
// The list contains only the key of a row as a string, and its position. Values are compared as they are;
// they are converted to a printable form only if they differ, or refer to objects.
//
// To-many relationships are compared if they are stored as pairs, and from one side; others are columns of
// their destinations. The order of the latter is compared if both stores keep one: only if the members are
// the same. Properties that only one store has are a difference between the schemas.
//
// Threads: one.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore

/// A row that differs between the stores.
struct RowDifference {
    /// A property that differs.
    struct Property {
        let name: String
        let first: JSONValue
        let second: JSONValue
    }

    let entity: String
    /// The names of the key's properties; empty if the row is identified by its id.
    let keyNames: [String]
    let key: RowKey
    let isInFirst: Bool
    let isInSecond: Bool
    /// The properties that differ, if the row is in both stores.
    let properties: [Property]
}

/// Compares the rows of an entity.
struct RowComparison {
    let first: ComparedStore
    let second: ComparedStore
    /// Called for each difference.
    let report: (RowDifference) -> Void
    /// Called with the number of compared rows of the first store.
    let progress: (Int) -> Void

    /// Compares the rows of exactly this entity; pass nil for a store that does not have it.
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

/// The rows of an entity without a match in the other store.
private struct RowList {
    private var ids: [ObjectID] = []
    /// Indexes in the ids, by the string of a key.
    private var places: [ByteText: UInt32] = [:]
    /// The same for rows without a key, by number.
    private var numbers: [UInt64: UInt32] = [:]

    /// Creates an empty list.
    init() {}

    /// Lists all rows of exactly this entity.
    ///
    /// - Parameter columns: the columns of the key; nil if rows are identified by their ids.
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

    /// Removes the row that is the same object as a row of the other store, and returns its id.
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

    /// The remaining rows, in the order of the store.
    var left: [ObjectID] {
        (Array(places.values) + Array(numbers.values)).sorted().map { ids[Int($0)] }
    }
}

extension ComparedStore {
    private static let portion = 1024

    /// Passes the rows of exactly this entity to `body`, in portions.
    func forEachPortion(of entity: SchemaEntity, _ body: ([Row]) throws -> Void) throws {
        try forEachPortion(of: try ids(of: entity), body)
    }

    /// Passes the rows of objects to `body`, in portions.
    func forEachPortion(of ids: [ObjectID], _ body: ([Row]) throws -> Void) throws {
        for start in stride(from: 0, to: ids.count, by: Self.portion) {
            try body(try rows(ids[start..<min(start + Self.portion, ids.count)]))
        }
    }
}

/// The common columns and relationships of an entity in both stores.
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
        /// Whether the members are compared elsewhere, and only their order here.
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
            // Ids of two stores are unrelated.
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

    /// Returns whether two values are printed the same: NaN does not equal itself, and equal strings may have
    /// different bytes.
    private static func isSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
        if case .string(let text) = one, case .string(let other) = other {
            return text.hasSameBytes(as: other)
        }
        return one.line.hasSameBytes(as: other.line)
    }

    /// Returns the properties that differ, row by row.
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
