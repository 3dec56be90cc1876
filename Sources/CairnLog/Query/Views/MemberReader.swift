// The members of a relationship: through columns, inverse tables and pairs.

import CairnFormat
import CairnModel
import CairnStore

struct MemberReader {
    let reader: StoreReader
    let state: EngineState

    private var catalog: Catalog { state.catalog }

    private func number(_ id: ObjectID, entity: Int) throws(StoreError) -> UInt32? {
        if id.isTemporary { return nil }
        guard reader.identity.owns(id, entity: entity) else {
            throw .foreign(id, catalog.schema.entities[entity])
        }
        return UInt32(exactly: id.reference)
    }

    /// Returns the members of an object's relationship, in order, or by number if it is not ordered.
    func members(_ relationship: Int, entity: Int, owner: ObjectID) throws(StoreError) -> [ObjectID]
    {
        guard let number = try number(owner, entity: entity) else { return [] }
        let description = catalog.schema.entities[entity].relationships[relationship]
        return try state.members(of: number, description, entity: entity) {
            handle throws(StoreError) in try block(handle)
        }.map { reader.identity.id(UInt64($0), entity: description.destination) }
    }

    private func block(_ handle: BlockHandle) throws(StoreError) -> CachedBlock {
        try reader.block(state.blocks.entry(handle), in: state)
    }

    /// Returns the objects whose to-one relationship refers to a target.
    func referrers(_ target: ObjectID, relationship: Int, entity: Int) throws(StoreError)
        -> [ObjectID]
    {
        let description = catalog.schema.entities[entity].relationships[relationship]
        guard let number = try number(target, entity: description.destination) else { return [] }
        switch description.storage {
        case .column(let column):
            return state.sources(of: number, entity: entity, column: column)
                .map { reader.identity.id(UInt64($0), entity: entity) }
        case .pairs(let pairs, let isSource):
            return try state.ends(pairs, near: isSource ? 1 : 0, of: number) {
                handle throws(StoreError) in try block(handle)
            }.sorted().map { reader.identity.id(UInt64($0), entity: entity) }
        case .inverseColumn, .transient: return []
        }
    }
}

extension StoreError {
    /// The error for an owner or target that does not belong to an entity of this store.
    static func foreign(_ id: ObjectID, _ entity: SchemaEntity) -> StoreError {
        StoreError(
            .foreignObject, "the object belongs to another store or entity",
            context: .init(entity: entity.name, objectID: id))
    }
}
