// A large value of a pinned state as a stream, with one of its frames in memory at a time.
//
// Threads: any; one read at a time.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials
import Synchronization

/// Reads a value with its own frames, in chunks.
final class ValueFrames: ValueReading {
    private struct Progress: ~Copyable {
        var pieces: ValuePieces
        /// The frame whose bytes are being returned.
        var payload: RawBytes?
        var given = 0
        /// The error that ended the stream.
        var failure: StoreError?
    }

    /// Throws when the files of the value are no longer kept; keeps them until then.
    private let check: @Sendable () throws(StoreError) -> Void
    private let progress: Mutex<Progress>

    /// - Parameter check: called before each frame.
    init(_ pieces: ValuePieces, check: @escaping @Sendable () throws(StoreError) -> Void = {}) {
        self.check = check
        progress = Mutex(Progress(pieces: pieces))
    }

    func next(upTo count: Int) throws(StoreError) -> Data? {
        try progress.withLock { progress throws(StoreError) in
            if let failure = progress.failure { throw failure }
            if progress.payload == nil {
                do throws(StoreError) {
                    try check()
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
