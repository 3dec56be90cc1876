// Answers the commonest fetch, for the object that has a key, without a plan.
//
// Threads: any; nothing is kept.

import CairnFormat
import CairnModel
import CairnStore

enum KeyFetch {
    /// The answer; nil if the fetch is of another kind.
    static func result(
        _ request: StoreFetch, _ engine: Engine, _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> StoreFetchResult? {
        let catalog = pinned.state.catalog
        guard request.sort.isEmpty, request.limit == nil, request.offset == 0,
            case .comparison(let comparison)? = request.predicate,
            comparison.operator == .equal, comparison.values.count == 1,
            let index = KeyIndex(comparison, entity: request.entity, catalog: catalog)
        else { return nil }
        var key = KeyBuffer()
        // The objects without a key are found in another way.
        guard key.load(comparison.values[0]) else { return nil }
        var result = StoreFetchResult(ids: [], rows: [], plan: catalog.uniques[index.unique].plan)
        let found = try index.find(
            key, pinned.state.uniques[index.unique], pinned.state.directories[index.tree],
            seed: pinned.state.hashSeed, catalog
        ) { cell throws(StoreError) in
            let entry = pinned.state.blocks.entry(cell.handle)
            let entity = Int(entry.entity)
            guard
                entity == request.entity
                    || (request.includesSubentities
                        && catalog.family(of: request.entity).contains(entity))
            else { return nil }
            let block = try engine.block(entry, in: pinned)
            if request.includesRows {
                try RowReader(catalog: catalog, identity: engine.identity, entity: entity)
                    .prefetch(block, cell.slot)
            }
            return (block, entity)
        }
        guard let (hit, block) = found else { return result }
        let id = engine.identity.id(UInt64(hit.number), entity: hit.entity)
        result.ids = [id]
        if request.includesRows {
            let reader = RowReader(
                catalog: catalog, identity: engine.identity, entity: hit.entity)
            var builder = RowCellsBuilder(columns: catalog.entities[hit.entity].columns.count)
            result.rows = [
                Row(
                    id: id, entity: hit.entity, version: hit.cell.version,
                    cells: try reader.cells(block, hit.cell.slot, &builder))
            ]
        }
        return result
    }
}
