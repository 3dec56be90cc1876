// Blocks all of whose rows are updated at once.
//
// The rows stay together in their order, so that whatever does not change is copied as it is encoded. This is where a writer of
// patches would come in: it would name the block and give the columns alone.

import CairnFormat
import CairnStore

extension CommitBuilder {
    /// Writes a full block anew in which every row lives and gets a new version: with other values in some columns, those of the first
    /// rows of a batch. Indexes are the caller's business; the keys of fetch indexes do not change.
    mutating func rewrite(
        _ old: BlockHandle, _ entry: BlockEntry, _ block: CachedBlock, _ replaced: [Int],
        of batch: ColumnBatch, numbers: [UInt32], versions: [UInt32]
    ) throws(StoreError) {
        let entity = Int(entry.entity)
        let stored = catalog.entities[entity]
        let handle = openBlock(entity: entity)
        let written = try engine.memory.encoder.pointee.rewrite(
            block, replaced, of: batch, entity: stored, schemaVersion: catalog.version,
            versions: versions, to: &log)
        state.blocks.fill(
            handle, place: written.place, rows: numbers.count, level: .full, commit: log.commit,
            schemaVersion: catalog.version, length: written.length,
            hasReferences: written.hasReferences, in: &pages)
        for slot in numbers.indices {
            state.directories[stored.tree].set(
                numbers[slot],
                DirectoryCell(handle: handle, slot: slot, version: versions[slot]), in: &pages)
        }
        state.counts[entity] += numbers.count
        killWhole(old, entry)
        updatedCount += numbers.count
    }
}
