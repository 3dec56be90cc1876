// The commit whose frames are being read: none of it counts before its commit frame.
//
// An error inside it is kept and thrown with that frame: an incomplete commit is ignored.
// Threads: a value.

import CairnFormat
import CairnStore

/// A commit that is being read.
struct OpenCommit {
    var blocks: [LoggedBlock] = []
    var deaths: [LoggedDeath] = []
    /// The schema, if it has one.
    var catalog: Catalog?
    /// The metadata, if it has some.
    var metadata: StoredMetadata?
    /// The places of changes for the history.
    var history: [LoggedChanges] = []
    /// The redirects, if it has some.
    var redirects: [RedirectTable.Key: RedirectTable.Entry] = [:]
    /// The live set after its adoptions and retirements, if there are any.
    var live: LiveSet?
    private var frames: UInt32 = 0
    /// The LSN of its first frame; nil between commits.
    private(set) var start: UInt64?
    private var number: UInt64 = 0
    private var failure: StoreError?

    /// No store reaches this number; adding to it must not trap.
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

    /// Keeps the first error.
    mutating func fail(_ error: StoreError) {
        if failure == nil { failure = error }
    }

    /// Checks that the commit frame fits the frames before it.
    func check(_ record: CommitPayload, _ header: FrameHeader, after commit: UInt64) throws {
        if let failure { throw failure }
        guard record.frameCount == frames, record.firstLSN == start ?? header.lsn else {
            throw FormatError(
                .malformed, "F-601", "a commit frame that does not fit the frames before it",
                expected: UInt64(frames), found: UInt64(record.frameCount))
        }
        guard header.commit == (start == nil ? header.commit : number), header.commit > commit,
            header.commit < Self.maximumNumber
        else {
            throw FormatError(
                .malformed, "F-602", "commit numbers do not rise", found: header.commit)
        }
    }

    /// Prepares for the next one.
    mutating func reset() {
        blocks.removeAll(keepingCapacity: true)
        deaths.removeAll(keepingCapacity: true)
        catalog = nil
        metadata = nil
        history.removeAll(keepingCapacity: true)
        if !redirects.isEmpty { redirects = [:] }
        live = nil
        frames = 0
        start = nil
    }
}

/// Changes for the history, as their frames describe them.
struct LoggedChanges: Sendable {
    /// The commit whose changes they are.
    let commit: UInt64
    /// The frame of the first part.
    let place: Place
    /// The bytes of all parts so far.
    var length: UInt64
    /// The number of parts so far.
    var parts: UInt32 = 1
    /// Whether the last part was read.
    var isWhole: Bool
}

extension [LoggedChanges] {
    /// Adds the next part.                                                                              F-774
    ///
    /// - Parameter limit: the commit that contains the frame, which is not before that of the changes.
    mutating func take(_ head: ChangesPayload.Head, at place: Place, length: Int, limit: UInt64)
        throws(FormatError)
    {
        guard head.commit <= limit else {
            throw FormatError(
                .malformed, "F-775", "changes of a commit that is still to come", at: 0,
                expected: limit, found: head.commit)
        }
        if head.part == 0 {
            guard last?.isWhole ?? true else { throw Self.apart(0) }
            append(
                LoggedChanges(
                    commit: head.commit, place: place, length: UInt64(length),
                    isWhole: head.isLast))
            return
        }
        guard let last, !last.isWhole, last.commit == head.commit, last.parts == head.part,
            last.place.segment == place.segment,
            UInt64(last.place.byteOffset) + last.length == UInt64(place.byteOffset)
        else { throw Self.apart(head.part) }
        self[count - 1].length += UInt64(length)
        self[count - 1].parts += 1
        self[count - 1].isWhole = head.isLast
    }

    /// Checks that all parts were read.
    func checkEnd() throws(FormatError) {
        guard last?.isWhole ?? true else { throw Self.apart(last?.parts ?? 0) }
    }

    private static func apart(_ part: UInt32) -> FormatError {
        FormatError(
            .malformed, "F-774", "the parts of changes do not follow each other", at: 20,
            found: UInt64(part))
    }
}
