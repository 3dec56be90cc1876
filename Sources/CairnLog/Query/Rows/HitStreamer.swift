// Passes found rows to the caller, in the form that objects keep, in the order in which they were found.
//
// They may be in as many blocks as there are rows. Therefore some are read together: their blocks are looked
// up, then the memory of their cells is prefetched, then that of their bytes, and only then are rows created.
// Consecutive rows of one block are created column by column, unless they are few and its columns are not
// decoded.
//
// Threads: one streamer in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct HitStreamer {
    let reader: StoreReader
    let pinned: PinnedState<EngineState>

    /// Consecutive rows of one block. Its owner retains the block: runs are traversed several times, and
    /// counting references to the blocks each time would cost as much as reading small rows.
    private struct Run {
        let block: Unmanaged<CachedBlock>
        let entity: Int
        /// The index of the first of them among the hits.
        let first: Int
        let slots: UnsafeBufferPointer<UInt16>
        /// The cells of decoded columns; nil if the rows are read individually.
        let cells: UnsafeBufferPointer<CellColumn>?
        let alone: UnsafeBufferPointer<CellReader>
    }

    /// Where rows are created, as long as they belong to one entity.
    private struct Room: ~Copyable {
        let rows: StreamedRows
        var builder: RowCellsBuilder

        init(entity: Int, columns: Int) {
            rows = StreamedRows(entity: entity, columns: columns)
            builder = RowCellsBuilder(columns: columns)
        }
    }

    /// The number of rows that are read together.
    private static let window = 64

    func run(_ hits: [RowHit], _ body: (StreamedRows) -> Void) throws(StoreError) {
        guard let first = hits.first else { return }
        let catalog = pinned.state.catalog
        var room = Room(
            entity: first.entity, columns: catalog.entities[first.entity].columns.count)
        let slots = UnsafeMutablePointer<UInt16>.allocate(capacity: Self.window)
        defer { slots.deallocate() }
        var runs: [Run] = []
        runs.reserveCapacity(min(hits.count, Self.window))
        var blocks: [CachedBlock] = []
        blocks.reserveCapacity(min(hits.count, Self.window))
        defer { withExtendedLifetime(blocks) {} }
        for start in stride(from: 0, to: hits.count, by: Self.window) {
            runs.removeAll(keepingCapacity: true)
            blocks.removeAll(keepingCapacity: true)
            let end = min(start + Self.window, hits.count)
            try find(hits, start..<end, slots, &runs, &blocks, catalog)
            for run in runs {
                run.cells?.prefetch(run.slots)
                for cell in run.alone {
                    for slot in run.slots { cell.prefetch(Int(slot)) }
                }
            }
            for run in runs {
                run.cells?.prefetchBytes(run.slots)
                for cell in run.alone {
                    for slot in run.slots { cell.prefetchBytes(Int(slot)) }
                }
            }
            for run in runs {
                for column in run.cells ?? noCells where column.codes != nil {
                    for slot in run.slots { column.prefetchEntry(Int(slot)) }
                }
                for cell in run.alone {
                    for slot in run.slots { cell.prefetchEntry(Int(slot)) }
                }
            }
            for run in runs {
                let columns = catalog.entities[run.entity].columns
                if room.rows.entity != run.entity {
                    room = Room(entity: run.entity, columns: columns.count)
                }
                let block = run.block.takeUnretainedValue()
                if run.cells != nil {
                    try RowStreamer.stream(
                        block, run.slots, room.rows, catalog, prefetches: false, body)
                    continue
                }
                for hit in hits[run.first..<run.first + run.slots.count] {
                    let cells = try RowReader.cells(
                        columns, catalog, block, hit.cell.slot, &room.builder)
                    room.rows.take(UInt64(hit.number), hit.cell.version, cells)
                    body(room.rows)
                }
            }
        }
    }

    private var noCells: UnsafeBufferPointer<CellColumn> {
        UnsafeBufferPointer(start: nil, count: 0)
    }

    /// Finds the blocks of some rows, and their slots.
    private func find(
        _ hits: [RowHit], _ range: Range<Int>, _ slots: UnsafeMutablePointer<UInt16>,
        _ runs: inout [Run], _ blocks: inout [CachedBlock], _ catalog: Catalog
    ) throws(StoreError) {
        var first = range.lowerBound
        while first < range.upperBound {
            let (handle, entity) = (hits[first].cell.handle, hits[first].entity)
            var next = first
            while next < range.upperBound, hits[next].cell.handle == handle {
                slots[next - range.lowerBound] = UInt16(truncatingIfNeeded: hits[next].cell.slot)
                next += 1
            }
            let block = try reader.block(pinned.state.blocks.entry(handle), in: pinned)
            blocks.append(block)
            let isAlone = block.readsAlone(next - first)
            let columns = catalog.entities[entity].columns
            runs.append(
                Run(
                    block: .passUnretained(block), entity: entity, first: first,
                    slots: UnsafeBufferPointer(
                        start: slots + (first - range.lowerBound), count: next - first),
                    cells: isAlone ? nil : try RowStreamer.cells(block, entity, catalog),
                    alone: UnsafeBufferPointer(
                        start: isAlone
                            ? try block.allReaders(columns, version: catalog.version) : nil,
                        count: isAlone ? columns.count : 0)))
            first = next
        }
    }
}
