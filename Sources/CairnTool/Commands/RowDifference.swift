// How the rows of two stores differ.
//
//   1. The rows of an entity in the second store are listed by key: the first uniqueness constraint that both stores have,
//      or the id.
//   2. The rows of the first store come in portions; each finds its other in the list, is compared with it property by
//      property, and is taken off the list.
//   3. What is left on the list is in the second store only.
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
    private static let portion = 1024

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
        func columns(_ entity: SchemaEntity) -> [Int]? {
            names.isEmpty ? nil : names.compactMap(entity.columnIndex(named:))
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
        var list: [RowKey: ObjectID] = [:]
        var order: [RowKey] = []
        if let theirs {
            try forEachPortion(of: second, theirs) { rows in
                for row in rows {
                    let key = try second.key(columns(theirs), row)
                    list[key] = row.id
                    order.append(key)
                }
            }
        }
        var done = 0
        if let ours {
            let pairing = theirs.map { Pairing(first, ours, second, $0) }
            try forEachPortion(of: first, ours) { rows in
                let keys = try rows.map { try first.key(columns(ours), $0) }
                let others = keys.map { list.removeValue(forKey: $0) }
                let pairs = zip(rows, others).filter { $0.1 != nil }
                let found =
                    try pairing?.differences(
                        pairs.map(\.0), try second.rows(pairs.compactMap(\.1))) ?? []
                var next = found.makeIterator()
                for (key, other) in zip(keys, others) {
                    guard other != nil else {
                        report(key, true, false)
                        continue
                    }
                    if let properties = next.next(), !properties.isEmpty {
                        report(key, true, true, properties)
                    }
                }
                done += rows.count
                progress(done)
            }
        }
        for key in order where list[key] != nil { report(key, false, true) }
    }

    private func forEachPortion(
        of store: ComparedStore, _ entity: SchemaEntity, _ body: ([Row]) throws -> Void
    ) throws {
        let ids = try store.ids(of: entity)
        for start in stride(from: 0, to: ids.count, by: Self.portion) {
            try body(try store.rows(ids[start..<min(start + Self.portion, ids.count)]))
        }
    }
}

/// What an entity has in both stores.
private struct Pairing {
    private let first: ComparedStore
    private let second: ComparedStore
    private let ours: SchemaEntity
    private let theirs: SchemaEntity
    private let columns: [(name: String, ours: Int, theirs: Int)]
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
            theirs.columnIndex(named: column.name).map { (column.name, index, $0) }
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

    /// The properties that differ, row by row.
    func differences(_ rows: [Row], _ others: [Row]) throws -> [[RowDifference.Property]] {
        var result: [[RowDifference.Property]] = []
        for (row, other) in zip(rows, others) {
            var properties: [RowDifference.Property] = []
            for column in columns {
                let mine = try first.value(column.ours, row)
                let yours = try second.value(column.theirs, other)
                // NaN is not equal to itself, but it is the same value.
                if mine != yours, mine.line != yours.line {
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
                        name: relationship.name, first: .array(mine[index].map { .string($0) }),
                        second: .array(yours[index].map { .string($0) })))
            }
        }
        return result
    }
}
