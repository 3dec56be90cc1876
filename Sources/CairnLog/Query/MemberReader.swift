// Who is in a relationship: through columns, inverse tables and pairs.

import CairnFormat
import CairnModel
import CairnStore

struct MemberReader {
    let engine: Engine
    let state: EngineState

    private var catalog: Catalog { state.catalog }

    private func number(_ id: ObjectID, entity: Int) throws(StoreError) -> UInt32? {
        if id.isTemporary { return nil }
        guard engine.identity.owns(id, entity: entity) else {
            throw StoreError(
                .foreignObject, "the object belongs to another store or entity",
                context: .init(entity: catalog.schema.entities[entity].name, objectID: id))
        }
        return UInt32(exactly: id.reference)
    }

    /// The members of a relationship of an object, in the order of their numbers.
    func members(_ relationship: Int, entity: Int, owner: ObjectID) throws(StoreError) -> [ObjectID]
    {
        guard let number = try number(owner, entity: entity) else { return [] }
        let description = catalog.schema.entities[entity].relationships[relationship]
        switch description.storage {
        case .transient: return []
        case .column(let column):
            return try target(of: number, entity: entity, column: column).map {
                [engine.identity.id(UInt64($0), entity: description.destination)]
            } ?? []
        case .inverseColumn(let destination, let column):
            return sources(of: number, entity: destination, column: column)
                .map { engine.identity.id(UInt64($0), entity: destination) }
        case .pairs(let pairs, let isSource):
            var members = try ends(pairs, near: isSource ? 0 : 1, of: number)
            if description.inverse != nil, isOwnInverse(description, entity) {
                // One list serves both directions.
                members.append(contentsOf: try ends(pairs, near: 1, of: number))
            }
            return Set(members).sorted().map {
                engine.identity.id(UInt64($0), entity: description.destination)
            }
        }
    }

    private func isOwnInverse(_ relationship: SchemaRelationship, _ entity: Int) -> Bool {
        guard let inverse = relationship.inverse else { return false }
        let other = catalog.schema.entities[relationship.destination].relationships[inverse]
        return other.declaringEntity == relationship.declaringEntity
            && other.description.name == relationship.description.name
    }

    /// The objects whose to-one relationship leads to a target.
    func referrers(_ target: ObjectID, relationship: Int, entity: Int) throws(StoreError)
        -> [ObjectID]
    {
        let description = catalog.schema.entities[entity].relationships[relationship]
        guard let number = try number(target, entity: description.destination) else { return [] }
        switch description.storage {
        case .column(let column):
            return sources(of: number, entity: entity, column: column)
                .map { engine.identity.id(UInt64($0), entity: entity) }
        case .pairs(let pairs, let isSource):
            return try ends(pairs, near: isSource ? 1 : 0, of: number)
                .sorted().map { engine.identity.id(UInt64($0), entity: entity) }
        case .inverseColumn, .transient: return []
        }
    }

    private func target(of number: UInt32, entity: Int, column: Int) throws(StoreError) -> UInt32? {
        let cell = state.directories[catalog.entities[entity].tree][number]
        guard !cell.isEmpty else { return nil }
        let entry = state.blocks.entry(cell.handle)
        let block = try engine.block(entry, in: state)
        guard let cells = try block.column(catalog.entities[Int(entry.entity)].columns[column]),
            !cells.isNil(at: cell.slot)
        else { return nil }
        return cells.number(cell.slot)
    }

    private func sources(of number: UInt32, entity: Int, column: Int) -> [UInt32] {
        guard
            let reference = catalog.entities[entity].references.first(where: {
                catalog.references[$0].column == column
            })
        else { return [] }
        var sources: [UInt32] = []
        state.inverses[reference].sources(of: number, into: &sources)
        guard catalog.references[reference].entity != entity else { return sources }
        // The table holds the rows of all descendants of the declaring entity; only some are asked for.
        let family = Set(catalog.family(of: entity))
        let tree = catalog.entities[entity].tree
        return sources.filter {
            let cell = state.directories[tree][$0]
            return !cell.isEmpty && family.contains(Int(state.blocks.entry(cell.handle).entity))
        }
    }

    /// The far ends of the pairs of an object.
    private func ends(_ pairs: Int, near: Int, of number: UInt32) throws(StoreError) -> [UInt32] {
        let entity = catalog.entityIndex(ofPairs: pairs)
        var result: [UInt32] = []
        for pair in sources(of: number, entity: entity, column: near) {
            if let end = try target(of: pair, entity: entity, column: 1 - near) {
                result.append(end)
            }
        }
        return result
    }
}
