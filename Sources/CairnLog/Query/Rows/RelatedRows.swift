// Passes the rows of the members of one object's to-many relationship, in the form that objects keep.
//
//   1. The list of the members is read.
//   2. Consecutive members in one block are read together: their memory is prefetched, and the cells are
//      created column by column. If only a few rows of a block without decoded columns have been read so far,
//      each is read individually.
//
// Threads: one reading in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct RelatedRows {
    let reader: StoreReader
    let pinned: PinnedState<EngineState>
    let room: RowRoom

    /// The number of rows that are read together.
    private static let group = 64

    func run(_ numbers: [UInt32], entity: Int, _ body: (StreamedRows) -> Void) throws(StoreError) {
        let catalog = pinned.catalog
        let directory = pinned.directory(catalog.entities[entity].tree)
        let slots = UnsafeMutablePointer<UInt16>.allocate(capacity: Self.group)
        defer { slots.deallocate() }
        var next = 0
        while next < numbers.count {
            let handle = directory[numbers[next]].handle
            var count = 0
            while next + count < numbers.count, count < Self.group {
                let cell = directory[numbers[next + count]]
                if cell.isEmpty {
                    throw .damaged("an inverse table names an object that does not exist")
                }
                if cell.handle != handle { break }
                slots[count] = UInt16(truncatingIfNeeded: cell.slot)
                count += 1
            }
            let slots = UnsafeBufferPointer(start: slots, count: count)
            try read(handle, slots, numbers[next..<next + count], directory, catalog, body)
            next += count
        }
    }

    private func read(
        _ handle: BlockHandle, _ slots: UnsafeBufferPointer<UInt16>, _ numbers: ArraySlice<UInt32>,
        _ directory: RowDirectory, _ catalog: Catalog, _ body: (StreamedRows) -> Void
    ) throws(StoreError) {
        let entry = pinned.entry(handle)
        let block = try reader.block(entry, in: pinned)
        let entity = Int(entry.entity)
        let rows = room.take(
            entity: entity, columns: catalog.entities[entity].columns.count)
        defer { room.give(rows) }
        if reader.readsAlone(block, next: slots.count) {
            let columns = catalog.entities[entity].columns
            for slot in slots { try RowReader.prefetch(columns, catalog, block, Int(slot)) }
            for number in numbers {
                let hit = RowHit(number: number, cell: directory[number], entity: entity)
                try reader.stream(hit, block, rows, catalog, body)
            }
            return
        }
        try RowStreamer.stream(
            block, slots, rows, catalog, prefetches: true, body)
    }
}
