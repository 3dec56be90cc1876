// Deletes many rows together.
//
//   1. Consecutive rows of one block die together: the block is looked up once, and its bitmap changed once.
//   2. Their keys are gathered, and removed from each unique index partition by partition: removal in the
//      order of rows would wait for memory with every entry.
//
// Between the two, the indexes contain deleted rows: nothing reads them in the meantime.

import CCairn
import CairnFormat
import CairnStore

extension CommitBuilder {
    /// Removes rows from the directory, their blocks and all indexes. Each row must be listed once.
    mutating func delete(_ rows: [(tree: Int, entity: Int, number: UInt32)]) throws(StoreError) {
        let rows = inReadingOrder(rows)
        var deletion = BlockwiseDeletion(catalog)
        var start = 0
        while start < rows.count {
            let tree = rows[start].tree
            let handle = state.directories[tree][rows[start].number].handle
            deletion.slots.removeAll(keepingCapacity: true)
            deletion.numbers.removeAll(keepingCapacity: true)
            var end = start
            while end < rows.count, rows[end].tree == tree {
                let cell = state.directories[tree][rows[end].number]
                if cell.handle != handle { break }
                deletion.slots.append(UInt16(truncatingIfNeeded: cell.slot))
                deletion.numbers.append(rows[end].number)
                end += 1
            }
            // Without a row there is no block.
            if handle != .none { try delete(of: try block(handle), handle, tree: tree, &deletion) }
            start = end
        }
        endDeletion(&deletion)
    }

    /// Removes rows of one block from the directory and the block, and notes the entries to remove from
    /// unique indexes.
    mutating func delete(
        _ slots: UnsafeMutableBufferPointer<UInt16>, of block: CachedBlock, tree: Int,
        _ deletion: inout BlockwiseDeletion
    ) throws(StoreError) {
        guard let first = slots.first else { return }
        let numbers = try block.numbers()
        deletion.slots.removeAll(keepingCapacity: true)
        deletion.numbers.removeAll(keepingCapacity: true)
        deletion.slots.append(contentsOf: slots)
        for slot in slots { deletion.numbers.append(numbers.number(Int(slot))) }
        let handle = state.directories[tree][numbers.number(Int(first))].handle
        guard handle != .none, state.blocks.entry(handle).place == block.place else {
            return contradict("a live row is not where it is listed (DR2)")
        }
        try delete(of: block, handle, tree: tree, &deletion)
    }

    /// Announces that up to all rows of an entity may be deleted.
    mutating func expectDeletion(of entity: Int, _ deletion: inout BlockwiseDeletion) {
        let rows = state.counts[entity]
        if rows < Self.manyRows { return }
        expectDeaths(rows)
        for unique in catalog.entities[entity].uniques { deletion.expect(rows, unique: unique) }
    }

    /// The number of rows from which on it pays to announce them.
    private static let manyRows = 10_000

    /// Removes the noted entries from the unique indexes.
    mutating func endDeletion(_ deletion: inout BlockwiseDeletion) {
        for unique in deletion.leaving.indices where !deletion.leaving[unique].isEmpty {
            let index = state.uniques[unique]
            NumberSort.sort(&deletion.leaving[unique]) {
                index.partition(of: UInt32(truncatingIfNeeded: $0))
            }
            if let number = state.uniques[unique].remove(
                grouped: deletion.leaving[unique], in: &pages, reader.crew)
            {
                contradict("a unique index has no entry for a key of object \(number) (IX1)")
            }
            deletion.leaving[unique] = []
        }
    }

    /// The number of dead rows after which their entries are removed from fetch indexes.
    private static let mostUntold = 65_536

    /// Returns rows in the order in which they are stored, if they are scattered: otherwise each would have
    /// its block looked up and read.
    private func inReadingOrder(_ rows: [(tree: Int, entity: Int, number: UInt32)])
        -> [(tree: Int, entity: Int, number: UInt32)]
    {
        var last = BlockHandle.none
        var turns = 0
        for row in rows {
            let handle = state.directories[row.tree][row.number].handle
            turns += handle == last ? 0 : 1
            last = handle
        }
        guard turns > 64, turns > rows.count / 64 else { return rows }
        return rows.map { ($0.tree, state.directories[$0.tree][$0.number].bits, $0) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    /// Deletes the rows that the deletion lists, all of which are in one block.
    private mutating func delete(
        of block: CachedBlock, _ handle: BlockHandle, tree: Int,
        _ deletion: inout BlockwiseDeletion
    ) throws(StoreError) {
        for (number, slot) in zip(deletion.numbers, deletion.slots) {
            let cell = state.directories[tree][number]
            if cell.handle == handle, cell.slot == Int(slot) { continue }
            return contradict("a live row is not where it is listed (DR2)")
        }
        let entity = catalog.entities[Int(state.blocks.entry(handle).entity)]
        for unique in entity.uniques {
            try addKeys(
                of: deletion.numbers, deletion.slots, block, entity, unique,
                to: &deletion.leaving[unique])
        }
        for reference in entity.references {
            let column = entity.columns[catalog.references[reference].column]
            guard let cells = try block.column(column) else { continue }
            for (number, slot) in zip(deletion.numbers, deletion.slots)
            where !cells.isNil(at: Int(slot)) {
                removeReference(reference, source: number, target: cells.number(Int(slot)))
            }
        }
        kill(handle, slots: deletion.slots)
        for number in deletion.numbers {
            state.directories[tree].set(number, .empty, in: &pages)
        }
        deletedCount += deletion.numbers.count
        deletion.untold += deletion.numbers.count
        if deletion.untold > Self.mostUntold, catalog.hasFetchIndexes {
            try settleFetchIndexes()
            deletion.untold = 0
        }
    }

    /// Adds the entries of a block's rows in a unique index: the number above, half of the hash below.
    private func addKeys(
        of numbers: [UInt32], _ slots: [UInt16], _ block: CachedBlock,
        _ entity: Catalog.StoredEntity, _ unique: Int, to leaving: inout [UInt64]
    ) throws(StoreError) {
        let form = catalog.uniques[unique].form
        let seed = seed
        if form.rule == nil, form.columns.count == 1 {
            let column = form.columns[0]
            let cells = try block.cells(entity.columns[column], at: column).pointee
            if cells.kind.isBytes, cells.externals == nil {
                for (number, slot) in zip(numbers, slots) where !cells.isNil(Int(slot)) {
                    let hash = StoredHash.of(cells.bytes(Int(slot)), seed: seed)
                    leaving.append(UInt64(number) << 32 | hash & 0xFFFF_FFFF)
                }
                return
            }
        }
        var key = KeyBuffer()
        for (number, slot) in zip(numbers, slots)
        where try key.load(block, row: Int(slot), entity: entity, form) {
            leaving.append(UInt64(number) << 32 | key.hash(seed: seed) & 0xFFFF_FFFF)
        }
    }
}
