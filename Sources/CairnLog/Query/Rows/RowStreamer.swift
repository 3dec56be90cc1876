// Passes the rows of a scan in the form that objects keep, block by block.
//
// The columns of a block are looked up once for all its rows, and the cells of rows are created column by
// column. If few of its rows match, all their memory is prefetched before the first is read.
//
// Threads: one streamer in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct RowStreamer {
    let runner: FetchRunner

    func run(_ body: (StreamedRows) -> Void) throws(StoreError) {
        let room = RowRoom(entities: runner.catalog.entities.count)
        try runner.scan { block, entity, slots throws(StoreError) in
            let rows = room.take(
                entity: entity, columns: runner.catalog.entities[entity].columns.count)
            defer { room.give(rows) }
            try Self.stream(
                block, UnsafeBufferPointer(slots), rows, runner.catalog,
                prefetches: slots.count * 4 < block.rows, body)
            return true
        }
    }

    // MARK: Rows of a block

    /// Returns the columns of a block.
    @inline(__always)
    static func cells(_ block: CachedBlock, _ entity: Int, _ catalog: Catalog)
        throws(StoreError) -> UnsafeBufferPointer<CellColumn>
    {
        let columns = catalog.entities[entity].columns
        return UnsafeBufferPointer(
            start: try block.allCells(columns, version: catalog.version), count: columns.count)
    }

    /// Passes the rows in some slots of a block.
    ///
    /// - Parameter prefetches: whether their memory is prefetched first.
    static func stream(
        _ block: CachedBlock, _ slots: UnsafeBufferPointer<UInt16>, _ rows: StreamedRows,
        _ catalog: Catalog, prefetches: Bool, _ body: (StreamedRows) -> Void
    ) throws(StoreError) {
        let cells = try cells(block, rows.entity, catalog)
        if prefetches {
            cells.prefetch(slots)
            cells.prefetchBytes(slots)
        }
        let (numbers, versions) = (try block.numberCells(), try block.versionCells())
        var next = 0
        while next < slots.count {
            rows.gather(cells, UnsafeBufferPointer(rebasing: slots[next...]))
            if rows.count == 0 {
                // A row with a large value is read individually.
                var builder = RowCellsBuilder(columns: cells.count)
                rows.take(
                    0, 0,
                    try RowReader.cells(
                        catalog.entities[rows.entity].columns, catalog, block,
                        Int(slots[next]), &builder))
            }
            for row in 0..<rows.count {
                let slot = Int(slots[next + row])
                rows.references[row] = UInt64(bitPattern: numbers.integer(slot))
                rows.versions[row] = UInt32(truncatingIfNeeded: versions.integer(slot))
            }
            body(rows)
            next += rows.count
        }
    }
}
