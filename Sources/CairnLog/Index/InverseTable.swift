// Which rows point at an object: the way back of a to-one column.
//
// The rows that point at one target form a doubly linked list through one cell a row, so that a target that
// a million rows point at costs as little to change as one with a single row:
//   heads   target number → first row 32 | count 32
//   links   row number → row before 32 | row after 32
//
// Threads: a value; see `PageTransaction`.

/// The rows by the target of a reference.
struct InverseTable: Sendable {
    private var heads = RadixArray()
    private var links = RadixArray()

    /// How many rows point at a target.
    func count(of target: UInt32) -> Int { Int(heads[target] & 0xFFFF_FFFF) }

    /// Adds the rows that point at a target, in the order of their numbers.
    func sources(of target: UInt32, into sources: inout [UInt32]) {
        let start = sources.count
        var source = UInt32(truncatingIfNeeded: heads[target] >> 32)
        while source != 0 {
            sources.append(source)
            source = UInt32(truncatingIfNeeded: links[source])
        }
        sources[start...].sort()
    }

    mutating func insert(source: UInt32, target: UInt32, in pages: inout PageTransaction) {
        let head = heads[target]
        let first = UInt32(truncatingIfNeeded: head >> 32)
        links.set(source, UInt64(first), in: &pages)
        if first != 0 {
            links.set(first, UInt64(source) << 32 | links[first] & 0xFFFF_FFFF, in: &pages)
        }
        heads.set(target, UInt64(source) << 32 | (head & 0xFFFF_FFFF) &+ 1, in: &pages)
    }

    /// Takes a row out that is there.
    mutating func remove(source: UInt32, target: UInt32, in pages: inout PageTransaction) {
        let head = heads[target]
        precondition(head & 0xFFFF_FFFF != 0, "a row leaves a list that it is in")
        let link = links[source]
        let before = UInt32(truncatingIfNeeded: link >> 32)
        let after = UInt32(truncatingIfNeeded: link)
        var first = UInt32(truncatingIfNeeded: head >> 32)
        if before != 0 {
            links.set(before, links[before] & 0xFFFF_FFFF_0000_0000 | UInt64(after), in: &pages)
        } else {
            first = after
        }
        if after != 0 {
            links.set(after, UInt64(before) << 32 | links[after] & 0xFFFF_FFFF, in: &pages)
        }
        links.set(source, 0, in: &pages)
        heads.set(target, UInt64(first) << 32 | (head & 0xFFFF_FFFF) &- 1, in: &pages)
    }
}
