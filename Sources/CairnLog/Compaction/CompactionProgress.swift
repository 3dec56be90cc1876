// What is known of the dead space of a store, and what of it waits to be given back.

import CairnFormat
import CairnStore

/// A segment that left the store, and whose file is still there.
struct RetiredSegment: Sendable {
    let number: UInt32
    /// The last commit before it, the one that retired it, and where the log ends behind that.
    let begun: UInt64
    let commit: UInt64
    let lsn: UInt64
    let bytes: UInt64
    /// Where the log ends behind the commit that said that no past state needs it; the largest number while that is made.
    var releaseLSN: UInt64 = 0

    /// Whether the state after a commit has the segment: it was begun before that, and retired after it.
    func isNeeded(by epoch: UInt64) -> Bool { begun < epoch && epoch < commit }
}

/// What an engine knows of its compaction.
struct CompactionProgress: Sendable {
    /// Retired segments whose files are there.
    var retired: [RetiredSegment] = []
    /// Bytes in side segments that are deaths of rows elsewhere, by segment.
    var carriedBytes: [UInt32: UInt64] = [:]
    /// Where the log ended when the dead space was last measured.
    var measuredLSN: UInt64
    /// The same for when nobody wrote, and after how many bytes of log it is looked at again then.
    var lookedLSN: UInt64
    var lookBytes: UInt64
    /// Where the log ended when a look began to wait for writers to pause; nil if none waits.
    private(set) var awaitedLSN: UInt64?
    /// What may be written when nobody else writes.
    var allowance = CompactionAllowance()
    /// The dead bytes that the run under way is to give back.
    var promisedBytes: UInt64 = 0
    /// Whether a step waits or runs.
    var isScheduled = false
    /// Whether it was begun when nobody wrote, and whether there was more to do than its run does.
    var isIdle = false
    var leavesMore = false
    var isSweepScheduled = false
    /// Why compaction in the background has stopped.
    var failure: StoreError?
    /// Bytes that compaction has written since the store was opened.
    var writtenBytes: UInt64 = 0

    /// What opening left: the checkpoint needs segments that the log does not.
    init(_ opened: OpenedLog, floor: UInt64) {
        // What died before, and what a compaction was stopped in, is looked for with the first commit.
        measuredLSN = opened.end.lsn - min(opened.end.lsn, floor)
        lookedLSN = measuredLSN
        lookBytes = StoreSizes.idleFloor(floor)
        for held in opened.held {
            // The log is read on from the checkpoint with it, if it was retired behind that.
            let isNeeded = opened.base.map { held.retired > $0.commit } ?? false
            retired.append(
                RetiredSegment(
                    number: held.number, begun: held.begun, commit: held.retired,
                    lsn: isNeeded ? opened.commitEnd.lsn : 0, bytes: held.bytes))
        }
        let held = Set(opened.held.map(\.number))
        for segment in opened.base?.segments.all ?? []
        where opened.segments[segment.number] == nil && !held.contains(segment.number) {
            retired.append(
                RetiredSegment(
                    number: segment.number, begun: segment.header.commit, commit: 0,
                    lsn: opened.commitEnd.lsn,
                    bytes: opened.base?.end(of: segment) ?? 0))
        }
    }

    /// Notes that the run under way has given back what it was to.
    mutating func releasePromised() {
        allowance.release(promisedBytes)
        promisedBytes = 0
    }

    // MARK: Waiting for writers to pause

    /// Whether a look is to wait now for writers to pause: the log has grown enough since the last one.
    mutating func awaitPause(logEnd: UInt64) -> Bool {
        guard !isScheduled, failure == nil, awaitedLSN == nil,
            logEnd - min(logEnd, lookedLSN) >= lookBytes
        else { return false }
        awaitedLSN = logEnd
        return true
    }

    /// What comes of a look that has waited.
    enum Look { case isDropped, waitsOn, begins }

    /// Ends the waiting: the look begins if nobody has written meanwhile.
    mutating func endPause(logEnd: UInt64) -> Look {
        let awaited = awaitedLSN
        awaitedLSN = nil
        // What is under way sees to the next look when it ends.
        if isScheduled || failure != nil { return .isDropped }
        guard awaited == logEnd else {
            awaitedLSN = logEnd
            return .waitsOn
        }
        isScheduled = true
        isIdle = true
        return .begins
    }
}
