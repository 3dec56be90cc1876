// The block in which rows of a batch are staged, and how it stays open from one batch to the next.

import CairnModel
import CairnStore

extension BatchInserter {
    mutating func stage(
        _ row: Int, _ number: UInt32, version: UInt32, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        // Together with rows of other batches, they may exceed a block.
        if room.rows.count >= builder.tools.sizes.rowsPerBlock { try close(&builder) }
        if room.rows.isEmpty { handle = builder.openBlock(entity: entityIndex) }
        let slot = room.rows.count
        room.rows.add(row, number: number, version: version)
        builder.state.directories[entity.tree].set(
            number, DirectoryCell(handle: handle, slot: slot, version: version), in: &builder.pages)
    }

    /// Copies the staged rows of a batch, so that the block stays open. Returns false if it must be closed
    /// instead.
    mutating func gather(_ batch: ColumnBatch, _ builder: borrowing CommitBuilder) -> Bool {
        let sizes = builder.tools.sizes
        if room.rows.isEmpty { return true }
        guard room.rows.count * 2 <= sizes.rowsPerBlock, entity.references.isEmpty, links == nil,
            !isConcerned
        else { return false }
        let target: ColumnBatch
        if let gathered {
            target = gathered
        } else {
            target = builder.reader.batches.take(
                batch.entity, orders: batch.columns.count - batch.entity.columns.count)
            gathered = target
        }
        takeOver(batch, into: target)
        // A block of wide rows is full sooner.
        return target.byteCount * 4 <= sizes.bytesPerBlock
    }

    private mutating func takeOver(_ batch: ColumnBatch, into target: ColumnBatch) {
        for slot in gatheredRows..<room.rows.count {
            let row = Int(room.rows.selection[slot])
            for column in target.columns.indices {
                target.columns[column].copyCell(
                    of: batch.columns.baseAddress.unsafelyUnwrapped + column, from: row, to: slot)
            }
            room.rows.selection[slot] = UInt16(slot)
        }
        gatheredRows = room.rows.count
        target.rows = gatheredRows
    }

    /// Writes the open block.
    mutating func close(_ builder: inout CommitBuilder) throws(StoreError) {
        guard !room.rows.isEmpty else { return }
        if let links, !links.waits.isEmpty, let batch {
            try settleWaiting(links, batch, &builder)
        }
        if let gathered, gatheredRows > 0, let batch { takeOver(batch, into: gathered) }
        guard let source = gatheredRows > 0 ? gathered : batch else { return }
        try builder.closeBlock(
            handle, entity: entityIndex, batch: source, rows: room.rows, hasCells: true)
        handle = .none
        room.rows.clear()
        if gatheredRows > 0 {
            gatheredRows = 0
            gathered?.reset()
        }
    }

    /// Writes the gathered rows, when no more rows follow.
    mutating func closeGathered(_ builder: inout CommitBuilder) throws(StoreError) {
        try close(&builder)
        if let gathered { builder.reader.batches.give(gathered) }
        gathered = nil
    }
}
