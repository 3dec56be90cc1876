// Blocks whose rows are updated together.
//
// The rows stay together in their order, so that columns that do not change stay where they are, and a patch
// refers to them (Format 45), or are copied as they are encoded.

import CairnFormat
import CairnStore

extension CommitBuilder {
    /// Writes a rewritten block that replaces another one. The caller updates the indexes; the keys of fetch
    /// indexes do not change.
    mutating func replace(_ old: BlockHandle, _ entry: BlockEntry, by made: RewrittenBlock)
        throws(StoreError)
    {
        let entity = Int(entry.entity)
        let handle = openBlock(entity: entity)
        let start = log.end.offset
        let place = try log.append(
            made.kind, payload: made.payload.bytes, checksum: made.checksum)
        state.blocks.fill(
            handle, place: place, rows: made.rows, level: .full, commit: log.commit,
            schemaVersion: catalog.version, length: Int(log.end.offset - start),
            hasReferences: made.hasReferences, patched: made.patched,
            borrowedBytes: made.borrowedBytes, in: &pages)
        let tree = catalog.entities[entity].tree
        if entry.live == entry.rows {
            state.directories[tree].set(
                made.numbers, made.versions, handle, rows: made.rows, in: &pages)
        } else {
            for slot in 0..<made.rows {
                if entry.isLive(slot) {
                    state.directories[tree].set(
                        made.numbers[slot],
                        DirectoryCell(handle: handle, slot: slot, version: made.versions[slot]),
                        in: &pages)
                } else {
                    bury(handle, slot: slot)
                }
            }
        }
        state.counts[entity] += Int(entry.live)
        killWhole(old, entry)
        updatedCount += made.count
    }
}
