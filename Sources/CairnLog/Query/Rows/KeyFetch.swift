// Executes the most common fetch, for the object with a key, without a plan.
//
// Threads: any; nothing is kept.

import CairnFormat
import CairnModel
import CairnStore

enum KeyFetch {
    /// The result; nil if the fetch is of another kind.
    static func result(
        _ request: StoreFetch, _ reader: StoreReader, _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> StoreFetchResult? {
        let catalog = pinned.catalog
        guard request.sort.isEmpty, request.limit == nil, request.offset == 0,
            case .comparison(let comparison)? = request.predicate,
            comparison.operator == .equal,
            catalog.schema.entities.indices.contains(request.entity)
        else { return nil }
        var key = KeyBuffer()
        guard let index = question(comparison, request.entity, &key, catalog) else {
            return nil
        }
        // A plan that is formatted later retains its parts: no block may be among those.
        let plan = catalog.uniques[index.unique].plan
        var result = StoreFetchResult(ids: [], rows: [], plan: plan)
        let found = try find(
            key, index, request.entity, request.includesSubentities,
            readsRow: request.includesRows, catalog, reader, pinned)
        guard let (hit, block) = found else { return result }
        let id = reader.identity.id(UInt64(hit.number), entity: hit.entity)
        result.ids = [id]
        if request.includesRows {
            let row = try reader.row(hit, block, catalog)
            result.rows = [
                Row(id: id, entity: row.entity, version: row.version, cells: row.cells)
            ]
        }
        return result
    }

    /// Returns the row in the form that objects keep; nil if it must be fetched in another way.
    static func row(
        _ comparison: PredicateNode.Comparison, _ entity: Int, _ includesSubentities: Bool,
        _ reader: StoreReader, _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> FoundRow? {
        let catalog = pinned.catalog
        var key = KeyBuffer()
        guard let index = question(comparison, entity, &key, catalog) else { return nil }
        let found = try find(
            key, index, entity, includesSubentities, readsRow: true, catalog, reader, pinned)
        guard let (hit, block) = found else { return .nothing }
        return .row(try reader.row(hit, block, catalog))
    }

    /// Returns the constraint whose key a comparison tests, and loads the key; nil if it does not test a
    /// single key.
    private static func question(
        _ comparison: PredicateNode.Comparison, _ entity: Int, _ key: inout KeyBuffer,
        _ catalog: Catalog
    ) -> KeyIndex? {
        // Objects without a key are found in another way.
        guard let index = KeyIndex(comparison, entity: entity, catalog: catalog),
            case .constant(let value) = comparison.right, key.load(value)
        else { return nil }
        return index
    }

    /// Finds the object with the key.
    private static func find(
        _ key: borrowing KeyBuffer, _ index: KeyIndex, _ requested: Int,
        _ includesSubentities: Bool, readsRow: Bool, _ catalog: Catalog, _ reader: StoreReader,
        _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> (hit: RowHit, block: CachedBlock)? {
        try index.find(
            key, pinned.unique(index.unique), pinned.directory(index.tree), seed: pinned.hashSeed,
            catalog
        ) { cell throws(StoreError) in
            let entry = pinned.entry(cell.handle)
            let entity = Int(entry.entity)
            guard
                entity == requested
                    || (includesSubentities && catalog.family(of: requested).contains(entity))
            else { return nil }
            let block = try reader.block(entry, in: pinned)
            if readsRow {
                try RowReader.prefetch(catalog.entities[entity].columns, catalog, block, cell.slot)
            }
            return (block, entity)
        }
    }
}
