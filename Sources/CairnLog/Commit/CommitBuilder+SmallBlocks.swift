// Small blocks are merged by the commit that makes too many of them.
//
// Whole rows move, with their numbers and versions; directory cells and deaths follow, indexes name numbers and
// do not notice.

import CairnFormat
import CairnStore

extension CommitBuilder {
    /// Nobody asks for a block without a live row any more: not even its deaths, which the log has.
    mutating func dropDeadBlocks() {
        for handle in deaths.keys where state.blocks.entry(handle).live == 0 {
            state.blocks.remove(handle, in: &pages)
        }
    }

    // MARK: Small blocks

    /// Merges the small blocks of entities that have many of them, so that a million commits of one row do not
    /// make a million blocks. Each row is written at most three times.                              (BL5)
    mutating func mergeSmallBlocks() throws(StoreError) {
        for entity in smallBlockEntities {
            for level in [BlockLevel.tiny, .partial]
            where state.blocks.count(ofEntity: entity, level) >= engine.sizes.mergedBlocks {
                try merge(state.blocks.blocks(ofEntity: entity, level), entity: entity)
            }
        }
    }

    private mutating func merge(_ handles: [BlockHandle], entity: Int) throws(StoreError) {
        let stored = catalog.entities[entity]
        let batch = engine.batches.take(catalog.description(of: entity))
        var rows = MovedRows()
        // Rows are counted by what they took where they were: by their plain bytes a block of rows that encode
        // to little would be cut early, and be a small one again.
        var length = 0.0
        for handle in handles {
            let entry = state.blocks.entry(handle)
            if entry.live == 0 { continue }
            let block = try block(handle, isPassing: true)
            let numbers = try block.numbers()
            let versions = try block.versions()
            let rowLength = Double(block.head.rawLength) / Double(block.rows)
            for slot in 0..<Int(entry.rows) where entry.isLive(slot) {
                for (index, column) in stored.columns.enumerated() {
                    try batch.columns[index].copyCell(from: block, column, slot, to: batch.rows)
                }
                rows.add(
                    batch.rows, number: numbers.number(slot), version: versions.number(slot))
                batch.rows += 1
                kill(handle, slot: slot)
                length += rowLength
                if batch.rows == engine.sizes.rowsPerBlock
                    || length >= Double(engine.sizes.fullRawBytes)
                    || batch.byteCount > ColumnBatch.largeSize
                {
                    try move(&rows, batch, entity, isFull: true)
                    length = 0
                }
            }
        }
        try move(&rows, batch, entity, isFull: false)
        engine.batches.give(batch)
    }

    /// Writes the rows. A block that could not take more is full, or it would be merged again and again.
    private mutating func move(
        _ rows: inout MovedRows, _ batch: ColumnBatch, _ entity: Int, isFull: Bool
    ) throws(StoreError) {
        guard batch.rows > 0 else { return }
        try closeBlock(
            openBlock(entity: entity), entity: entity, batch: batch, selection: rows.selection,
            numbers: rows.numbers, versions: rows.versions, isMoved: true, isFull: isFull)
        batch.reset()
        rows = MovedRows()
    }
}

/// Rows on their way into another block, unchanged.
private struct MovedRows {
    private(set) var selection: [UInt16] = []
    private(set) var numbers: [UInt32] = []
    private(set) var versions: [UInt32] = []

    mutating func add(_ row: Int, number: UInt32, version: UInt32) {
        selection.append(UInt16(row))
        numbers.append(number)
        versions.append(version)
    }
}
