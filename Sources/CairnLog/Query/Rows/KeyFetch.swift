// Answers the commonest fetch, for the object that has a key, without a plan.
//
// Threads: any; nothing is kept.

import CairnFormat
import CairnModel
import CairnStore

enum KeyFetch {
    /// The answer; nil if the fetch is of another kind.
    static func result(
        _ request: StoreFetch, _ reader: StoreReader, _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> StoreFetchResult? {
        guard request.sort.isEmpty, request.limit == nil, request.offset == 0,
            case .comparison(let comparison)? = request.predicate,
            comparison.operator == .equal,
            pinned.state.catalog.schema.entities.indices.contains(request.entity),
            let found = try find(
                comparison, request.entity, request.includesSubentities,
                readsRow: request.includesRows, reader, pinned)
        else { return nil }
        // What is put into words later keeps what it is made of: no block is to be among that.
        let plan = found.plan
        var result = StoreFetchResult(ids: [], rows: [], plan: plan)
        guard let (hit, block) = found.row else { return result }
        let id = reader.identity.id(UInt64(hit.number), entity: hit.entity)
        result.ids = [id]
        if request.includesRows {
            let row = try reader.row(hit, block, pinned.state.catalog)
            result.rows = [
                Row(id: id, entity: row.entity, version: row.version, cells: row.cells)
            ]
        }
        return result
    }

    /// The row in the form that objects keep; nil if it is to be asked for in another way.
    static func row(
        _ comparison: PredicateNode.Comparison, _ entity: Int, _ includesSubentities: Bool,
        _ reader: StoreReader, _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> FoundRow? {
        guard
            let found = try find(
                comparison, entity, includesSubentities, readsRow: true, reader, pinned)
        else { return nil }
        guard let (hit, block) = found.row else { return .nothing }
        return .row(try reader.row(hit, block, pinned.state.catalog))
    }

    private struct Found {
        let row: (hit: RowHit, block: CachedBlock)?
        let plan: String
    }

    /// What has the key; nil if the comparison is no question of one key.
    private static func find(
        _ comparison: PredicateNode.Comparison, _ requested: Int, _ includesSubentities: Bool,
        readsRow: Bool, _ reader: StoreReader, _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> Found? {
        let catalog = pinned.state.catalog
        guard let index = KeyIndex(comparison, entity: requested, catalog: catalog) else {
            return nil
        }
        var key = KeyBuffer()
        // The objects without a key are found in another way.
        guard case .constant(let value) = comparison.right, key.load(value) else { return nil }
        // One that was folded into another stands for that.
        if case .objectID = value, pinned.state.redirects != nil { return nil }
        let found = try index.find(
            key, pinned.state.uniques[index.unique], pinned.state.directories[index.tree],
            seed: pinned.state.hashSeed, catalog
        ) { cell throws(StoreError) in
            let entry = pinned.state.blocks.entry(cell.handle)
            let entity = Int(entry.entity)
            guard
                entity == requested
                    || (includesSubentities && catalog.family(of: requested).contains(entity))
            else { return nil }
            let block = try reader.block(entry, in: pinned)
            if readsRow {
                try RowReader(catalog: catalog, identity: reader.identity, entity: entity)
                    .prefetch(block, cell.slot)
            }
            return (block, entity)
        }
        return Found(row: found, plan: catalog.uniques[index.unique].plan)
    }
}
