// One of two compared stores: its rows, and names for objects that mean the same in the other store.
//
// An object is named by the values of its first uniqueness constraint, if its entity has one and no value is
// nil, otherwise by its id. Ids in two stores are unrelated, unless one is a copy of the other.
//
// Keys may refer to other objects, which have keys, too:
//
//   1. The targets of a key are named first, as far as possible.
//   2. A cycle of keys has no first target: every object whose key refers into the cycle names its key's
//      target by id. The name of an object does not depend on the order of naming.
//   3. A long name ends with a hash of the whole name.
//
// Threads: one.

import CairnInspection
import CairnModel
import CairnStore

/// One side of a comparison.
final class ComparedStore {
    let session: StoreSession
    /// The schema of the compared state: a query to the store each time would take longer than reading a
    /// value.
    let schema: Schema
    private let identity: StoreIdentity
    private let snapshot: any StoreSnapshot
    /// The names of objects as values, and as parts of keys that refer to them.
    private var names: [ObjectID: (title: String, part: String)] = [:]
    /// Named objects whose keys lead into a cycle.
    private var endless: Set<ObjectID> = []

    init(_ session: StoreSession) throws {
        self.session = session
        snapshot = try session.store.snapshot()
        schema = snapshot.schema
        identity = session.store.identity
    }

    /// Returns the ids of the objects of exactly this entity.
    func ids(of entity: SchemaEntity) throws -> [ObjectID] {
        try located {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesSubentities = false
            return try snapshot.fetch(fetch).ids
        }
    }

    /// Returns the number of objects of exactly this entity.
    func count(of entity: SchemaEntity) throws -> Int {
        try located {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesSubentities = false
            return try snapshot.count(fetch)
        }
    }

    /// Returns the rows of those objects that exist.
    func rows(_ ids: some Sequence<ObjectID>) throws -> [Row] {
        try located { try snapshot.rows(Array(ids)).compactMap { $0 } }
    }

    /// Returns the members of a relationship by their names; in their order if the relationship is ordered.
    func members(
        _ relationship: Int, of rows: [Row], _ entity: SchemaEntity, isOrdered: Bool
    ) throws -> [[ByteText]] {
        let members = try located {
            try snapshot.members(
                ofRelationship: relationship, entity: entity.index, owners: rows.map(\.id))
        }
        return try members.map { members in
            let names = try members.map { ByteText(text: try name($0)) }
            return isOrdered ? names : names.sorted()
        }
    }

    /// Returns a value as it is stored.
    func stored(_ column: Int, _ row: Row) -> Value {
        row.cells.value(column, of: schema.entities[row.entity], in: identity)
    }

    /// Returns a value; objects have names that are comparable with the other store.
    func value(_ column: Int, _ row: Row) throws -> JSONValue {
        let value = stored(column, row)
        guard case .objectID(let id) = value else { return JSONValue(value) }
        return .string(try name(id))
    }

    /// Returns the key of a row from some of its columns, or its id if there are none or a value is nil.
    func key(_ columns: [Int]?, _ row: Row) throws -> RowKey {
        guard let columns else { return .id(row.id.reference) }
        let values = try columns.map { try value($0, row) }
        return values.contains(.null)
            ? .id(row.id.reference) : .values(values)
    }

    /// Returns the unique name of an object: two objects of an entity with different keys have different
    /// names.
    private func name(_ id: ObjectID) throws -> String {
        if let known = names[id] { return known.title }
        var chain = [try link(id)]
        var onChain: Set<ObjectID> = [id]
        while let top = chain.last {
            if top.references.contains(where: { onChain.contains($0) || endless.contains($0) }) {
                for link in chain {
                    endless.insert(link.id)
                    names[link.id] = name(link) { "p\($0.reference)" }
                }
                break
            }
            if let next = top.references.first(where: { names[$0] == nil }) {
                chain.append(try link(next))
                onChain.insert(next)
                continue
            }
            names[top.id] = name(top) { names[$0]?.part ?? "" }
            onChain.remove(top.id)
            chain.removeLast()
        }
        return names[id]?.title ?? ""
    }

    /// An object with the values of its key.
    private struct Link {
        let id: ObjectID
        /// Nil if the object does not exist.
        var entity: SchemaEntity?
        var values: [Value] = []

        var references: [ObjectID] {
            values.compactMap { if case .objectID(let id) = $0 { id } else { nil } }
        }
    }

    private func link(_ id: ObjectID) throws -> Link {
        guard let row = try rows([id]).first else { return Link(id: id) }
        let entity = schema.entities[row.entity]
        let values = (entity.plainConstraints.first?.columns ?? []).map { stored($0, row) }
        return Link(id: id, entity: entity, values: values.contains(.null) ? [] : values)
    }

    private func name(_ link: Link, _ reference: (ObjectID) -> String) -> (
        title: String, part: String
    ) {
        let id = "p\(link.id.reference)"
        guard let entity = link.entity else { return (id, id) }
        guard !link.values.isEmpty else { return ("\(entity.name) \(id)", "\(entity.name) \(id)") }
        let parts = link.values.map { value in
            if case .objectID(let other) = value { return "(\(reference(other)))" }
            return JSONValue(value).line
        }
        let part = Self.short("\(entity.name) \(parts.joined(separator: ", "))")
        guard case .string(let text)? = link.values.first, link.values.count == 1 else {
            return (part, part)
        }
        // A key that looks like an id is printed in quotation marks.
        let isLikeID = text.hasPrefix("p") && UInt64(text.dropFirst()) != nil
        return (isLikeID ? part : "\(entity.name) \(text)", part)
    }

    /// The maximum size of a name that contains others, in bytes.
    private static let longestPart = 400

    private static func short(_ name: String) -> String {
        guard name.utf8.count > longestPart else { return name }
        var hash = SHA256()
        var text = name
        text.withUTF8 { hash.add(UnsafeRawBufferPointer($0)) }
        return "\(name.prefix(60))… \(hash.hexadecimal())"
    }

    /// Adds the store to an error, since both stores are open.
    private func located<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as StoreError where error.context.path == nil {
            error.context.path = session.path
            throw error
        }
    }
}

/// Identifies a row of one store with a row of another.
enum RowKey {
    case id(UInt64)
    /// The values of a uniqueness constraint.
    case values([JSONValue])

    /// The values as one string, different from that of all other values; nil if it is an id.
    var text: ByteText? {
        guard case .values(let values) = self else { return nil }
        // A line of JSON contains no line break.
        return ByteText(
            text: values.count == 1
                ? values[0].line : values.map(\.line).joined(separator: "\n"))
    }
}
