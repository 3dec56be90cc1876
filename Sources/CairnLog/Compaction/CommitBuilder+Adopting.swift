// The effects of compaction on a state: rows move, segments are removed.
//
// Whole rows move, with their numbers and versions; directory cells and deaths follow. Indexes refer to row
// numbers, so they do not change.

import CairnFormat
import CairnStore

extension CommitBuilder {
    /// Publishes a part of a side segment. A row moves if it is still live at the position from which it was copied;
    /// otherwise its copy is dead from the start.
    mutating func adopt(_ moved: MovedPart) throws(StoreError) {
        try log.append(.adopt) { writer throws(StoreError) in
            AdoptPayload(parts: [moved.part]).encode(to: &writer)
        }
        state.segments.adopt(moved.segment, end: moved.part.end, chain: moved.part.endChain)
        if let place = moved.schema { state.catalog = catalog.placed(at: place) }
        // Newer metadata may have been committed in the meantime; then these are no longer in force.
        if let metadata = moved.metadata, metadata.revision == catalog.metadata?.revision {
            state.catalog = catalog.with(metadata)
        }
        // Changes deleted from the history in the meantime stay deleted.
        for moved in moved.history where state.history[moved.commit]?.place == moved.source {
            _ = state.history.set(moved.commit, moved.frame, in: &pages)
        }
        if !moved.redirects.isEmpty { adopt(moved.redirects) }
        movesRows = true
        for block in moved.blocks { adopt(block) }
        hasChanges = true
    }

    private mutating func adopt(_ block: MovedBlock) {
        let handle = openBlock(entity: block.entity)
        state.blocks.fill(
            handle, place: block.written.place, rows: block.numbers.count, level: block.level,
            commit: log.commit, schemaVersion: catalog.version, length: block.written.length,
            hasReferences: block.written.hasReferences, in: &pages)
        state.counts[block.entity] += block.numbers.count
        let tree = catalog.entities[block.entity].tree
        for (slot, number) in block.numbers.enumerated() {
            let cell = state.directories[tree][number]
            let source = block.sources[slot]
            if !cell.isEmpty, cell.slot == Int(source.slot),
                state.blocks.entry(cell.handle).place == source.block
            {
                kill(cell.handle, slot: cell.slot)
                state.directories[tree].set(
                    number,
                    DirectoryCell(handle: handle, slot: slot, version: block.versions[slot]),
                    in: &pages)
            } else {
                kill(handle, slot: slot)
            }
        }
        if block.level != .full { noteSmallBlock(of: block.entity) }
    }

    /// Removes segments from the store; returns false if something in them is still needed.
    ///
    /// - Parameters:
    ///   - examined: blocks that are known to refer to nothing in them.
    ///   - historyEnd: the commit up to which they are known to contain no changes: a history may be long,
    ///     and other writers wait.
    mutating func retire(
        _ victims: Set<UInt32>, examined: Set<Place>, historyEnd: UInt64
    ) throws(StoreError) -> Bool {
        if victims.contains(catalog.place.segment) { return false }
        // F-756: metadata are rewritten first.
        if let metadata = catalog.metadata, victims.contains(metadata.place.segment) {
            return false
        }
        // F-786: so are redirects.
        if hasRedirects(in: victims) { return false }
        // F-779: so are changes for the history.
        var recorded = historyEnd
        while let (commit, frame) = state.history.next(after: recorded) {
            if victims.contains(frame.place.segment) { return false }
            recorded = commit
        }
        for entity in catalog.entities.indices {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                if entry.lies(in: victims) { return false }
                if entry.hasReferences, !examined.contains(entry.place) {
                    var isNeeded = false
                    try block(handle, isPassing: true).forEachReference(entry) { _, reference in
                        if victims.contains(reference.place.segment) { isNeeded = true }
                    }
                    if isNeeded { return false }
                }
                handle = state.blocks.next(after: entry)
            }
        }
        // Another process can have retired them only if it compacted at the same time.
        guard victims.allSatisfy({ state.segments[$0] != nil }) else { return false }
        try log.append(.retire) { writer throws(StoreError) in
            RetirePayload(segments: victims.sorted()).encode(to: &writer)
        }
        state.segments.retire(Array(victims))
        try hold(victims)
        hasChanges = true
        return true
    }
}
