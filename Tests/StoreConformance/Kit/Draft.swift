// A save that is put together, against the state of the store in which that began.
//
// Threads: a value.

import CairnModel
import CairnStore
import FoundationEssentials
import Testing

/// A save that is put together.
struct Draft {
    /// What has been said so far.
    var request = SaveRequest()
    /// The state that changes are made against.
    let base: any StoreSnapshot
    /// Temporary ids of another draft are others.
    private let owner = UUID()
    private var entities: [ObjectID: Int] = [:]

    fileprivate init(_ base: any StoreSnapshot) { self.base = base }

    // MARK: Objects

    /// A new object. Keys of relationships that are kept as pairs take lists of ids.
    @discardableResult
    mutating func insert(
        _ name: String, _ values: [String: Any?], id given: ObjectID? = nil, version: UInt32 = 0
    ) throws -> ObjectID {
        let entity = try #require(base.schema.entity(named: name))
        let id =
            given
            ?? ObjectID(
                temporary: UInt64(request.inserted.count + 1),
                hierarchy: base.identity.hierarchies[entity.index], context: owner)
        entities[id] = entity.index
        var all = entity.columns.map(\.defaultValue)
        let set = try entity.columnValues(values)
        for (column, value) in set { all[column] = value }
        request.inserted.append(
            .init(
                id: id, entity: entity.index, values: all, assigned: ColumnSet(set.keys),
                version: version))
        try link(id, entity, values)
        return id
    }

    /// Other values of a stored object.
    mutating func update(_ id: ObjectID, _ values: [String: Any?]) throws {
        let row = try row(id)
        let entity = base.schema.entities[row.entity]
        let changes = try entity.columnValues(values).sorted { $0.key < $1.key }
        request.updated.append(
            .init(
                id: id, entity: row.entity, base: row,
                changes: changes.map { (column: $0.key, value: $0.value) }))
        try link(id, entity, values)
    }

    /// A stored object that goes. What leads to it is the business of other parts of the save.
    mutating func delete(_ id: ObjectID) throws {
        let row = try row(id)
        request.deleted.append(
            .init(id: id, entity: row.entity, version: row.version, base: row))
    }

    /// A stored object that must be as it was.
    mutating func lock(_ id: ObjectID) throws {
        let row = try row(id)
        request.locked.append(.init(id: id, entity: row.entity, base: row))
    }

    // MARK: Relationships

    private mutating func link(_ id: ObjectID, _ entity: SchemaEntity, _ values: [String: Any?])
        throws
    {
        for (key, value) in values where entity.columnIndex(named: key) == nil {
            let members = try #require(value as? [ObjectID], "no column and no list: \(key)")
            for member in members { try pair(id, key, member) }
        }
    }

    /// A member of a relationship that is kept as pairs comes or goes.
    mutating func pair(
        _ owner: ObjectID, _ key: String, _ member: ObjectID, isAddition: Bool = true
    ) throws {
        let entity = base.schema.entities[try entity(of: owner)]
        let index = try #require(entity.relationshipIndex(named: key))
        guard case .pairs(let pairs, let isSource) = entity.relationships[index].storage else {
            throw StoreError(.invalidRequest, "\(key) is not kept as pairs")
        }
        request.pairChanges.append(
            .init(
                pairs: pairs, source: isSource ? owner : member,
                destination: isSource ? member : owner, isAddition: isAddition))
    }

    /// The members of an ordered relationship in another order.
    mutating func order(_ owner: ObjectID, _ key: String, _ members: [ObjectID]) throws {
        let entity = base.schema.entities[try entity(of: owner)]
        let index = try #require(entity.relationshipIndex(named: key))
        let old = try base.members(
            ofRelationship: index, entity: entity.index, owners: [owner])
        request.orderChanges.append(
            .init(
                owner: owner, entity: entity.index, relationship: index, members: members,
                base: old[0]))
    }

    private func row(_ id: ObjectID) throws -> Row { try #require(try base.rows([id])[0]) }

    private func entity(of id: ObjectID) throws -> Int {
        if let known = entities[id] { return known }
        return try row(id).entity
    }
}

extension Subject {
    /// Begins a save.
    func draft() throws -> Draft { Draft(try store.snapshot()) }

    /// Saves what was put together.
    @discardableResult
    func save(_ draft: Draft, _ policy: MergePolicyKind? = nil) throws -> SaveResult {
        var request = draft.request
        if let policy { request.resolution = .policy(policy) }
        switch try store.save(request) {
        case .saved(let result): return result
        case .conflicts(let conflicts):
            throw StoreError(.saveConflicts, "conflicts were reported", conflicts: conflicts)
        }
    }

    /// Puts a save together and saves it.
    @discardableResult
    func save(_ policy: MergePolicyKind? = nil, _ body: (inout Draft) throws -> Void) throws
        -> SaveResult
    {
        var draft = try draft()
        try body(&draft)
        return try save(draft, policy)
    }

    /// Saves one new object; gives its permanent id.
    @discardableResult
    func insert(_ entity: String, _ values: [String: Any?]) throws -> ObjectID {
        var draft = try draft()
        let id = try draft.insert(entity, values)
        let result = try save(draft)
        return try #require(result.permanentIDs[id])
    }

    /// Saves other values of one object, which is found by what it is called.
    @discardableResult
    func update(_ entity: String, _ name: String, _ values: [String: Any?]) throws -> SaveResult {
        let id = try id(entity, name)
        return try save { try $0.update(id, values) }
    }

    /// Saves that one object is gone.
    @discardableResult
    func delete(_ entity: String, _ name: String) throws -> SaveResult {
        let id = try id(entity, name)
        return try save { try $0.delete(id) }
    }
}
