// Writes rows that are collected in a separate batch as blocks of the main log.

package import CairnStore

extension CommitBuilder {
    /// Adds the row whose cells are in a filler's batch, and writes a block if it is full.
    package mutating func add(_ number: UInt32, version: UInt32, to filler: inout BlockFiller)
        throws(StoreError)
    {
        filler.add(number, version: version)
        if isFull(filler) { try write(&filler) }
    }

    /// Whether the block is full.
    func isFull(_ filler: BlockFiller) -> Bool {
        filler.batch.rows == tools.sizes.rowsPerBlock
            || filler.batch.byteCount > tools.sizes.bytesPerBlock
    }

    /// Writes the rows as a block, if there are any.
    mutating func write(_ filler: inout BlockFiller) throws(StoreError) {
        if filler.rows.isEmpty { return }
        try closeBlock(
            openBlock(entity: filler.entity), entity: filler.entity, batch: filler.batch,
            rows: filler.rows)
        filler.clear()
    }

    /// Writes the rows as blocks, each with as many as its byte budget allows.
    package mutating func writeParts(_ filler: inout BlockFiller) throws(StoreError) {
        var start = 0
        while start < filler.rows.count {
            let end = filler.batch.endOfBlock(from: start, sizes: tools.sizes)
            let isWhole = start == 0 && end == filler.rows.count
            try closeBlock(
                openBlock(entity: filler.entity), entity: filler.entity, batch: filler.batch,
                rows: isWhole ? filler.rows : filler.rows.part(start..<end))
            start = end
        }
        filler.clear()
    }

    /// Writes the remaining rows, and returns the batch to the pool.
    package mutating func finish(_ filler: inout BlockFiller) throws(StoreError) {
        try write(&filler)
        reader.batches.give(filler.batch)
    }
}
