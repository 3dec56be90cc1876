// Everything a dictionary store knows, as one plain value.
//
// Nothing here is clever: every question is answered by looking at all objects. That is the point: this is
// what an engine is compared with.

import CairnModel
import CairnStore
import FoundationEssentials

/// One stored object.
struct DictionaryObject: Equatable {
    var entity: Int
    var version: UInt32
    var values: [Value]
}

/// One member of a relationship that is kept as pairs.
struct DictionaryPair: Hashable {
    var source: ObjectID
    var destination: ObjectID
}

/// A whole store at one moment.
struct DictionaryState {
    let identity: StoreIdentity
    var commit: UInt64 = 0
    var objects: [ObjectID: DictionaryObject] = [:]
    /// By index of the schema's pairs.
    var pairs: [Set<DictionaryPair>]
    /// The order of ordered lists; those who are not named come last, by their numbers.
    var orders: [DictionaryList: [ObjectID]] = [:]
    /// Where the ids of objects lead that went in favour of others.
    var redirects: [ObjectID: ObjectID] = [:]

    init(_ schema: Schema, _ identity: StoreIdentity) {
        self.identity = identity
        pairs = Array(repeating: [], count: schema.pairs.count)
    }

    /// The objects of an entity and its descendants, by id.
    func objects(of entity: SchemaEntity) -> [(id: ObjectID, object: DictionaryObject)] {
        objects.filter { entity.family.contains($0.value.entity) }
            .map { (id: $0.key, object: $0.value) }
            .sorted { $0.id.reference < $1.id.reference }
    }

    func members(
        ofRelationship relationship: Int, entity: Int, owner: ObjectID, in schema: Schema
    ) -> [ObjectID] {
        let members: [ObjectID]
        switch schema.entities[entity].relationships[relationship].storage {
        case .column(let column):
            members = objects[owner]?.values[column].reference.map { [$0] } ?? []
        case .inverseColumn(let entity, let column):
            members = objects(of: schema.entities[entity])
                .filter { $0.object.values[column] == .objectID(owner) }.map(\.id)
        case .pairs(let index, let isSource):
            let all = pairs[index]
            let forward = all.filter { $0.source == owner }.map(\.destination)
            let backward = all.filter { $0.destination == owner }.map(\.source)
            if schema.pairs[index].isSymmetric(in: schema) {
                members = Array(Set(forward + backward))
            } else {
                members = isSource ? forward : backward
            }
        case .transient:
            members = []
        }
        let byNumber = members.sorted { $0.reference < $1.reference }
        let description = schema.entities[entity].relationships[relationship]
        guard description.keepsOrder else { return byNumber }
        let list = DictionaryList(
            entity: description.declaringEntity, relationship: relationship, owner: owner)
        let known = orders[list, default: []].filter(Set(members).contains)
        return known + byNumber.filter { !Set(known).contains($0) }
    }

    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int, in schema: Schema)
        -> [ObjectID]
    {
        switch schema.entities[entity].relationships[relationship].storage {
        case .column(let column):
            return objects(of: schema.entities[entity])
                .filter { $0.object.values[column] == .objectID(target) }.map(\.id)
        case .pairs(let index, let isSource):
            return pairs[index].filter { (isSource ? $0.destination : $0.source) == target }
                .map { isSource ? $0.source : $0.destination }
                .sorted { $0.reference < $1.reference }
        case .inverseColumn, .transient:
            return []
        }
    }

    /// The object in the place of one that is gone; nil if there is none.
    func redirected(_ id: ObjectID) -> ObjectID? {
        if objects[id] != nil { return nil }
        var current = id
        while let next = redirects[current] {
            if objects[next] != nil { return next }
            current = next
        }
        return nil
    }

    func row(_ id: ObjectID) -> Row? {
        guard let object = objects[id] else { return nil }
        var builder = RowCellsBuilder(columns: object.values.count)
        for (column, value) in object.values.enumerated() { builder.set(column, value: value) }
        return Row(
            id: id, entity: object.entity, version: object.version, cells: builder.finish())
    }
}

extension Value {
    /// The target of a to-one relationship.
    var reference: ObjectID? {
        if case .objectID(let id) = self { id } else { nil }
    }
}

extension SchemaPairs {
    /// Whether the relationship is its own inverse, so that a pair means the same in both directions.
    func isSymmetric(in schema: Schema) -> Bool {
        guard let back = destinationRelationship,
            case .pairs(_, true) = schema.entities[destination].relationships[back].storage
        else { return false }
        return back == sourceRelationship
    }
}
