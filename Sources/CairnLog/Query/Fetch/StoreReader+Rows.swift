// Reads whole rows: by number, as faults do, by key, or for hits.
//
// Threads: any; nothing is kept.

import CairnFormat
import CairnStore

extension StoreReader {
    /// Returns the row of an object; nil if there is none.
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

    /// Returns the row of a hit in its block.
    func row(_ hit: RowHit, _ block: CachedBlock, _ catalog: Catalog) throws(StoreError)
        -> StreamedRow
    {
        let columns = catalog.entities[hit.entity].columns
        var builder = RowCellsBuilder(columns: columns.count)
        return StreamedRow(
            entity: hit.entity, reference: UInt64(hit.number), version: hit.cell.version,
            cells: try RowReader.cells(columns, catalog, block, hit.cell.slot, &builder))
    }

    /// Passes the row of a hit in its block, read individually.
    func stream(
        _ hit: RowHit, _ block: CachedBlock, _ rows: StreamedRows, _ catalog: Catalog,
        _ body: (StreamedRows) -> Void
    ) throws(StoreError) {
        let row = try row(hit, block, catalog)
        rows.take(row.reference, row.version, row.cells)
        body(rows)
    }

    /// Returns the rows of hits in their order, each with its id.
    ///
    /// - Parameter trace: records which blocks are read, if requested.
    func rows(_ hits: [RowHit], in state: EngineState, trace: QueryTrace? = nil)
        throws(StoreError) -> [Row]
    {
        let catalog = state.catalog
        var rows: [Row] = []
        rows.reserveCapacity(hits.count)
        var rowReader: RowReader?
        var builder = RowCellsBuilder(columns: 0)
        var block: (handle: BlockHandle, block: CachedBlock)?
        for hit in hits {
            if rowReader?.entity != hit.entity {
                rowReader = RowReader(catalog: catalog, identity: identity, entity: hit.entity)
                builder = RowCellsBuilder(columns: catalog.entities[hit.entity].columns.count)
            }
            if block?.handle != hit.cell.handle {
                let entry = state.blocks.entry(hit.cell.handle)
                trace?.read(entry)
                block = (hit.cell.handle, try self.block(entry, in: state))
            }
            guard let rowReader, let block = block?.block else { continue }
            rows.append(
                Row(
                    id: identity.id(UInt64(hit.number), entity: hit.entity),
                    entity: hit.entity, version: hit.cell.version,
                    cells: try rowReader.cells(block, hit.cell.slot, &builder)))
        }
        return rows
    }
}
