// The entries of one partition of a unique index as a checkpoint contains them, sorted by hash: they are
// searched where they lie, in a mapped file.
//
//   page  address of the entries 8 | count 8
//
// Building the table of a partition costs as much as many searches, and a store that was just opened may
// need few entries of each. Hashes are evenly distributed, so an entry is near the place that its hash
// suggests: the search starts there.
//
// Invariants: the entries are valid and unchanged as long as the page is reachable.
// Threads: any.

import CCairn

/// The sorted entries of one partition.
struct SortedPartition {
    private let entries: UnsafeRawPointer
    private let count: Int

    private static let firstStep = 8

    /// - Parameter compact: the compact form of a partition's header.
    @inline(__always)
    init(_ compact: Page) {
        let page = LatePage.content(compact)
        guard let entries = UnsafeRawPointer(bitPattern: page.data.load(as: UInt.self)) else {
            preconditionFailure("sorted entries have an address")
        }
        self.entries = entries
        count = page.data.load(fromByteOffset: 8, as: Int.self)
    }

    /// Creates the compact form of a partition's header; nil if its entries are not sorted, or do not belong
    /// to it.
    static func make(
        _ entries: UnsafeRawBufferPointer, number: UInt32, bits: Int,
        in pages: inout PageTransaction
    ) -> Page? {
        let count = entries.count / 8
        guard let start = entries.baseAddress, entries.count & 7 == 0, count > 0,
            count < HashPartition.maximumCapacity
        else { return nil }
        var before = half(0, of: start)
        guard bits == 0 || before >> UInt32(32 - bits) == number else { return nil }
        // Without a branch in the loop, the compiler uses vectors.
        var isWrong = false
        for index in 0..<count {
            let value = value(index, of: start)
            let half = UInt32(truncatingIfNeeded: value)
            isWrong = isWrong || half < before || value >> 32 == 0
            before = half
        }
        guard !isWrong, bits == 0 || before >> UInt32(32 - bits) == number else { return nil }
        let page = pages.allocate(.small)
        page.data.storeBytes(of: UInt(bitPattern: start), as: UInt.self)
        page.data.storeBytes(of: count, toByteOffset: 8, as: Int.self)
        return LatePage.compact(page)
    }

    @inline(__always)
    private static func value(_ index: Int, of entries: UnsafeRawPointer) -> UInt64 {
        entries.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
    }

    @inline(__always)
    private static func half(_ index: Int, of entries: UnsafeRawPointer) -> UInt32 {
        UInt32(truncatingIfNeeded: value(index, of: entries))
    }

    @inline(__always) private func half(_ index: Int) -> UInt32 { Self.half(index, of: entries) }

    /// The place that a hash suggests.
    @inline(__always)
    private func guess(_ half: UInt32, bits: Int) -> Int {
        let rest = half &<< UInt32(truncatingIfNeeded: bits)
        return Int(truncatingIfNeeded: (UInt64(rest) &* UInt64(count)) &>> 32)
    }

    /// Prefetches the memory where the search for half a hash starts.
    @inline(__always)
    func prefetch(_ half: UInt32, bits: Int) {
        cairn_prefetch(entries + guess(half, bits: bits) &* 8)
    }

    /// Returns the entries with half a hash: the address of the first one, and how many there are.
    @inline(never)
    func entries(with half: UInt32, bits: Int) -> (first: UnsafeRawPointer, count: Int) {
        // Entries before `low` are smaller; those from `high` on are not.
        var (low, high) = (0, count)
        var at = guess(half, bits: bits)
        var step = Self.firstStep
        if self.half(at) < half {
            repeat {
                low = at &+ 1
                at &+= step
                step &*= 2
            } while at < count && self.half(at) < half
            high = min(at, count)
        } else {
            repeat {
                high = at
                at &-= step
                step &*= 2
            } while at >= 0 && self.half(at) >= half
            low = max(at &+ 1, 0)
        }
        while low < high {
            let middle = (low &+ high) &>> 1
            if self.half(middle) < half { low = middle &+ 1 } else { high = middle }
        }
        var end = low
        while end < count, self.half(end) == half { end &+= 1 }
        return (entries + low &* 8, end &- low)
    }

    /// Sorts entries in the order of the slots of a table, except that those that wrapped around to its
    /// beginning come last: few are far from their place.
    static func sort(_ entries: UnsafeMutableBufferPointer<UInt64>) {
        // If many entries share few hashes, as in tests, they may be in any order.
        var moves = entries.count &* 32
        for index in entries.indices.dropFirst() {
            let entry = entries[index]
            let half = UInt32(truncatingIfNeeded: entry)
            var place = index
            while place > 0, UInt32(truncatingIfNeeded: entries[place &- 1]) > half {
                entries[place] = entries[place &- 1]
                place &-= 1
            }
            entries[place] = entry
            moves &-= index &- place
            if moves < 0 {
                var entries = entries
                entries.sort {
                    UInt32(truncatingIfNeeded: $0) < UInt32(truncatingIfNeeded: $1)
                }
                return
            }
        }
    }
}
