// The rows that die in a commit, collected one by one and listed block by block.
//
//   1. Each death is a number: the block's handle above, the slot below. No block has an array of its own,
//      because most commits kill one row in each of a few blocks.
//   2. At the end the numbers are sorted, which groups them by block, and the blocks are sorted by place.
//
// Threads: used by the holder of the turn alone.

import CairnFormat

/// The deaths of a commit.
struct DeathList {
    /// The deaths in one block.
    struct Run {
        let handle: BlockHandle
        let entry: BlockEntry
        /// Its deaths in the list; empty if it died as a whole.
        fileprivate let range: Range<Int>
        fileprivate let order: UInt64
    }

    private var numbers: [UInt64] = []
    /// Rows that were dead already, and are in a block that replaced theirs.
    private var stillborn: [UInt64] = []
    /// Blocks that died as a whole, and are no longer in the table.
    private var whole: [BlockEntry] = []

    var isEmpty: Bool { numbers.isEmpty && whole.isEmpty && stillborn.isEmpty }

    /// Adds all rows of a block, even if some of them had died before (F-615).
    mutating func addWhole(_ entry: BlockEntry) { whole.append(entry) }

    /// Announces that up to this many rows will die: memory that is not touched costs nothing, and none moves
    /// as it grows.
    mutating func expect(_ rows: Int) { numbers.reserveCapacity(min(rows, 1 << 20)) }

    @inline(__always)
    mutating func add(_ handle: BlockHandle, slot: Int) {
        numbers.append(Self.number(handle, slot))
    }

    /// Adds a row that was never live for readers: no object dies with it.
    mutating func addStillborn(_ handle: BlockHandle, slot: Int) {
        stillborn.append(Self.number(handle, slot))
    }

    @inline(__always)
    private static func number(_ handle: BlockHandle, _ slot: Int) -> UInt64 {
        UInt64(handle.raw) << 16 | UInt64(truncatingIfNeeded: slot)
    }

    /// The deaths from an index on, those of a block together. Blocks that died as a whole are not included,
    /// nor are rows that were dead already.
    func places(from first: Int) -> [(handle: BlockHandle, slot: Int)] {
        if first >= numbers.count { return [] }
        return numbers[first...].sorted().map {
            (BlockHandle(raw: UInt32(truncatingIfNeeded: $0 >> 16)), Int($0 & 0xFFFF))
        }
    }

    /// The blocks with deaths, by place.
    mutating func runs(in blocks: BlockTable) -> [Run] {
        numbers += stillborn
        stillborn = []
        numbers.sort()
        var runs = whole.map {
            Run(handle: .none, entry: $0, range: 0..<0, order: Self.order($0))
        }
        var start = 0
        while start < numbers.count {
            let handle = numbers[start] >> 16
            var end = start + 1
            while end < numbers.count, numbers[end] >> 16 == handle { end += 1 }
            let known = BlockHandle(raw: UInt32(truncatingIfNeeded: handle))
            let entry = blocks.entry(known)
            runs.append(
                Run(
                    handle: known, entry: entry, range: start..<end,
                    order: Self.order(entry)))
            start = end
        }
        runs.sort { $0.order < $1.order }
        return runs
    }

    private static func order(_ entry: BlockEntry) -> UInt64 {
        UInt64(entry.segment) << 32 | UInt64(entry.offset8)
    }

    /// The slots that die in a block, ascending.
    func slots(of run: Run, into slots: inout [UInt16]) {
        slots.removeAll(keepingCapacity: true)
        if run.range.isEmpty { slots.append(contentsOf: 0..<run.entry.rows) }
        for number in numbers[run.range] { slots.append(UInt16(truncatingIfNeeded: number)) }
    }
}
