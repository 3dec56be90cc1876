// The content of a state, as lines that do not depend on a store's representation.
//
//   1. One line per object, by hierarchy, then by number, as in the canonical export, but without the keys
//      that order lists.
//   2. One line per list of many-to-many and ordered relationships, by their names, then by the owner's
//      number. Members of an unordered list are sorted by number.
//
// Two stores of different kinds with the same objects therefore have the same lines.
//
// Threads: one.

import CairnLog
import CairnModel
import CairnStore

/// Writes the lines of a state.
struct ContentLines {
    private static let rowsAtOnce = 1024

    private let session: StoreSession
    private let snapshot: any StoreSnapshot
    private var schema: Schema { snapshot.schema }

    init(_ session: StoreSession, _ snapshot: any StoreSnapshot) {
        self.session = session
        self.snapshot = snapshot
    }

    /// Returns whether the canonical export of a store contains its representation of lists.
    static func areNeeded(for schema: Schema) -> Bool {
        !schema.pairs.isEmpty || schema.orderedReferences.contains { !$0.isEmpty }
    }

    /// Passes the lines to `body` in pieces, after a line about the store.
    func write(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var lines = CanonicalLines()
        lines.appendHead(schema: 0)
        let roots = schema.entities.filter { $0.parent == nil }.sorted {
            snapshot.identity.hierarchies[$0.index] < snapshot.identity.hierarchies[$1.index]
        }
        let names = schema.entities.map { $0.columns.map(\.name) }
        for root in roots {
            for part in try parts(of: root.index) {
                for case let row? in try snapshot.rows(part) {
                    let entity = schema.entities[row.entity]
                    lines.append(
                        entity: entity.name, number: UInt32(clamping: row.id.reference),
                        version: row.version, names: names[row.entity],
                        values: entity.columns.indices.map { session.value($0, row) })
                }
                try lines.give(body)
            }
        }
        for list in lists {
            for part in try parts(of: list.entity) {
                let members = try snapshot.members(
                    ofRelationship: list.relationship, entity: list.entity, owners: part)
                for (owner, members) in zip(part, members) where !members.isEmpty {
                    let numbers = members.map(\.reference)
                    lines.append(
                        relationship: list.name, of: owner.reference,
                        members: list.isOrdered ? numbers : numbers.sorted())
                }
                try lines.give(body)
            }
        }
        try lines.give(all: true, body)
    }

    private struct List {
        let name: String
        let entity: Int
        let relationship: Int
        let isOrdered: Bool
    }

    private var lists: [List] {
        schema.entities.flatMap { entity in
            entity.relationships.enumerated().compactMap { index, relationship -> List? in
                guard relationship.declaringEntity == entity.index else { return nil }
                let isListed =
                    if case .pairs(_, isSource: true) = relationship.storage { true } else {
                        relationship.keepsOrder
                    }
                guard isListed else { return nil }
                return List(
                    name: "\(entity.name).\(relationship.description.name)", entity: entity.index,
                    relationship: index, isOrdered: relationship.keepsOrder)
            }
        }.sorted { $0.name < $1.name }
    }

    /// Returns the objects of an entity and its subentities in portions, sorted by number.
    private func parts(of entity: Int) throws -> [[ObjectID]] {
        let ids = try snapshot.fetch(StoreFetch(entity: entity)).ids.sorted {
            $0.reference < $1.reference
        }
        return stride(from: 0, to: ids.count, by: Self.rowsAtOnce).map {
            Array(ids[$0..<min($0 + Self.rowsAtOnce, ids.count)])
        }
    }
}
