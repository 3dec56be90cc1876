// One of two stores that are compared: its rows, and names for objects that mean the same in the other one.
//
// An object is named by the values of its first uniqueness constraint, if its entity has one and no value is nil, and by its
// id otherwise. Ids of two stores say nothing about each other, unless one is a copy of the other.
//
// Threads: one.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore

/// A side of a comparison.
final class ComparedStore {
    let session: StoreSession
    private let snapshot: any StoreSnapshot
    private var names: [NamePart: String] = [:]

    init(_ session: StoreSession) throws {
        self.session = session
        snapshot = try session.store.snapshot()
    }

    var schema: Schema { session.schema }

    /// The objects of this very entity, by id.
    func ids(of entity: SchemaEntity) throws -> [ObjectID] {
        try located {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesSubentities = false
            return try snapshot.fetch(fetch).ids
        }
    }

    /// The rows of objects that exist.
    func rows(_ ids: some Sequence<ObjectID>) throws -> [Row] {
        try located { try snapshot.rows(Array(ids)).compactMap { $0 } }
    }

    /// The members of a relationship, by their names; in their order, if it counts.
    func members(
        _ relationship: Int, of rows: [Row], _ entity: SchemaEntity, isOrdered: Bool
    ) throws -> [[String]] {
        let members = try located {
            try snapshot.members(
                ofRelationship: relationship, entity: entity.index, owners: rows.map(\.id))
        }
        return try members.map { members in
            let names = try members.map { try name($0) }
            return isOrdered ? names : names.sorted()
        }
    }

    /// A value, with an object named so that the other store can have the same.
    func value(_ column: Int, _ row: Row) throws -> JSONValue {
        let value = session.value(column, row)
        guard case .objectID(let id) = value else { return JSONValue(value) }
        return .string(try name(id))
    }

    /// The name of a row by some of its columns, or by its id if that is all there is.
    func key(_ columns: [Int]?, _ row: Row) throws -> RowKey {
        guard let columns else { return .id(row.id.reference) }
        let values = try columns.map { try value($0, row) }
        return values.contains(.null)
            ? .id(row.id.reference) : .values(values.map(RowKey.KeyValue.init))
    }

    /// What an object is called, in one way only: two objects of a kind with different keys have different names.
    ///
    /// - Parameter depth: how many objects' names it is a part of.
    private func name(_ id: ObjectID, depth: Int = 0) throws -> String {
        let part = NamePart(id: id, depth: depth)
        if let known = names[part] { return known }
        var name = "p\(id.reference)"
        if let row = try rows([id]).first {
            let entity = schema.entities[row.entity]
            let values = try (entity.constraints.first?.columns ?? []).map { column in
                guard case .objectID(let other) = session.value(column, row) else {
                    return JSONValue(session.value(column, row))
                }
                // Keys may lead round in a circle.
                return .string(
                    depth < Self.deepestName ? try self.name(other, depth: depth + 1) : "…")
            }
            if case .string(let text)? = values.first, values.count == 1 {
                // A key that looks like an id stands in quotation marks.
                let isLikeID = text.hasPrefix("p") && UInt64(text.dropFirst()) != nil
                name = isLikeID ? values[0].line : text
            } else if !values.isEmpty, !values.contains(.null) {
                name = values.map(\.line).joined(separator: ", ")
            }
            name = "\(entity.name) \(name)"
        }
        names[part] = name
        return name
    }

    private static let deepestName = 4

    private struct NamePart: Hashable {
        let id: ObjectID
        let depth: Int
    }

    /// Both stores are open at once: an error says here which of them it is of.
    private func located<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as StoreError where error.context.path == nil {
            error.context.path = session.path
            throw error
        }
    }
}

/// What makes a row of one store and a row of another the same object.
enum RowKey: Hashable {
    case id(UInt64)
    /// The values of a uniqueness constraint.
    case values([KeyValue])

    /// A value that is the same as another if both are the same JSON.
    struct KeyValue: Hashable {
        let value: JSONValue
        let line: String

        init(_ value: JSONValue) {
            self.value = value
            line = value.line
        }

        static func == (left: KeyValue, right: KeyValue) -> Bool { left.line == right.line }

        func hash(into hasher: inout Hasher) { hasher.combine(line) }
    }
}
