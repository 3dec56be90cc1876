// What is known about a store's dead space.

import CairnStore

/// The state of an engine's compaction.
struct CompactionProgress: Sendable {
    /// Bytes of deaths in each side segment that concern rows in other segments.
    var carriedBytes: [UInt32: UInt64] = [:]
    /// Where the log ended when the dead space was last measured.
    var measuredLSN: UInt64
    /// The same for the last check while idle, and how many bytes the log must grow before the next one.
    var lookedLSN: UInt64
    var lookBytes: UInt64
    /// Where the log ended when a check began to wait for writers to pause; nil if none waits.
    private(set) var awaitedLSN: UInt64?
    /// The bytes that may be written while the store is idle.
    var allowance = CompactionAllowance()
    /// The dead bytes that the current run will reclaim.
    var promisedBytes: UInt64 = 0
    /// Whether a step is scheduled or running.
    var isScheduled = false
    /// Whether it started while the store was idle, and whether more is left than its run covers.
    var isIdle = false
    var leavesMore = false
    /// The error that stopped background compaction.
    var failure: StoreError?
    /// Bytes that compaction has written since the store was opened.
    var writtenBytes: UInt64 = 0

    /// - Parameter end: where the log ended when it was opened.
    init(logEnd end: UInt64, floor: UInt64) {
        // The first commit measures what died before, and what an interrupted compaction left.
        measuredLSN = end - min(end, floor)
        lookedLSN = measuredLSN
        lookBytes = StoreSizes.idleFloor(floor)
    }

    /// Notes that the current run has reclaimed its bytes.
    mutating func releasePromised() {
        allowance.release(promisedBytes)
        promisedBytes = 0
    }

    // MARK: Waiting for writers to pause

    /// Begins to wait for writers to pause if the log has grown enough since the last check; returns whether
    /// it does.
    mutating func awaitPause(logEnd: UInt64) -> Bool {
        guard !isScheduled, failure == nil, awaitedLSN == nil,
            logEnd - min(logEnd, lookedLSN) >= lookBytes
        else { return false }
        awaitedLSN = logEnd
        return true
    }

    /// The outcome of a check that has waited.
    enum Look { case isDropped, waitsOn, begins }

    /// Ends the wait: compaction begins if nothing was written in the meantime.
    mutating func endPause(logEnd: UInt64) -> Look {
        let awaited = awaitedLSN
        awaitedLSN = nil
        // The current run schedules the next check when it ends.
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
