// The segments that background compaction chooses, if it is worthwhile.
//
//   while the store is written to   if the floor is dead, and half of what a segment gives back and moves, or two fifths of the
//                                   store
//   when nobody writes              if an eighth of the floor is dead, and 15 % of the store; what is moved for that
//                                   comes out of an allowance
//
// The newest segment is one like the others, but that it must be closed: a store as small as a segment has no other.
// A new segment and a side segment cost two headers and some syncs, so it is closed for no less than the floor, and
// each time that much of its own dead space is given back.
//
// Invariants: CW1: without writers between, compaction when idle leaves less than 15 % of a store dead, or less than
// the floor, as far as the allowance goes. CW2: it writes at most two bytes for each one that the log has grown by, that
// was dead when the store was opened, or that died without the log growing as much.
// Threads: values.

import CairnFormat

extension StoreSizes {
    /// The number of dead bytes below which compaction leaves a store alone even if it is idle.
    var idleCompactionFloor: UInt64 { Self.idleFloor(compactionFloor) }

    /// At least what a run costs that moves nothing: the headers of two segments.
    static func idleFloor(_ floor: UInt64) -> UInt64 {
        max(floor / 8, 2 * UInt64(SegmentHeader.size))
    }
}

/// The segments that a run takes.
struct CompactionChoice: Equatable {
    /// Their numbers.
    private(set) var victims: Set<UInt32> = []
    /// Whether the newest segment is one of them.
    private(set) var closesNewest = false
    /// Their dead bytes.
    private(set) var deadBytes: UInt64 = 0
    /// Whether there is more that is worth it than is moved in one go.
    private(set) var leavesMore = false

    /// The gain of a segment from which on it is compacted in the background, and the dead share of the store.
    private static let deadSegment = 0.5
    private static let deadStore = 0.4
    /// The same when nobody writes, of both.
    private static let deadWhenIdle = 0.15

    /// What is worth it while others write.
    ///
    /// - Parameter newest: the segment that takes commits.
    static func whileWriting(_ uses: [SegmentUse], newest: UInt32, _ sizes: StoreSizes) -> Self? {
        let dead = uses.reduce(0) { $0 + $1.deadBytes }
        let bytes = uses.reduce(0) { $0 + $1.bytes }
        guard dead >= sizes.compactionFloor else { return nil }
        let isStoreDue = Double(dead) >= deadStore * Double(bytes)
        let due = uses.filter { use in
            // What was just written is moved for more than what has settled: more of it will die by itself.
            let share = use.segment.number == newest ? deadStore : deadStore / 2
            return use.deadBytes >= min(sizes.compactionFloor, sizes.segmentBytes / 4)
                && use.gain >= (isStoreDue ? share : deadSegment)
        }
        return Self(due, newest: newest, sizes)
    }

    /// What is worth it when nobody writes.
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

    /// The segments that give the most for the least, as much as is moved in one go; nil if those are none.
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

/// How many bytes compaction may write when nobody else does.
struct CompactionAllowance: Sendable, Equatable {
    /// So many bytes.
    private(set) var bytes: UInt64 = 0
    /// Up to where the log has counted; nil if the dead space was not measured yet.
    private var countedLSN: UInt64?
    /// Dead bytes that have counted and are not given back.
    private var countedDead: UInt64 = 0

    /// Bytes for each one that counts.
    private static let share: UInt64 = 2

    /// Adds what the log has grown by, or what has died if that is more: deletions say little. The first time what is
    /// dead, whoever wrote it.
    mutating func add(logEnd: UInt64, dead: UInt64) {
        let grown = countedLSN.map { logEnd - min(logEnd, $0) } ?? 0
        let died = dead - min(dead, countedDead)
        countedLSN = logEnd
        countedDead = dead
        bytes += Self.share * max(grown, died)
    }

    /// Notes that dead bytes were given back.
    mutating func release(_ dead: UInt64) { countedDead -= min(countedDead, dead) }

    /// Takes off what compaction has written.
    mutating func spend(_ written: UInt64) { bytes -= min(bytes, written) }
}
