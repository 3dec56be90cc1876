// Blocks all of whose rows are updated at once.
//
// The rows stay together in their order, so that whatever does not change is copied as it is encoded. This is where a writer of
// patches would come in: it would name the block and give the columns alone.

import CairnFormat
import CairnStore

extension CommitBuilder {
    /// Writes a block that was made anew, in place of a full one in which every row lives. Indexes are the caller's business;
    /// the keys of fetch indexes do not change.
    mutating func replace(_ old: BlockHandle, _ entry: BlockEntry, by made: RewrittenBlock)
        throws(StoreError)
    {
        let entity = Int(entry.entity)
        let handle = openBlock(entity: entity)
        let start = log.end.offset
        let place = try log.append(.block, payload: made.payload.bytes, checksum: made.checksum)
        state.blocks.fill(
            handle, place: place, rows: made.rows, level: .full, commit: log.commit,
            schemaVersion: catalog.version, length: Int(log.end.offset - start),
            hasReferences: made.hasReferences, in: &pages)
        state.directories[catalog.entities[entity].tree].set(
            made.numbers, made.versions, handle, rows: made.rows, in: &pages)
        state.counts[entity] += made.rows
        killWhole(old, entry)
        updatedCount += made.rows
    }
}
