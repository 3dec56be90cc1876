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
