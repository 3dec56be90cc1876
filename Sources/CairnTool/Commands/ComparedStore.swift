// One of two stores being compared: its rows, and names for objects that mean the same in the other store.
//
// An object is named by the values of its first uniqueness constraint, if its entity has one and no value is nil,
// otherwise by its id. Ids in two stores are unrelated, unless one is a copy of the other.
//
// Keys may refer to other objects, which have keys, too:
//
//   1. The targets of a key are named first, as far as possible.
//   2. In a cycle of keys there is no first: every object that leads into the cycle names its key's target by id. An
//      object has the same name whichever one is named first.
//   3. A long name ends in a hash of all of it.
//
// Threads: one.

import CairnInspection
import CairnModel
import CairnStore

/// A side of a comparison.
final class ComparedStore {
    let session: StoreSession
    /// That of the state that is compared: asking the store for it each time would take longer than reading a value.
    let schema: Schema
    private let identity: StoreIdentity
    private let snapshot: any StoreSnapshot
    /// What objects are called where they are a value, and what a key that leads to them has of them.
    private var names: [ObjectID: (title: String, part: String)] = [:]
    /// Named objects whose keys lead on to a circle.
    private var endless: Set<ObjectID> = []

    init(_ session: StoreSession) throws {
        self.session = session
        snapshot = try session.store.snapshot()
        schema = snapshot.schema
        identity = session.store.identity
    }

    /// The objects of this very entity, by id.
    func ids(of entity: SchemaEntity) throws -> [ObjectID] {
        try located {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesSubentities = false
            return try snapshot.fetch(fetch).ids
        }
    }

    /// How many objects of this very entity there are.
    func count(of entity: SchemaEntity) throws -> Int {
        try located {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesSubentities = false
            return try snapshot.count(fetch)
        }
    }

    /// The rows of objects that exist.
    func rows(_ ids: some Sequence<ObjectID>) throws -> [Row] {
        try located { try snapshot.rows(Array(ids)).compactMap { $0 } }
    }

    /// The members of a relationship, by their names; in their order, if it counts.
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

    /// A value as it is stored.
    func stored(_ column: Int, _ row: Row) -> Value {
        row.cells.value(column, of: schema.entities[row.entity], in: identity)
    }

    /// A value, with an object named so that the other store can have the same.
    func value(_ column: Int, _ row: Row) throws -> JSONValue {
        let value = stored(column, row)
        guard case .objectID(let id) = value else { return JSONValue(value) }
        return .string(try name(id))
    }

    /// The name of a row by some of its columns, or by its id if that is all there is.
    func key(_ columns: [Int]?, _ row: Row) throws -> RowKey {
        guard let columns else { return .id(row.id.reference) }
        let values = try columns.map { try value($0, row) }
        return values.contains(.null)
            ? .id(row.id.reference) : .values(values)
    }

    /// What an object is called, in one way only: two objects of a kind with different keys have different names.
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
        /// Nil if there is no such object.
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
        // A key that looks like an id stands in quotation marks.
        let isLikeID = text.hasPrefix("p") && UInt64(text.dropFirst()) != nil
        return (isLikeID ? part : "\(entity.name) \(text)", part)
    }

    /// The most bytes of a name that is made of others.
    private static let longestPart = 400

    private static func short(_ name: String) -> String {
        guard name.utf8.count > longestPart else { return name }
        var hash = SHA256()
        var text = name
        text.withUTF8 { hash.add(UnsafeRawBufferPointer($0)) }
        return "\(name.prefix(60))… \(hash.hexadecimal())"
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
enum RowKey {
    case id(UInt64)
    /// The values of a uniqueness constraint.
    case values([JSONValue])

    /// The values as one text, which other values have not; nil if it is an id.
    var text: ByteText? {
        guard case .values(let values) = self else { return nil }
        // No line of JSON has a line break in it.
        return ByteText(
            text: values.count == 1
                ? values[0].line : values.map(\.line).joined(separator: "\n"))
    }
}
