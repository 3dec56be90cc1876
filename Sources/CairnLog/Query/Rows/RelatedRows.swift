// Hands over the rows that a to-many relationship of one object leads to, in the form that objects keep.
//
//   1. The list of the members is gone through.
//   2. Members that follow each other in one block are read together: their memory is asked for, and the cells are made
//      column by column.
//
// Threads: one reading in one thread.

import CairnFormat
import CairnModel
import CairnStore

struct RelatedRows {
    let engine: Engine
    let pinned: PinnedState<EngineState>
    let room: RowRoom

    /// So many rows are read together.
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
            try read(handle, UnsafeBufferPointer(start: slots, count: count), catalog, body)
            next += count
        }
    }

    private func read(
        _ handle: BlockHandle, _ slots: UnsafeBufferPointer<UInt16>, _ catalog: Catalog,
        _ body: (StreamedRows) -> Void
    ) throws(StoreError) {
        let entry = pinned.entry(handle)
        let block = try engine.block(entry, in: pinned)
        let entity = Int(entry.entity)
        let rows = room.take(
            entity: entity, columns: catalog.entities[entity].columns.count)
        defer { room.give(rows) }
        try RowStreamer.stream(
            block, slots, rows, catalog, prefetches: true, body)
    }
}

extension Engine {
    /// Hands over the rows that a relationship of an object leads to in the newest published state; false if they are to be
    /// asked for in another way.
    func related(
        _ relationship: Int, entity: Int, owner: UInt64, most: Int, _ room: RowRoom,
        _ body: (StreamedRows) -> Void
    ) throws(StoreError) -> Bool {
        let pinned = registry.pin()
        let catalog = pinned.catalog
        let description = catalog.schema.entities[entity].relationships[relationship]
        guard case .inverseColumn(let destination, let column) = description.storage,
            let number = UInt32(exactly: owner),
            let reference = catalog.reference(ofColumn: column, entity: destination),
            // Else the table has the rows of others too.
            catalog.references[reference].entity == destination
        else { return false }
        return try withWholeState { () throws(StoreError) in
            let inverse = pinned.inverse(reference)
            let count = inverse.count(of: number)
            if count > most { return false }
            if count == 0 { return true }
            var numbers: [UInt32] = []
            numbers.reserveCapacity(count)
            inverse.sources(of: number, into: &numbers)
            if description.keepsOrder {
                numbers = try inOrder(numbers, entity: destination, column: column, pinned)
            }
            try RelatedRows(engine: self, pinned: pinned, room: room)
                .run(numbers, entity: destination, body)
            return true
        }
    }
}

extension Engine {
    @inline(never)
    private func inOrder(
        _ numbers: [UInt32], entity: Int, column: Int, _ pinned: PinnedState<EngineState>
    ) throws(StoreError) -> [UInt32] {
        let state = pinned.state
        return try state.sorted(numbers, entity: entity, column: column) {
            handle throws(StoreError) in
            try block(state.blocks.entry(handle), in: state)
        }
    }
}

// Code that asks for several parts of a state in one function copies all of it; these copy one part each.
extension PinnedState<EngineState> {
    @inline(never) fileprivate var catalog: Catalog { state.catalog }

    @inline(never) fileprivate func inverse(_ reference: Int) -> InverseTable {
        state.inverses[reference]
    }

    @inline(never) fileprivate func directory(_ tree: Int) -> RowDirectory {
        state.directories[tree]
    }

    @inline(never) fileprivate func entry(_ handle: BlockHandle) -> BlockEntry {
        state.blocks.entry(handle)
    }
}
