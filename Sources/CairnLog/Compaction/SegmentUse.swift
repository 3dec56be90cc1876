// How much of each segment is live in a state.
//
// A block is live as far as its rows are, a patched one also as far as patches borrow from it; a large value,
// as long as a live row refers to it. The schema, metadata, retained changes for the history, redirects in
// force, and deaths that compaction carried over are live as well. Everything else in a segment (commit
// frames, other deaths) counts as dead.
//
// Threads: a value.

package import CairnFormat
package import CairnStore
import Synchronization

/// The space usage of one segment.
struct SegmentUse {
    let segment: Segment
    let isMain: Bool
    /// Bytes of content.
    let bytes: UInt64
    fileprivate(set) var liveBytes: UInt64
    /// Live bytes in other segments that move with it: the blocks of its patches, and the patches of its
    /// blocks.
    fileprivate(set) var joinedBytes: UInt64 = 0

    /// About how many bytes compaction writes for it.
    var movedBytes: UInt64 { liveBytes + joinedBytes }

    var deadBytes: UInt64 { bytes - liveBytes }

    /// The dead share, 0 to 1.
    var deadShare: Double { bytes == 0 ? 0 : Double(deadBytes) / Double(bytes) }

    /// The dead share of what compaction reclaims and writes, 0 to 1: a patch moves together with its block.
    var gain: Double {
        let all = deadBytes + movedBytes
        return all == 0 ? 0 : Double(deadBytes) / Double(all)
    }

    /// Measures each segment: those that are closed first, the one that takes commits last.
    ///
    /// - Throws: `StoreError` with `.damaged` if references to large values cannot be read.
    /// - Complexity: O(number of blocks), and the references to large values are read.
    static func measure(_ state: EngineState, _ engine: Engine) throws(StoreError) -> [SegmentUse] {
        var uses: [SegmentUse] = []
        let carried = engine.compaction.progress.withLock { $0.carriedBytes }
        let header = UInt64(SegmentHeader.size)
        for side in state.segments.sides {
            uses.append(
                SegmentUse(
                    segment: side.segment, isMain: false, bytes: side.end,
                    liveBytes: header + (carried[side.segment.number] ?? 0)))
        }
        for main in state.segments.mains {
            uses.append(
                SegmentUse(
                    segment: main, isMain: true, bytes: state.end(of: main), liveBytes: header))
        }
        var index: [UInt32: Int] = [:]
        for (position, use) in uses.enumerated() { index[use.segment.number] = position }
        let schema = state.catalog.place
        if let position = index[schema.segment] {
            let frame = try uses[position].segment.frame(
                at: UInt64(schema.byteOffset), storeTag: engine.storeID.tag)
            uses[position].liveBytes += UInt64(frame.0.frameLength)
        }
        if let metadata = state.catalog.metadata, let position = index[metadata.place.segment] {
            let frame = try uses[position].segment.frame(
                at: UInt64(metadata.place.byteOffset), storeTag: engine.storeID.tag)
            uses[position].liveBytes += UInt64(frame.0.frameLength)
        }
        state.history.forEach { _, frame in
            if let position = index[frame.place.segment] {
                uses[position].liveBytes &+= frame.length
            }
            return true
        }
        state.redirects?.forEach { _, entry in
            if let position = index[entry.segment] {
                uses[position].liveBytes += UInt64(RedirectsPayload.entrySize)
            }
        }
        for entity in state.catalog.entities.indices {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                handle = state.blocks.next(after: entry)
                let own = UInt64(entry.length) * UInt64(entry.live) / UInt64(entry.rows)
                let borrowed =
                    UInt64(entry.borrowedBytes) * UInt64(entry.live) / UInt64(entry.rows)
                let isApart = entry.patched.segment != entry.segment
                if let position = index[entry.segment] {
                    uses[position].liveBytes += own
                    if isApart { uses[position].joinedBytes += borrowed }
                }
                if let position = index[entry.patched.segment] {
                    uses[position].liveBytes += borrowed
                    if isApart { uses[position].joinedBytes += own }
                }
                guard entry.hasReferences else { continue }
                let block = try engine.reader.passingBlock(entry, in: state)
                try block.forEachReference(entry) { _, reference in
                    guard let position = index[reference.place.segment] else { return }
                    uses[position].liveBytes &+= ValuePayload.storedLength(reference.length)
                }
            }
        }
        // The figures for large values are estimates.
        for position in uses.indices {
            uses[position].liveBytes = min(uses[position].liveBytes, uses[position].bytes)
        }
        return uses
    }
}

extension CachedBlock {
    /// Calls the body with the references to large values in live rows, and their slots.
    package func forEachReference(_ entry: BlockEntry, _ body: (Int, ValueReference) -> Void)
        throws(StoreError)
    {
        for column in head.columns where column.flags.contains(.externals) {
            try forEachReference(entry, column, body)
        }
    }

    /// The same for one column with such references.
    func forEachReference(
        _ entry: BlockEntry, _ column: ColumnEntry, _ body: (Int, ValueReference) -> Void
    ) throws(StoreError) {
        guard let cells = try self.column(propertyID: column.propertyID) else { return }
        for slot in 0..<rows
        where entry.isLive(slot) && !cells.isNil(at: slot) && cells.isExternal(at: slot) {
            do {
                body(slot, try ValueReference(decoding: cells.bytes(at: slot)))
            } catch {
                throw StoreError(error, at: place)
            }
        }
    }
}

extension ValuePayload {
    /// Returns about how many bytes the frames of a value take.
    package static func storedLength(_ length: UInt64) -> UInt64 {
        // No store holds more; a damaged number must not trap.
        let length = min(length, 1 << 48)
        let pieces = (length + UInt64(maximumPiece) - 1) / UInt64(maximumPiece)
        return length + pieces * UInt64(FrameHeader.size + 40)
    }
}
