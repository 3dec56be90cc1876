// The rows that refer to an object: the inverse of a to-one column.
//
// The rows that refer to one target form a doubly linked list through one cell per row, so that a target with
// a million rows costs as little to change as one with a single row:
//   heads   target number → first row 32 | count 32
//   links   row number → row before 32 | row after 32
//
// Threads: a value; see `PageTransaction`.

/// The rows by the target of a reference.
package struct InverseTable: BitwiseCopyable, Sendable {
    var heads = RadixArray()
    var links = RadixArray()

    package init() {}

    /// Returns the number of rows that refer to a target.
    func count(of target: UInt32) -> Int { Int(heads[target] & 0xFFFF_FFFF) }

    /// Appends the rows that refer to a target, in the order of their numbers.
    func sources(of target: UInt32, into sources: inout [UInt32]) {
        let start = sources.count
        let head = heads[target]
        var source = UInt32(truncatingIfNeeded: head >> 32)
        // Rows are inserted at the front, so a list in which no row was moved is descending.
        var isFalling = true
        // Bounded by the count: a list from a file may be circular.
        for _ in 0..<(head & 0xFFFF_FFFF) where source != 0 {
            if sources.count > start, source >= sources[sources.count &- 1] { isFalling = false }
            sources.append(source)
            source = UInt32(truncatingIfNeeded: links[source])
        }
        if isFalling { sources[start...].reverse() } else { sources[start...].sort() }
    }

    /// Prefetches the memory of the head of a target's list.
    @inline(__always) func prefetchHead(of target: UInt32) { heads.table.prefetch(target) }

    /// Prefetches the memory of the first link of a target's list, and returns the row; 0 if there is none.
    @inline(__always) func prefetchFirst(of target: UInt32) -> UInt32 {
        let head = heads[target]
        let first = UInt32(truncatingIfNeeded: head >> 32)
        if first == 0 { return 0 }
        links.table.prefetch(first)
        // Mostly the rows with the preceding numbers follow, in the preceding cache line.
        if head & 0xFFFF_FFFF > 1, first > 8 { links.table.prefetch(first &- 8) }
        return first
    }

    /// Inserts a row that is in no list.
    package mutating func insert(source: UInt32, target: UInt32, in pages: inout PageTransaction) {
        let head = heads.writableCell(target, in: &pages)
        let first = UInt32(truncatingIfNeeded: head.pointee >> 32)
        let link = links.writableCell(source, in: &pages)
        assert(link.pointee == 0 && first != source, "a row enters a list once")
        link.pointee = UInt64(first)
        if first != 0 {
            let next = links.writableCell(first, in: &pages)
            next.pointee = UInt64(source) << 32 | next.pointee & 0xFFFF_FFFF
        }
        head.pointee = UInt64(source) << 32 | (head.pointee & 0xFFFF_FFFF) &+ 1
    }

    /// Removes a row; false if it does not exist.
    @discardableResult
    mutating func remove(source: UInt32, target: UInt32, in pages: inout PageTransaction) -> Bool {
        let head = heads.writableCell(target, in: &pages)
        let link = links.writableCell(source, in: &pages)
        let before = UInt32(truncatingIfNeeded: link.pointee >> 32)
        let after = UInt32(truncatingIfNeeded: link.pointee)
        var first = UInt32(truncatingIfNeeded: head.pointee >> 32)
        guard head.pointee & 0xFFFF_FFFF != 0, (before == 0) == (first == source) else {
            return false
        }
        if before != 0 {
            let cell = links.writableCell(before, in: &pages)
            cell.pointee = cell.pointee & 0xFFFF_FFFF_0000_0000 | UInt64(after)
        } else {
            first = after
        }
        if after != 0 {
            let cell = links.writableCell(after, in: &pages)
            cell.pointee = UInt64(before) << 32 | cell.pointee & 0xFFFF_FFFF
        }
        link.pointee = 0
        head.pointee = UInt64(first) << 32 | (head.pointee & 0xFFFF_FFFF) &- 1
        return true
    }

    // MARK: Checking

    /// Returns the problems of the lists of the targets below a number, a sentence each.
    func _checkInvariants(targetsBelow end: UInt32) -> [String] {
        var problems: [String] = []
        var reached: Set<UInt32> = []
        for target in 0..<end {
            let head = heads[target]
            var left = head & 0xFFFF_FFFF
            var before: UInt32 = 0
            var source = UInt32(truncatingIfNeeded: head >> 32)
            while source != 0, left > 0 {
                let link = links[source]
                if UInt32(truncatingIfNeeded: link >> 32) != before {
                    problems.append(
                        "row \(source) at target \(target) does not know the row before it")
                }
                if !reached.insert(source).inserted {
                    problems.append("row \(source) is twice in the lists")
                    break
                }
                before = source
                source = UInt32(truncatingIfNeeded: link)
                left -= 1
            }
            if source != 0 || left != 0 {
                problems.append("the list of target \(target) is not as long as its count")
            }
        }
        return problems
    }
}
