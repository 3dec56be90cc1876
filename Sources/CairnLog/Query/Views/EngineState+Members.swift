// The numbers of a relationship's members: through columns, inverse tables and pairs.

import CairnFormat
import CairnModel
import CairnStore

extension EngineState {
    /// Returns the members of an object's relationship, in order, or by number if it is not ordered.
    func members(
        of number: UInt32, _ relationship: SchemaRelationship, entity: Int, _ block: BlockSource
    ) throws(StoreError) -> [UInt32] {
        switch relationship.storage {
        case .transient: return []
        case .column(let column):
            return try target(of: number, entity: entity, column: column, block).map { [$0] } ?? []
        case .inverseColumn(let destination, let column):
            let members = sources(of: number, entity: destination, column: column)
            return relationship.keepsOrder
                ? try sorted(members, entity: destination, column: column, block) : members
        case .pairs(let pairs, let isSource):
            if relationship.keepsOrder {
                let near = isSource ? 0 : 1
                return try orderedEnds(
                    pairs, near: isOwnInverse(relationship) ? [0, 1] : [near], of: number, block)
            }
            var members = try ends(pairs, near: isSource ? 0 : 1, of: number, block)
            if isOwnInverse(relationship) {
                // One list serves both directions.
                members += try ends(pairs, near: 1, of: number, block)
            }
            return Set(members).sorted()
        }
    }

    /// Whether a relationship is its own inverse.
    func isOwnInverse(_ relationship: SchemaRelationship) -> Bool {
        guard let inverse = relationship.inverse else { return false }
        let other = catalog.schema.entities[relationship.destination].relationships[inverse]
        return other.declaringEntity == relationship.declaringEntity
            && other.description.name == relationship.description.name
    }

    /// Returns the number that a to-one column of an object refers to.
    func target(of number: UInt32, entity: Int, column: Int, _ block: BlockSource)
        throws(StoreError) -> UInt32?
    {
        let cell = directories[catalog.entities[entity].tree][number]
        guard !cell.isEmpty else { return nil }
        let concrete = Int(blocks.entry(cell.handle).entity)
        // An object of an ancestor, or of another branch, has no such column.
        guard concrete == entity || catalog.family(of: entity).contains(concrete) else {
            return nil
        }
        let block = try block(cell.handle)
        guard let cells = try block.column(catalog.entities[concrete].columns[column]),
            !cells.isNil(at: cell.slot)
        else { return nil }
        return cells.number(cell.slot)
    }

    /// Returns the objects of an entity and its descendants whose to-one column refers to a number, in the
    /// order of their numbers.
    package func sources(of number: UInt32, entity: Int, column: Int) -> [UInt32] {
        guard let reference = catalog.reference(ofColumn: column, entity: entity) else {
            return []
        }
        var sources: [UInt32] = []
        inverses[reference].sources(of: number, into: &sources)
        guard catalog.references[reference].entity != entity else { return sources }
        // The table contains the rows of all descendants of the declaring entity; only some are requested.
        let family = Set(catalog.family(of: entity))
        let directory = directories[catalog.entities[entity].tree]
        return sources.filter {
            let cell = directory[$0]
            return !cell.isEmpty && family.contains(Int(blocks.entry(cell.handle).entity))
        }
    }

    /// Returns the far ends of the pairs of an object.
    func ends(_ pairs: Int, near: Int, of number: UInt32, _ block: BlockSource)
        throws(StoreError) -> [UInt32]
    {
        let entity = catalog.entityIndex(ofPairs: pairs)
        var result: [UInt32] = []
        for pair in sources(of: number, entity: entity, column: near) {
            if let end = try target(of: pair, entity: entity, column: 1 - near, block) {
                result.append(end)
            }
        }
        return result
    }
}

extension Catalog {
    /// Returns the index of the reference that a to-one column of an entity represents; nil if there is none.
    package func reference(ofColumn column: Int, entity: Int) -> Int? {
        entities[entity].references.first { references[$0].column == column }
    }
}
