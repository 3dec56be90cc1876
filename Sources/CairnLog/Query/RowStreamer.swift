// Hands over the rows of a fetch in the form that objects keep, block by block.
//
// The columns of a block are looked up once for all its rows, and the cells of rows are made column by column. If few of
// its rows match, all their memory is asked for before the first is read.
//
// Threads: one streamer in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct RowStreamer {
    let runner: FetchRunner

    func run(_ body: (StreamedRows) -> Void) throws(StoreError) {
        var known: [StreamedRows?] = Array(
            repeating: nil, count: runner.catalog.entities.count)
        func rows(of entity: Int) -> StreamedRows {
            if let rows = known[entity] { return rows }
            let made = StreamedRows(
                entity: entity, columns: runner.catalog.entities[entity].columns.count)
            known[entity] = made
            return made
        }
        if let hits = try runner.indexed()?.hits {
            for row in try runner.rows(hits) {
                let rows = rows(of: row.entity)
                rows.take(row.id.reference, row.version, row.cells)
                body(rows)
            }
            return
        }
        try runner.scan { block, entity, slots throws(StoreError) in
            try stream(block, UnsafeBufferPointer(slots), rows(of: entity), body)
            return true
        }
    }

    private func stream(
        _ block: CachedBlock, _ slots: UnsafeBufferPointer<UInt16>, _ rows: StreamedRows,
        _ body: (StreamedRows) -> Void
    ) throws(StoreError) {
        let columns = runner.catalog.entities[rows.entity].columns
        let cells = UnsafeBufferPointer(
            start: try block.allCells(columns, version: runner.catalog.version),
            count: columns.count)
        if slots.count * 4 < block.rows { prefetch(cells, slots) }
        let (numbers, versions) = (try block.numberCells(), try block.versions())
        var next = 0
        while next < slots.count {
            rows.gather(cells, UnsafeBufferPointer(rebasing: slots[next...]))
            if rows.count == 0 {
                // A row with a large value is read by itself.
                var builder = RowCellsBuilder(columns: columns.count)
                rows.take(
                    0, 0, try RowReader.cells(cells, block, Int(slots[next]), &builder))
            }
            for row in 0..<rows.count {
                let slot = Int(slots[next + row])
                rows.references[row] = UInt64(bitPattern: numbers.integer(slot))
                rows.versions[row] = versions.number(slot)
            }
            body(rows)
            next += rows.count
        }
    }

    private func prefetch(
        _ cells: UnsafeBufferPointer<CellColumn>, _ slots: UnsafeBufferPointer<UInt16>
    ) {
        for column in cells {
            for slot in slots { column.prefetch(Int(slot)) }
        }
        for column in cells where column.kind == .bytes {
            for slot in slots { column.prefetchBytes(Int(slot)) }
        }
    }
}
