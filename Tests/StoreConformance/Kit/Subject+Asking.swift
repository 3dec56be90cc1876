// What cases ask of a store, with answers that can be compared as text.

import CairnModel
import CairnStore
import Testing

extension Subject {
    /// A fetch by the format of a condition.
    func fetch(
        _ entity: String, _ format: String? = nil, _ arguments: [Value] = []
    ) throws -> StoreFetch {
        StoreFetch(
            entity: try self.entity(entity).index,
            predicate: try format.map { try PredicateNode(format: $0, arguments) })
    }

    /// What the objects are called that a condition finds, in the order of their names or of sort keys.
    func names(
        _ entity: String, _ format: String? = nil, _ arguments: [Value] = [],
        sort: [SortKey]? = nil, _ change: (inout StoreFetch) -> Void = { _ in }
    ) throws -> String {
        var fetch = try fetch(entity, format, arguments)
        fetch.sort = try sort ?? [SortKey(self.entity(entity).columns[0].name)]
        change(&fetch)
        return try names(fetch)
    }

    /// What the objects are called that a fetch finds, in its order.
    func names(_ fetch: StoreFetch, in state: (any StoreSnapshot)? = nil) throws -> String {
        var fetch = fetch
        fetch.includesRows = true
        let snapshot = try state ?? store.snapshot()
        let result = try snapshot.fetch(fetch)
        #expect(result.rows.map(\.id) == result.ids)
        return result.rows.map { name($0) }.joined(separator: " ")
    }

    /// What an object is called.
    func name(_ row: Row) -> String {
        let entity = schema.entities[row.entity]
        return row.cells.value(0, of: entity, in: store.identity).plainText
    }

    /// The objects of these ids, as they are called; "?" for those that are not there.
    func names(of ids: [ObjectID], in state: (any StoreSnapshot)? = nil) throws -> String {
        let snapshot = try state ?? store.snapshot()
        return try snapshot.rows(ids).map { $0.map { name($0) } ?? "?" }.joined(separator: " ")
    }

    /// The object that is called so.
    func id(_ entity: String, _ name: String) throws -> ObjectID {
        try #require(try find(entity, name), "no \(name)")
    }

    /// The object that is called so; nil if there is none.
    func find(_ entity: String, _ name: String) throws -> ObjectID? {
        let entity = try self.entity(entity)
        var value = Value.string(name)
        if entity.name == "Desk" { value = .integer(Int64(name) ?? 0) }
        let fetch = StoreFetch(
            entity: entity.index, predicate: .compare(entity.columns[0].name, .equal, value))
        return try store.snapshot().fetch(fetch).ids.first
    }

    /// The row of the object that is called so.
    func row(_ entity: String, _ name: String) throws -> Row {
        try #require(try store.snapshot().rows([id(entity, name)])[0])
    }

    /// One value of the object that is called so.
    func value(_ entity: String, _ name: String, _ key: String) throws -> Value {
        let row = try row(entity, name)
        let description = schema.entities[row.entity]
        return row.cells.value(
            try #require(description.columnIndex(named: key)), of: description, in: store.identity)
    }

    /// The same as text: that of a reference is what its object is called.
    func text(_ entity: String, _ name: String, _ keys: String...) throws -> String {
        try keys.map { key in
            let value = try value(entity, name, key)
            guard case .objectID(let id) = value else { return value.plainText }
            return try names(of: [id])
        }.joined(separator: " ")
    }

    /// What the members of a relationship of an object are called, in the store's order if it has one.
    func members(_ entity: String, _ name: String, _ key: String) throws -> String {
        let description = try self.entity(entity)
        let index = try #require(description.relationshipIndex(named: key))
        let ids = try store.snapshot().members(
            ofRelationship: index, entity: description.index, owners: [id(entity, name)])
        let names = try names(of: ids[0]).split(separator: " ")
        let isOrdered = description.relationships[index].description.isOrdered
        return (isOrdered ? names : names.sorted()).joined(separator: " ")
    }

    // MARK: Everything

    /// All that is stored, a line for each object: values, references and members by what they are called.
    func content(in state: (any StoreSnapshot)? = nil, versions: Bool = true) throws -> [String] {
        let snapshot = try state ?? store.snapshot()
        var rows: [Row] = []
        for entity in schema.entities where entity.parent == nil {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesRows = true
            rows += try snapshot.fetch(fetch).rows
        }
        let known = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, name($0)) })
        return try rows.map { row in
            let entity = schema.entities[row.entity]
            var words = [entity.name + (versions ? " v\(row.version)" : "")]
            for (column, description) in entity.columns.enumerated() {
                let value = row.cells.value(column, of: entity, in: snapshot.identity)
                if value.isNull { continue }
                var text = value.plainText
                if case .objectID(let id) = value { text = known[id] ?? "?" }
                words.append("\(description.name)=\(text)")
            }
            for (index, relationship) in entity.relationships.enumerated()
            where relationship.description.isToMany {
                let members = try snapshot.members(
                    ofRelationship: index, entity: entity.index, owners: [row.id])[0]
                if members.isEmpty { continue }
                var names = members.map { known[$0] ?? "?" }
                if !relationship.description.isOrdered { names.sort() }
                words.append("\(relationship.description.name)=\(names)")
            }
            return words.joined(separator: " ")
        }.sorted()
    }
}

extension Value {
    /// The value as a case writes it: text as it is.
    var plainText: String {
        switch self {
        case .string(let text): text
        case .binary(let bytes): "<" + bytes.map { "\($0)" }.joined(separator: ".") + ">"
        default: "\(self)"
        }
    }
}
