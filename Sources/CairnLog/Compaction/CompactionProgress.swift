// What is known about the dead space of a store.

import CairnStore

/// The state of an engine's compaction.
struct CompactionProgress: Sendable {
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
    /// Why compaction in the background has stopped.
    var failure: StoreError?
    /// Bytes that compaction has written since the store was opened.
    var writtenBytes: UInt64 = 0

    /// - Parameter end: where the log ended when it was opened.
    init(logEnd end: UInt64, floor: UInt64) {
        // What died before, and what a compaction was stopped in, is looked for with the first commit.
        measuredLSN = end - min(end, floor)
        lookedLSN = measuredLSN
        lookBytes = StoreSizes.idleFloor(floor)
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
