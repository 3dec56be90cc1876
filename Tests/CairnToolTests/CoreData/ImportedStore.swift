// A store that was brought over, read object by object.

import CairnLog
import CairnModel
import CairnStore
import Testing

/// An imported store.
struct ImportedStore {
    let store: LogStore
    private let snapshot: any StoreSnapshot

    init(_ path: String) throws {
        var options = LogStoreOptions()
        options.isReadOnly = true
        options.followsWriter = false
        store = try LogStore.open(at: path, options: options)
        snapshot = try store.snapshot()
    }

    var schema: Schema { store.schema }

    func entity(_ name: String) throws -> SchemaEntity {
        try #require(schema.entity(named: name), "no entity \(name)")
    }

    /// The objects of an entity alone.
    func rows(_ name: String, subentities: Bool = false) throws -> [Row] {
        var fetch = StoreFetch(entity: try entity(name).index)
        fetch.includesSubentities = subentities
        fetch.includesRows = true
        return try snapshot.fetch(fetch).rows.sorted { $0.id.reference < $1.id.reference }
    }

    /// The numbers of an entity's own objects.
    func numbers(_ name: String) throws -> [UInt64] { try rows(name).map(\.id.reference) }

    func value(_ row: Row, _ property: String) throws -> Value {
        let entity = schema.entities[row.entity]
        let column = try #require(entity.columnIndex(named: property), "no \(property)")
        return row.cells.value(column, of: entity, in: store.identity)
    }

    /// A value of an object; the number of what a relationship leads to.
    func value(_ name: String, _ number: UInt64, _ property: String) throws -> Value {
        let id = store.identity.id(number, entity: try entity(name).index)
        let row = try #require(try snapshot.rows([id])[0], "no \(name) p\(number)")
        return try value(row, property)
    }

    /// The number of the object that a relationship leads to; nil for none.
    func target(_ name: String, _ number: UInt64, _ property: String) throws -> UInt64? {
        guard case .objectID(let id) = try value(name, number, property) else { return nil }
        return id.reference
    }

    /// The numbers of the members of a relationship, in their order.
    func members(_ name: String, _ number: UInt64, _ property: String) throws -> [UInt64] {
        let entity = try entity(name)
        let relationship = try #require(entity.relationshipIndex(named: property))
        let id = store.identity.id(number, entity: entity.index)
        return try snapshot.members(
            ofRelationship: relationship, entity: entity.index, owners: [id])[0].map(\.reference)
    }
}
