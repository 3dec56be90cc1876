// Iterates over the entries of an ordered index, forward or backward.
//
// A cursor has the remaining ranks, and the complete entries of the current leaf. A leaf is found by rank,
// which costs one descent for some dozens of entries.
//
// Backward, entries with one key can still be returned with ascending numbers: a descending sort leaves rows
// with equal keys in the order of their numbers. The cursor then jumps to the start of a key and moves
// forward over it.
//
// Threads: one owner, who keeps the state that the index is of.

import CCairn

/// A position in an ordered index.
struct OrderedCursor {
    /// The direction of a cursor.
    enum Direction {
        case forward
        case backward
        /// By descending keys, and by ascending numbers for equal keys.
        case backwardByKeys
    }

    private let index: OrderedIndex
    private let direction: Direction
    /// The remaining ranks, without those of `group`.
    private var ranks: Range<Int>
    /// The entries of one key, which are read forward during a backward iteration.
    private var group = 0..<0
    /// The ranks of the entries in memory.
    private var known = 0..<0
    /// The end of each of them in the bytes.
    private var ends: [Int] = []
    private var bytes: [UInt8] = []
    /// Whether no entry was prefetched since these were read.
    private var isNew = false
    /// The entry that was returned last, as a position among those in memory.
    private var current = -1

    /// A cursor over the entries of some ranks.
    init(_ index: OrderedIndex, ranks: Range<Int>, _ direction: Direction = .forward) {
        self.index = index
        self.direction = direction
        self.ranks = ranks.clamped(to: 0..<index.count)
    }

    /// The number of remaining entries.
    var count: Int { ranks.count + group.count }

    /// The rank of the next entry, for a forward cursor.
    var rank: Int { ranks.lowerBound }

    /// Returns the number of the next entry; nil at the end.
    mutating func next() -> UInt32? {
        let rank: Int
        switch direction {
        case .forward:
            guard let first = ranks.first else { return nil }
            rank = first
            ranks = rank &+ 1..<ranks.upperBound
        case .backward:
            guard let last = ranks.last else { return nil }
            rank = last
            ranks = ranks.lowerBound..<rank
        case .backwardByKeys:
            if group.isEmpty, !findGroup() { return nil }
            rank = group.lowerBound
            group = rank &+ 1..<group.upperBound
        }
        if !known.contains(rank), !read(rank) { return nil }
        current = rank &- known.lowerBound
        return number(current)
    }

    /// Prefetches the directory cells of entries that are returned soon, as far as the entries are in memory.
    mutating func prefetch(_ directory: RowDirectory) {
        // With few entries for each key, groups are read backward.
        let step = direction == .forward ? 1 : -1
        if isNew {
            isNew = false
            for distance in 1..<Self.lead { prefetch(directory, current &+ step &* distance) }
        }
        prefetch(directory, current &+ step &* Self.lead)
    }

    @inline(__always)
    private func prefetch(_ directory: RowDirectory, _ position: Int) {
        if ends.indices.contains(position) { directory.cells.table.prefetch(number(position)) }
    }

    /// So many entries take about as long as memory.
    private static let lead = 8

    /// The bytes of the key of the entry returned last.
    var key: ArraySlice<UInt8> { current < 0 ? [] : key(current) }

    /// Whether that key is truncated: the row contains more of it.
    var isCut: Bool { current >= 0 && keyRange(current).count == IndexKey.longest }

    /// Skips entries, for paging.
    mutating func skip(_ entries: Int) {
        var left = max(0, entries)
        while left > 0 {
            switch direction {
            case .forward:
                ranks = min(ranks.lowerBound + left, ranks.upperBound)..<ranks.upperBound
                return
            case .backward:
                ranks = ranks.lowerBound..<max(ranks.lowerBound, ranks.upperBound - left)
                return
            case .backwardByKeys:
                if group.isEmpty { left -= skipGroups(left) }
                if group.isEmpty { return }
                let step = min(left, group.count)
                group = group.lowerBound + step..<group.upperBound
                left -= step
            }
        }
    }

    /// Skips all entries of the last keys, as long as there are at most `entries`, and finds those of the key
    /// before. Returns the number of skipped entries.
    private mutating func skipGroups(_ entries: Int) -> Int {
        guard entries < ranks.count else {
            defer { ranks = ranks.lowerBound..<ranks.lowerBound }
            return ranks.count
        }
        let rank = ranks.upperBound - 1 - entries
        guard known.contains(rank) || read(rank) else { return 0 }
        let end = key(rank - known.lowerBound).withUnsafeBytes {
            index.rank($0) + index.count(prefix: $0)
        }
        let passed = ranks.upperBound - min(max(end, rank + 1), ranks.upperBound)
        ranks = ranks.lowerBound..<ranks.upperBound - passed
        _ = findGroup()
        return passed
    }

    /// Skips entries, unless the one after them has a truncated key: then the order is unknown, and the
    /// cursor does not move. Returns the number of skipped entries.
    mutating func skipped(_ entries: Int) -> Int {
        let entries = min(max(0, entries), count)
        if entries == 0 { return 0 }
        var behind = self
        behind.skip(entries)
        var next = behind
        if next.next() != nil, next.isCut { return 0 }
        self = behind
        return entries
    }

    /// Whether the key of the entry returned last begins with some bytes.
    func begins(with bytes: [UInt8]) -> Bool {
        if current < 0 { return false }
        let range = keyRange(current)
        guard range.count >= bytes.count else { return false }
        let part = range.lowerBound..<range.lowerBound + bytes.count
        return self.bytes.withUnsafeBytes { all in
            bytes.withUnsafeBytes {
                compareCells(UnsafeRawBufferPointer(rebasing: all[part]), $0) == 0
            }
        }
    }

    private func number(_ position: Int) -> UInt32 {
        let end = ends[position]
        return bytes.withUnsafeBytes {
            UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: end &- 4, as: UInt32.self))
        }
    }

    private func keyRange(_ position: Int) -> Range<Int> {
        (position == 0 ? 0 : ends[position - 1])..<ends[position] - 4
    }

    private func key(_ position: Int) -> ArraySlice<UInt8> { bytes[keyRange(position)] }

    /// Returns the start of the entries with the key of a given one, among those in memory.
    private func groupStart(_ position: Int) -> Int {
        let wanted = keyRange(position)
        return bytes.withUnsafeBytes { bytes in
            let key = UnsafeRawBufferPointer(rebasing: bytes[wanted])
            var first = position
            while first > 0 {
                let other = keyRange(first - 1)
                guard other.count == key.count,
                    compareCells(UnsafeRawBufferPointer(rebasing: bytes[other]), key) == 0
                else { break }
                first -= 1
            }
            return first
        }
    }

    /// Finds the entries with the key of the last remaining one.
    private mutating func findGroup() -> Bool {
        guard let last = ranks.last, known.contains(last) || read(last) else { return false }
        let position = last - known.lowerBound
        let first = groupStart(position)
        var start = known.lowerBound + first
        // It may begin in a previous leaf.
        if first == 0 { start = key(position).withUnsafeBytes { index.rank($0) } }
        start = max(start, ranks.lowerBound)
        group = start..<ranks.upperBound
        ranks = ranks.lowerBound..<start
        return true
    }

    /// Reads the leaf that contains an entry.
    private mutating func read(_ rank: Int) -> Bool {
        guard let (leaf, position) = index.leaf(rank: rank) else { return false }
        leaf.readEntries(into: &bytes, &ends)
        isNew = true
        known = rank - position..<rank - position + ends.count
        return known.contains(rank)
    }
}
