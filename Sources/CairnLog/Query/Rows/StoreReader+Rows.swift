// Reads one row, in the form that objects keep: that of a number, which is what a fault asks for, or one that was found by its
// key.
//
// Threads: any; nothing is kept.

import CairnFormat
import CairnStore

extension StoreReader {
    /// The row of an object; nil if there is none.
    ///
    /// - Parameter entity: an entity of the object's hierarchy.
    func row(_ number: UInt32, entity: Int, in pinned: PinnedState<EngineState>)
        throws(StoreError) -> StreamedRow?
    {
        let catalog = pinned.catalog
        let cell = pinned.directory(catalog.entities[entity].tree)[number]
        guard !cell.isEmpty else { return nil }
        let entry = pinned.entry(cell.handle)
        let hit = RowHit(number: number, cell: cell, entity: Int(entry.entity))
        return try row(hit, block(entry, in: pinned), catalog)
    }

    /// The row of a hit, in its block.
    func row(_ hit: RowHit, _ block: CachedBlock, _ catalog: Catalog) throws(StoreError)
        -> StreamedRow
    {
        let rowReader = RowReader(catalog: catalog, identity: identity, entity: hit.entity)
        var builder = RowCellsBuilder(columns: catalog.entities[hit.entity].columns.count)
        return StreamedRow(
            entity: hit.entity, reference: UInt64(hit.number), version: hit.cell.version,
            cells: try rowReader.cells(block, hit.cell.slot, &builder))
    }
}
