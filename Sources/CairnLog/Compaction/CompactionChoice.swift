// Chooses the segments for background compaction, if it is worthwhile.
//
//   while the store is written   dead bytes reach the floor, and are half of what a segment frees and moves,
//                                or two fifths of the store
//   when the store is idle       dead bytes reach an eighth of the floor, and are 15 % of the store; the
//                                bytes moved come out of an allowance
//
// The newest segment is eligible too, but must be closed first: a store as small as a segment has no other. A
// new segment and a side segment cost two headers and some syncs, so it is closed only to reclaim that much of
// its own dead space: the floor, or a quarter of a segment if that is less; when idle, an eighth of the floor.
//
// Invariants: CW1: without writers in between, compaction when idle leaves less than 15 % of a store dead, or
// less than the floor, as far as the allowance goes. CW2: it writes at most two bytes for each byte by which
// the log has grown, that was dead when the store was opened, or that died without the log growing as much.
// Threads: values.

import CairnFormat

extension StoreSizes {
    /// The number of dead bytes below which compaction leaves even an idle store alone.
    var idleCompactionFloor: UInt64 { Self.idleFloor(compactionFloor) }

    /// Returns at least the cost of a run that moves nothing: the headers of two segments.
    static func idleFloor(_ floor: UInt64) -> UInt64 {
        max(floor / 8, 2 * UInt64(SegmentHeader.size))
    }
}

/// The segments that a run compacts.
struct CompactionChoice: Equatable {
    /// Their numbers.
    private(set) var victims: Set<UInt32> = []
    /// Whether the newest segment is one of them.
    private(set) var closesNewest = false
    /// Their dead bytes.
    private(set) var deadBytes: UInt64 = 0
    /// Whether more segments are worth it than one run moves.
    private(set) var leavesMore = false

    /// The minimum gain of a segment for background compaction, and the minimum dead share of the store.
    private static let deadSegment = 0.5
    private static let deadStore = 0.4
    /// The same for an idle store, for both.
    private static let deadWhenIdle = 0.15

    /// Chooses the segments that are worth it while the store is written.
    ///
    /// - Parameter newest: the segment that takes commits.
    static func whileWriting(_ uses: [SegmentUse], newest: UInt32, _ sizes: StoreSizes) -> Self? {
        let dead = uses.reduce(0) { $0 + $1.deadBytes }
        let bytes = uses.reduce(0) { $0 + $1.bytes }
        guard dead >= sizes.compactionFloor else { return nil }
        let isStoreDue = Double(dead) >= deadStore * Double(bytes)
        let due = uses.filter { use in
            // The newest segment needs a larger gain than settled ones: more of it will die anyway.
            let share = use.segment.number == newest ? deadStore : deadStore / 2
            return use.deadBytes >= min(sizes.compactionFloor, sizes.segmentBytes / 4)
                && use.gain >= (isStoreDue ? share : deadSegment)
        }
        return Self(due, newest: newest, sizes)
    }

    /// Chooses the segments that are worth it when the store is idle.
    ///
    /// - Parameter allowance: the bytes that may be moved.
    static func whenIdle(
        _ uses: [SegmentUse], newest: UInt32, allowance: UInt64, _ sizes: StoreSizes
    ) -> Self? {
        let floor = sizes.idleCompactionFloor
        let dead = uses.reduce(0) { $0 + $1.deadBytes }
        let bytes = uses.reduce(0) { $0 + $1.bytes }
        guard dead >= floor, Double(dead) >= deadWhenIdle * Double(bytes) else { return nil }
        let due = uses.filter { use in
            use.deadShare >= deadWhenIdle
                && use.deadBytes
                    >= (use.segment.number == newest
                        ? floor : min(floor, sizes.askedCompactionFloor))
        }
        let choice = Self(due, newest: newest, sizes, allowance: allowance)
        return choice.flatMap { $0.deadBytes >= floor ? $0 : nil }
    }

    /// Chooses the segments that yield the most for the least, up to what one run moves; nil if there are
    /// none.
    init?(
        _ due: [SegmentUse], newest: UInt32? = nil, _ sizes: StoreSizes, allowance: UInt64 = .max
    ) {
        var live: UInt64 = 0
        for use in due.sorted(by: { $0.gain > $1.gain }) {
            let sum = live + use.movedBytes
            guard sum <= allowance else { continue }
            guard victims.isEmpty || sum <= sizes.largestSegmentBytes / 4 else {
                leavesMore = true
                continue
            }
            victims.insert(use.segment.number)
            deadBytes += use.deadBytes
            live = sum
        }
        if victims.isEmpty { return nil }
        closesNewest = newest.map(victims.contains) ?? false
    }
}

/// The number of bytes that compaction may write while the store is idle.
struct CompactionAllowance: Sendable, Equatable {
    /// The bytes still allowed.
    private(set) var bytes: UInt64 = 0
    /// The LSN up to which the log was counted; nil if the dead space was not measured yet.
    private var countedLSN: UInt64?
    /// Dead bytes that were counted and are not reclaimed.
    private var countedDead: UInt64 = 0

    /// Bytes for each one that counts.
    private static let share: UInt64 = 2

    /// Adds the growth of the log, or the bytes that have died if those are more: deletions write little. The
    /// first call adds all dead bytes, whichever process wrote them.
    mutating func add(logEnd: UInt64, dead: UInt64) {
        let grown = countedLSN.map { logEnd - min(logEnd, $0) } ?? 0
        let died = dead - min(dead, countedDead)
        countedLSN = logEnd
        countedDead = dead
        bytes += Self.share * max(grown, died)
    }

    /// Notes that dead bytes were reclaimed.
    mutating func release(_ dead: UInt64) { countedDead -= min(countedDead, dead) }

    /// Subtracts what compaction has written.
    mutating func spend(_ written: UInt64) { bytes -= min(bytes, written) }
}
