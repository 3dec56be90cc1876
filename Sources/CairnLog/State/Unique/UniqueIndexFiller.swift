// Fills a unique index with many entries, some hundreds of a partition at a time.
//
//   1. Entries are gathered by the upper bits of their hash, which select partitions in the index.
//   2. When there are enough for a partition, they are inserted: its table is in the cache after the first of
//      them, while inserting entries one by one would wait for memory each time.
//
// Threads: one owner.

/// Collects entries for a unique index.
final class UniqueIndexFiller {
    private let bits: Int
    /// The number of entries that are gathered for a partition.
    private let room: Int
    private let entries: UnsafeMutablePointer<UInt64>
    private let counts: UnsafeMutablePointer<UInt16>

    /// - Parameter index: the index, with capacity reserved for the entries.
    init(for index: UniqueIndex) {
        bits = index.bits
        // Four megabytes for all of them; somewhat more with very many partitions.
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
            // An index only uses the lower half of a hash.
            index.insert(
                hash: entry & 0xFFFF_FFFF, number: UInt32(truncatingIfNeeded: entry &>> 32),
                in: &pages)
        }
        counts[partition] = 0
    }

    /// Inserts the remaining entries.
    func finish(_ index: inout UniqueIndex, in pages: inout PageTransaction) {
        for partition in 0..<1 << bits { flush(partition, to: &index, in: &pages) }
    }
}
