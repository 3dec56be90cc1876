// Many rows that are deleted at once.
//
//   1. Rows of one block that follow each other die together: the block is looked up once, and its bitmap changed once.
//   2. Their keys are gathered, and leave each unique index in its own order: what leaves in the order of rows would wait for
//      memory with every entry.
//
// Between the two the indexes name rows that are gone: nobody asks them meanwhile.

import CCairn
import CairnFormat
import CairnStore

extension CommitBuilder {
    /// Takes rows out of the directory, where they are and of all indexes. Each is named once.
    mutating func delete(_ rows: [(tree: Int, entity: Int, number: UInt32)]) throws(StoreError) {
        let rows = inReadingOrder(rows)
        var leaving: [[UInt64]] = Array(repeating: [], count: catalog.uniques.count)
        var slots: [UInt16] = []
        var untold = 0
        var start = 0
        while start < rows.count {
            let tree = rows[start].tree
            let handle = state.directories[tree][rows[start].number].handle
            slots.removeAll(keepingCapacity: true)
            var end = start
            while end < rows.count, rows[end].tree == tree {
                let cell = state.directories[tree][rows[end].number]
                if cell.handle != handle { break }
                slots.append(UInt16(truncatingIfNeeded: cell.slot))
                end += 1
            }
            // Without a row there is no block.
            if handle != .none { try delete(rows[start..<end], slots, of: handle, &leaving) }
            untold += end - start
            if untold > Self.mostUntold, catalog.hasFetchIndexes {
                try settleFetchIndexes()
                untold = 0
            }
            start = end
        }
        for unique in leaving.indices where !leaving[unique].isEmpty {
            NumberSort.sort(&leaving[unique]) { UInt32(truncatingIfNeeded: $0) }
            for entry in leaving[unique] {
                removeKey(
                    UInt64(UInt32(truncatingIfNeeded: entry)),
                    number: UInt32(truncatingIfNeeded: entry >> 32), unique: unique)
            }
        }
    }

    /// After so many rows what they had in fetch indexes is taken out.
    private static let mostUntold = 65_536

    /// Rows in the order in which they lie, if they lie scattered: each would have its block looked up and read.
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

    private mutating func delete(
        _ rows: ArraySlice<(tree: Int, entity: Int, number: UInt32)>, _ slots: [UInt16],
        of handle: BlockHandle, _ leaving: inout [[UInt64]]
    ) throws(StoreError) {
        let entity = catalog.entities[Int(state.blocks.entry(handle).entity)]
        let block = try block(handle)
        for unique in entity.uniques {
            try addKeys(of: rows, slots, block, entity, unique, to: &leaving[unique])
        }
        for reference in entity.references {
            let column = entity.columns[catalog.references[reference].column]
            guard let cells = try block.column(column) else { continue }
            for (row, slot) in zip(rows, slots) where !cells.isNil(at: Int(slot)) {
                removeReference(
                    reference, source: row.number, target: cells.number(Int(slot)))
            }
        }
        kill(handle, slots: slots)
        for row in rows { state.directories[row.tree].set(row.number, .empty, in: &pages) }
        deletedCount += rows.count
    }

    /// Adds the entries that rows of a block have in a unique index: the number above, half of the hash below.
    private func addKeys(
        of rows: ArraySlice<(tree: Int, entity: Int, number: UInt32)>, _ slots: [UInt16],
        _ block: CachedBlock, _ entity: Catalog.StoredEntity, _ unique: Int,
        to leaving: inout [UInt64]
    ) throws(StoreError) {
        let form = catalog.uniques[unique].form
        let seed = seed
        if form.rule == nil, form.columns.count == 1 {
            let column = form.columns[0]
            let cells = try block.cells(entity.columns[column], at: column).pointee
            if cells.kind.isBytes, cells.externals == nil {
                for (row, slot) in zip(rows, slots) where !cells.isNil(Int(slot)) {
                    let hash = KeyBuffer.hash(cells.bytes(Int(slot)), seed: seed)
                    leaving.append(UInt64(row.number) << 32 | hash & 0xFFFF_FFFF)
                }
                return
            }
        }
        var key = KeyBuffer()
        for (row, slot) in zip(rows, slots)
        where try key.load(block, row: Int(slot), entity: entity, form) {
            leaving.append(UInt64(row.number) << 32 | key.hash(seed: seed) & 0xFFFF_FFFF)
        }
    }
}
