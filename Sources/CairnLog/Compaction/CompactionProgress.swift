// What is known of the dead space of a store, and what of it waits to be given back.

import CairnFormat
import CairnStore

/// A segment that left the store, and whose file is still there.
struct RetiredSegment: Sendable {
    let segment: Segment
    /// The commit that retired it, and where the log ends behind that.
    let commit: UInt64
    let lsn: UInt64
    let bytes: UInt64

    /// Whether the state after a commit has the segment: it was begun before that, and retired after it.
    func isNeeded(by epoch: UInt64) -> Bool { segment.header.commit < epoch && epoch < commit }
}

/// What an engine knows of its compaction.
struct CompactionProgress: Sendable {
    /// Retired segments whose files are there.
    var retired: [RetiredSegment] = []
    /// Bytes in side segments that are deaths of rows elsewhere, by segment.
    var carriedBytes: [UInt32: UInt64] = [:]
    /// Where the log ended when the dead space was last measured.
    var measuredLSN: UInt64
    var isScheduled = false
    var isSweepScheduled = false
    /// Why compaction in the background has stopped.
    var failure: StoreError?
    /// Bytes that compaction has written since the store was opened.
    var writtenBytes: UInt64 = 0

    /// What opening left: the checkpoint needs segments that the log does not.
    init(_ opened: OpenedLog, floor: UInt64) {
        // What died before, and what a compaction was stopped in, is looked for with the first commit.
        measuredLSN = opened.end.lsn - min(opened.end.lsn, floor)
        for segment in opened.base?.segments.all ?? []
        where opened.segments[segment.number] == nil {
            retired.append(
                RetiredSegment(
                    segment: segment, commit: 0, lsn: opened.commitEnd.lsn,
                    bytes: opened.base?.end(of: segment) ?? 0))
        }
    }
}
