// Merges small blocks, in the commit that creates too many of them.
//
// Whole rows move, with their numbers and versions; directory cells and deaths follow. Indexes refer to
// numbers and are not affected.

import CairnFormat
import CairnStore

extension CommitBuilder {
    /// Merges the small blocks of an entity if there are many.
    mutating func mergeSmallBlocks(of entity: Int) throws(StoreError) {
        try mergeIfMany(.tiny, entity: entity)
        try mergeIfMany(.partial, entity: entity)
    }

    private mutating func mergeIfMany(_ level: BlockLevel, entity: Int) throws(StoreError) {
        if state.blocks.count(ofEntity: entity, level) >= tools.sizes.mergedBlocks {
            try merge(level, entity: entity)
        }
    }

    private mutating func merge(_ level: BlockLevel, entity: Int) throws(StoreError) {
        let handles = state.blocks.blocks(ofEntity: entity, level)
        let known = tools.memory.smallRows.pointee[entity, level]
        if level == .tiny, let known, let blocks = known.pointee.find(handles, in: state.blocks) {
            try merge(blocks, known, level, entity: entity)
        } else {
            try merge(handles, known, level, entity: entity)
        }
        tools.memory.smallRows.pointee.forget(entity, level)
    }

    /// Merges blocks whose rows are known.
    private mutating func merge(
        _ blocks: [SmallRows.Block], _ known: UnsafeMutablePointer<SmallRows>, _ level: BlockLevel,
        entity: Int
    ) throws(StoreError) {
        let batch = known.pointee.batch
        var rows = MovedRows()
        for block in blocks {
            let entry = state.blocks.entry(block.handle)
            for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                let row = block.firstRow + slot
                rows.add(
                    row, number: known.pointee.number(row), version: known.pointee.version(row),
                    length: block.rowLength)
                if rows.isEnough(tools.sizes) {
                    try move(&rows, batch, level, entity, isFull: true)
                }
            }
            kill(block.handle, entry)
        }
        try move(&rows, batch, level, entity, isFull: false)
    }

    /// Merges blocks by reading those whose rows are not known.
    private mutating func merge(
        _ handles: [BlockHandle], _ known: UnsafeMutablePointer<SmallRows>?, _ level: BlockLevel,
        entity: Int
    ) throws(StoreError) {
        let stored = catalog.entities[entity]
        let batch = reader.batches.takeWhole(entity, catalog)
        var rows = MovedRows()
        let known = known.flatMap { $0.pointee.batch.entity === batch.entity ? $0 : nil }
        var cells: [DecodedColumn?] = []
        var position = 0
        for handle in handles {
            let entry = state.blocks.entry(handle)
            if entry.live == 0 { continue }
            if let known,
                let block = known.pointee.find(handle, entry.place, from: &position)
            {
                for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                    let row = block.firstRow + slot
                    known.pointee.copy(row, to: batch)
                    rows.add(
                        batch.rows, number: known.pointee.number(row),
                        version: known.pointee.version(row), length: block.rowLength)
                    try moveIfEnough(&rows, batch, level, entity)
                }
                kill(handle, entry)
                continue
            }
            let block = try block(handle, isPassing: true)
            let numbers = try block.numbers()
            let versions = try block.versions()
            let rowLength = Double(block.head.rawLength) / Double(block.rows)
            cells.removeAll(keepingCapacity: true)
            for column in stored.allColumns { cells.append(try block.column(column)) }
            for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                for index in cells.indices {
                    batch.columns[index].copyCell(from: cells[index], slot, to: batch.rows)
                }
                rows.add(
                    batch.rows, number: numbers.number(slot), version: versions.number(slot),
                    length: rowLength)
                try moveIfEnough(&rows, batch, level, entity)
            }
            kill(handle, entry)
        }
        try move(&rows, batch, level, entity, isFull: false)
        reader.batches.give(batch)
    }

    /// Counts a row that was added to a batch, and writes the rows there if the block is full.
    @inline(__always)
    private mutating func moveIfEnough(
        _ rows: inout MovedRows, _ batch: ColumnBatch, _ level: BlockLevel, _ entity: Int
    ) throws(StoreError) {
        batch.rows += 1
        guard rows.isEnough(tools.sizes) || batch.byteCount > ColumnBatch.largeSize else { return }
        try move(&rows, batch, level, entity, isFull: true)
        batch.reset()
    }

    /// Ends the life of a block whose rows have moved.
    private mutating func kill(_ handle: BlockHandle, _ entry: BlockEntry) {
        if entry.live == entry.rows { return killWhole(handle, entry) }
        for slot in 0..<Int(entry.rows) where entry.isLive(slot) { kill(handle, slot: slot) }
    }

    /// Writes the rows. A block that had no room for more counts as full, otherwise it would be merged again
    /// and again.
    ///
    /// - Parameter level: the level of the blocks that they come from.
    private mutating func move(
        _ moved: inout MovedRows, _ batch: ColumnBatch, _ level: BlockLevel, _ entity: Int,
        isFull: Bool
    ) throws(StoreError) {
        guard !moved.rows.isEmpty else { return }
        try closeBlock(
            openBlock(entity: entity), entity: entity, batch: batch, rows: moved.rows,
            isMoved: true, isFull: isFull, keepsRows: level == .tiny)
        moved.clear()
    }
}
