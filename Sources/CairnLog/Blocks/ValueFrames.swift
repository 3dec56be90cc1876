// A large value of a pinned state as a stream: one frame of it at a time is in memory.
//
// Threads: any; one read at a time.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials
import Synchronization

/// Reads a value that has frames of its own, some bytes at a time.
final class ValueFrames: ValueReading {
    private struct Progress: ~Copyable {
        var pieces: ValuePieces
        /// The frame that is being given.
        var payload: RawBytes?
        var given = 0
        /// What ended it.
        var failure: StoreError?
    }

    /// Keeps the files that the value is in, as long as it is not expired; nil if somebody else keeps them.
    private let snapshot: LogSnapshot?
    private let progress: Mutex<Progress>

    init(_ snapshot: LogSnapshot?, _ pieces: ValuePieces) {
        self.snapshot = snapshot
        progress = Mutex(Progress(pieces: pieces))
    }

    func next(upTo count: Int) throws(StoreError) -> Data? {
        try progress.withLock { progress throws(StoreError) in
            if let failure = progress.failure { throw failure }
            if progress.payload == nil {
                do throws(StoreError) {
                    _ = try snapshot?.readable()
                    progress.payload = try progress.pieces.next()
                } catch {
                    progress.failure = error
                    throw error
                }
                progress.given = ValuePayload.headSize
            }
            guard let payload = progress.payload else { return nil }
            let end = progress.given + min(count, payload.count - progress.given)
            let chunk = Data(payload.bytes[progress.given..<end])
            progress.given = end
            if end == payload.count { progress.payload = nil }
            return chunk
        }
    }
}

extension LogSnapshot: ValueStreamingSnapshot {
    func stream(forKey key: String, of id: ObjectID, chunkBytes: Int) throws(StoreError)
        -> ValueStream?
    {
        let pinned = try readable()
        defer { withExtendedLifetime(pinned) {} }
        return try engine.withWholeState { () throws(StoreError) -> ValueStream? in
            let state = pinned.state
            guard let hit = hit(id, state), schema.entities.indices.contains(hit.entity) else {
                throw StoreError(
                    .objectNotFound, "the store does not have the object",
                    context: .init(objectID: id))
            }
            let column = try ValueStream.column(forKey: key, of: schema.entities[hit.entity])
            let stored = state.catalog.entities[hit.entity]
            let block = try engine.block(state.blocks.entry(hit.cell.handle), in: pinned)
            let slot = hit.cell.slot
            guard let cells = try block.column(stored.columns[column]), !cells.isNil(at: slot)
            else { return nil }
            guard cells.isExternal(at: slot) else {
                return ValueStream(Data(cells.cell(slot)), chunkBytes: chunkBytes)
            }
            let reference: ValueReference
            do throws(FormatError) {
                reference = try ValueReference(decoding: cells.cell(slot))
            } catch {
                throw StoreError(error, at: block.place)
            }
            guard let segment = state.segments[reference.place.segment] else {
                throw .damaged(
                    "a value's segment is missing (F-631)", segment: reference.place.segment)
            }
            let pieces = ValuePieces(
                reference, in: segment, storeTag: engine.storeID.tag,
                owner: .init(
                    tree: state.catalog.trees[stored.tree].id, number: hit.number,
                    property: stored.columns[column].propertyID))
            return ValueStream(count: reference.length, chunkBytes: chunkBytes) {
                ValueFrames(self, pieces)
            }
        }
    }
}
