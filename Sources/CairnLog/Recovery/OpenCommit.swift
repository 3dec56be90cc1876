// The commit whose frames are being read: nothing of it counts before its commit frame is met.
//
// What is wrong inside it is kept and thrown with that frame: a commit that is not whole is nobody's business.
// Threads: a value.

import CairnFormat
import CairnStore

/// A commit while it is read.
struct OpenCommit {
    var blocks: [LoggedBlock] = []
    var deaths: [LoggedDeath] = []
    /// The schema, if it has one.
    var catalog: Catalog?
    /// The metadata, if it has some.
    var metadata: StoredMetadata?
    /// The live set with what it adopts and retires, if it does.
    var live: LiveSet?
    private var frames: UInt32 = 0
    /// The LSN of its first frame; nil between commits.
    private(set) var start: UInt64?
    private var number: UInt64 = 0
    private var failure: StoreError?

    /// No store lives to see this; adding to it must not trap.
    private static let maximumNumber: UInt64 = FormatLimits.maximumLSN

    /// Counts a frame before the commit frame.
    mutating func count(_ header: FrameHeader) {
        if start == nil {
            start = header.lsn
            number = header.commit
        }
        if header.commit != number {
            fail(
                .damaged(
                    "the frames of a commit bear different numbers (F-602)",
                    segment: header.segment))
        }
        frames += 1
    }

    /// Keeps the first thing that is wrong.
    mutating func fail(_ error: StoreError) {
        if failure == nil { failure = error }
    }

    /// Whether the commit frame fits the frames before it.
    func check(_ record: CommitPayload, _ header: FrameHeader, after commit: UInt64) throws {
        if let failure { throw failure }
        guard record.frameCount == frames, record.firstLSN == start ?? header.lsn else {
            throw FormatError(
                .malformed, "F-601", "a commit frame that does not fit the frames before it",
                expected: UInt64(frames), found: UInt64(record.frameCount))
        }
        guard header.commit == (start == nil ? header.commit : number), header.commit > commit,
            header.commit < Self.maximumNumber
        else { throw FormatError(.malformed, "F-602", "commit numbers rise", found: header.commit) }
    }

    /// Begins the next one.
    mutating func reset() {
        blocks.removeAll(keepingCapacity: true)
        deaths.removeAll(keepingCapacity: true)
        catalog = nil
        metadata = nil
        live = nil
        frames = 0
        start = nil
    }
}
