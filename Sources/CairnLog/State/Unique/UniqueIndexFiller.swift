// Fills a unique index with many entries, some hundreds of a partition at a time.
//
//   1. Entries are gathered by the upper bits of their hash, as the index tells its partitions apart.
//   2. When there are enough of a partition they go in: its table is in the cache after the first of them, where one
//      entry after the other would wait for memory each time.
//
// Threads: one owner.

/// Collects entries for a unique index.
final class UniqueIndexFiller {
    private let bits: Int
    /// How many entries of a partition are gathered.
    private let room: Int
    private let entries: UnsafeMutablePointer<UInt64>
    private let counts: UnsafeMutablePointer<UInt16>

    /// - Parameter index: room was made in it for what is to come.
    init(for index: UniqueIndex) {
        bits = index.bits
        // Four megabytes for all of them; with very many partitions somewhat more.
        room = max(32, min(4096, (1 << 19) >> bits))
        entries = .allocate(capacity: room << bits)
        counts = .allocate(capacity: 1 << bits)
        counts.initialize(repeating: 0, count: 1 << bits)
    }

    deinit {
        entries.deallocate()
        counts.deallocate()
    }

    @inline(__always)
    func add(
        hash: UInt64, number: UInt32, to index: inout UniqueIndex, in pages: inout PageTransaction
    ) {
        let half = UInt32(truncatingIfNeeded: hash)
        let partition = bits == 0 ? 0 : Int(half &>> UInt32(truncatingIfNeeded: 32 &- bits))
        let count = Int(counts[partition])
        entries[partition &* room &+ count] = UInt64(number) &<< 32 | UInt64(half)
        counts[partition] = UInt16(truncatingIfNeeded: count &+ 1)
        if count &+ 1 == room { flush(partition, to: &index, in: &pages) }
    }

    @inline(never)
    private func flush(
        _ partition: Int, to index: inout UniqueIndex, in pages: inout PageTransaction
    ) {
        for position in 0..<Int(counts[partition]) {
            let entry = entries[partition &* room &+ position]
            // Of a hash an index looks at the lower half alone.
            index.insert(
                hash: entry & 0xFFFF_FFFF, number: UInt32(truncatingIfNeeded: entry &>> 32),
                in: &pages)
        }
        counts[partition] = 0
    }

    /// Puts in what is left.
    func finish(_ index: inout UniqueIndex, in pages: inout PageTransaction) {
        for partition in 0..<1 << bits { flush(partition, to: &index, in: &pages) }
    }
}
