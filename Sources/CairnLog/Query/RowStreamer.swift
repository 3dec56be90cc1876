// Hands over the rows of a fetch in the form that objects keep, block by block.
//
// The columns of a block are looked up once for all its rows. If few of its rows match, all their memory is asked for
// before the first is read.
//
// Threads: one streamer in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct RowStreamer {
    let runner: FetchRunner
    let identity: StoreIdentity

    func run(_ body: (consuming StreamedRow) -> Void) throws(StoreError) {
        if let hits = try runner.indexed()?.hits {
            for row in try runner.rows(hits) {
                body(
                    StreamedRow(
                        entity: row.entity, reference: row.id.reference, version: row.version,
                        cells: row.cells))
            }
            return
        }
        var reader: RowReader?
        var builder = RowCellsBuilder(columns: 0)
        try runner.scan { block, entity, slots throws(StoreError) in
            let columns = runner.catalog.entities[entity].columns
            if reader?.entity != entity {
                reader = RowReader(
                    catalog: runner.catalog, identity: identity, entity: entity)
                builder = RowCellsBuilder(columns: columns.count)
            }
            let cells = UnsafeBufferPointer(
                start: try block.allCells(columns, version: runner.catalog.version),
                count: columns.count)
            if slots.count * 4 < block.rows { prefetch(cells, slots) }
            let (numbers, versions) = (try block.numberCells(), try block.versions())
            for slot in slots {
                let slot = Int(slot)
                let row = try RowReader.cells(cells, block, slot, &builder)
                body(
                    StreamedRow(
                        entity: entity, reference: UInt64(bitPattern: numbers.integer(slot)),
                        version: versions.number(slot), cells: row))
            }
            return true
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
