// Hash of a key → the object that has it.
//
// A slot is 8 bytes: object number 32 | lower half of the key's hash 32; zero is an empty slot, since numbers
// count from 1. Slots lie in pages of 64. The upper bits of the stored half choose the partition, the others
// the home in it: (rest × capacity) >> 32. So neither growth nor a change of the number of partitions ever
// reads a key: both stream through the slots in order. Collisions go to the next slot; removal shifts back.
//
// Growth: a partition that is 0.8 full becomes 1.18 times larger, so an entry takes 10 to 12 bytes. There is
// one partition up to 24,000 entries, then 128, 1,024 from 1.6 million on, and 16,384 from 20 million on.
// (More and earlier would leave small tables half empty: 58 bytes an entry at 5,000 with 1,024 of them.)
//
// The hash is never identity: whoever asks gets candidates and compares keys. Two keys share their 32 bits
// once in four thousand million pairs, so at a million entries one probe in four thousand looks in vain.
//
// Invariants: IX1: one entry for each live row without a nil part. Every slot between an entry's home and the
// entry is full.
// Threads: a value; see `PageTransaction`.

/// The objects by the hash of their key.
struct UniqueIndex: Sendable {
    /// Partition → address of its header page.
    private var partitions = RadixArray()
    private var partitionBits = 0
    private(set) var count = 0

    private static let splits: [(limit: Int, bits: Int)] = [
        (24_000, 7), (1_600_000, 10), (20_000_000, 14),
    ]

    // MARK: Asking

    /// The objects whose key may have a hash, one after the other.
    struct Cursor {
        private let header: Page
        private let half: UInt32
        private var slot: Int
        private var left: Int

        fileprivate init(header: Page, half: UInt32, slot: Int, left: Int) {
            self.header = header
            self.half = half
            self.slot = slot
            self.left = left
        }

        /// The next candidate; nil when there is none left.
        @inline(__always)
        mutating func next() -> UInt32? {
            while left > 0 {
                let partition = Partition(header)
                let value = partition[slot]
                if value == 0 {
                    left = 0
                    return nil
                }
                slot &+= 1
                if slot == partition.capacity { slot = 0 }
                left &-= 1
                if UInt32(truncatingIfNeeded: value) == half {
                    return UInt32(truncatingIfNeeded: value >> 32)
                }
            }
            return nil
        }
    }

    /// The candidates for a hash. The index must not change while they are gone through.
    @inline(__always)
    func firstCandidate(hash: UInt64) -> Cursor {
        let half = UInt32(truncatingIfNeeded: hash)
        let header = self.header(of: half)
        if header.isNone { return Cursor(header: header, half: half, slot: 0, left: 0) }
        let partition = Partition(header)
        return Cursor(
            header: header, half: half, slot: partition.home(half, bits: partitionBits),
            left: partition.capacity)
    }

    @inline(__always) private func partition(of half: UInt32) -> UInt32 {
        partitionBits == 0 ? 0 : half >> UInt32(32 &- partitionBits)
    }

    @inline(__always) private func header(of half: UInt32) -> Page {
        Page(address: UInt(partitions[partition(of: half)]))
    }

    // MARK: Changing

    /// Adds an entry.
    mutating func insert(hash: UInt64, number: UInt32, in pages: inout PageTransaction) {
        if partitionBits < 14 { splitIfDue(in: &pages) }
        let half = UInt32(truncatingIfNeeded: hash)
        let partition = makeRoom(half, in: &pages)
        partition.insert(UInt64(number) << 32 | UInt64(half), bits: partitionBits, in: &pages)
        count += 1
    }

    /// Takes an entry out; false if it is not there.
    mutating func remove(hash: UInt64, number: UInt32, in pages: inout PageTransaction) -> Bool {
        let half = UInt32(truncatingIfNeeded: hash)
        let header = self.header(of: half)
        guard !header.isNone else { return false }
        let value = UInt64(number) << 32 | UInt64(half)
        guard let slot = Partition(header).slot(of: value, bits: partitionBits) else {
            return false
        }
        let partition = writablePartition(half, in: &pages)
        partition.remove(slot, bits: partitionBits, in: &pages)
        count -= 1
        return true
    }

    private mutating func writablePartition(_ half: UInt32, in pages: inout PageTransaction)
        -> Partition
    {
        let number = partition(of: half)
        let old = Page(address: UInt(partitions[number]))
        let own = pages.writable(old)
        if own != old { partitions.set(number, UInt64(own.address), in: &pages) }
        return Partition(own)
    }

    /// The partition of a hash with at least one empty slot to spare.
    private mutating func makeRoom(_ half: UInt32, in pages: inout PageTransaction) -> Partition {
        let number = partition(of: half)
        let header = Page(address: UInt(partitions[number]))
        if header.isNone {
            let fresh = Partition.make(capacity: 64, in: &pages)
            partitions.set(number, UInt64(fresh.header.address), in: &pages)
            return fresh
        }
        let old = Partition(header)
        guard (old.count + 1) * 5 > old.capacity * 4 else {
            return writablePartition(half, in: &pages)
        }
        let larger = Partition.make(
            capacity: max(old.capacity + 64, old.capacity * 118 / 100), in: &pages)
        old.forEach { larger.insert($0, bits: partitionBits, in: &pages) }
        old.release(in: &pages)
        partitions.set(number, UInt64(larger.header.address), in: &pages)
        return larger
    }

    /// Makes more partitions when there are many entries.
    private mutating func splitIfDue(in pages: inout PageTransaction) {
        guard let step = Self.splits.first(where: { count >= $0.limit && partitionBits < $0.bits })
        else { return }
        let old = self
        var fresh = UniqueIndex()
        fresh.partitionBits = step.bits
        // Room for what each will get, and some more: entries spread evenly, with a little luck.
        let share = old.count >> step.bits
        let capacity = max(64, share * 13 / 10)
        for number in 0..<(UInt32(1) << UInt32(old.partitionBits)) {
            let header = Page(address: UInt(old.partitions[number]))
            if header.isNone { continue }
            Partition(header).forEach { value in
                let half = UInt32(truncatingIfNeeded: value)
                let target = fresh.partition(of: half)
                if fresh.partitions[target] == 0 {
                    let made = Partition.make(capacity: capacity, in: &pages)
                    fresh.partitions.set(target, UInt64(made.header.address), in: &pages)
                }
                let room = fresh.makeRoom(half, in: &pages)
                room.insert(value, bits: step.bits, in: &pages)
            }
            Partition(header).release(in: &pages)
        }
        fresh.count = old.count
        var replacedTable = old.partitions
        replacedTable.removeAll(in: &pages)
        self = fresh
    }
}

/// A hash table in pages of 64 slots, under a header page that lists them.
private struct Partition {
    let header: Page

    // Header: capacity 4 | count 4 | page addresses of 8 bytes. A medium header lists 63 pages, a large one 511.
    private static let listOffset = 8

    @inline(__always) init(_ header: Page) { self.header = header }

    @inline(__always) var capacity: Int { Int(header.data.load(as: UInt32.self)) }

    @inline(__always) var count: Int {
        get { Int(header.data.load(fromByteOffset: 4, as: UInt32.self)) }
        nonmutating set {
            header.data.storeBytes(of: UInt32(newValue), toByteOffset: 4, as: UInt32.self)
        }
    }

    @inline(__always) private func page(_ index: Int) -> Page {
        Page(
            address: header.data.load(fromByteOffset: Self.listOffset &+ index &* 8, as: UInt.self))
    }

    /// An empty table.
    static func make(capacity: Int, in pages: inout PageTransaction) -> Partition {
        // A table of few slots lives in one small page, so that a thousand partitions are not a thousand
        // half-kilobytes.
        let capacity = capacity <= 64 ? max(8, capacity) : (capacity + 63) & ~63
        let count = (capacity + 63) / 64
        precondition(count <= 511, "a partition is split before it has 32,704 slots")
        let header = pages.allocateZeroed(count <= 1 ? .small : count <= 63 ? .medium : .large)
        header.data.storeBytes(of: UInt32(capacity), as: UInt32.self)
        for index in 0..<count {
            let page = pages.allocateZeroed(capacity <= 16 ? .small : .medium)
            header.data.storeBytes(
                of: page.address, toByteOffset: listOffset + index * 8, as: UInt.self)
        }
        return Partition(header)
    }

    func release(in pages: inout PageTransaction) {
        for index in 0..<(capacity + 63) / 64 { pages.release(page(index)) }
        pages.release(header)
    }

    /// Where an entry belongs.
    @inline(__always) func home(_ half: UInt32, bits: Int) -> Int {
        let rest = half << UInt32(bits)
        return Int(truncatingIfNeeded: (UInt64(rest) &* UInt64(capacity)) >> 32)
    }

    @inline(__always) subscript(_ slot: Int) -> UInt64 {
        page(slot >> 6).data.load(fromByteOffset: (slot & 63) &* 8, as: UInt64.self)
    }

    /// Sets a slot in pages of this commit; the header must be of this commit.
    @inline(__always)
    private func set(_ slot: Int, _ value: UInt64, in pages: inout PageTransaction) {
        let at = header.data + (Self.listOffset &+ (slot >> 6) &* 8)
        let old = Page(address: at.load(as: UInt.self))
        let own = pages.writable(old)
        if own != old { at.storeBytes(of: own.address, as: UInt.self) }
        own.data.storeBytes(of: value, toByteOffset: (slot & 63) &* 8, as: UInt64.self)
    }

    @inline(__always)
    func insert(_ value: UInt64, bits: Int, in pages: inout PageTransaction) {
        var slot = home(UInt32(truncatingIfNeeded: value), bits: bits)
        let capacity = capacity
        while self[slot] != 0 {
            slot &+= 1
            if slot == capacity { slot = 0 }
        }
        set(slot, value, in: &pages)
        count += 1
    }

    func slot(of value: UInt64, bits: Int) -> Int? {
        var slot = home(UInt32(truncatingIfNeeded: value), bits: bits)
        let capacity = capacity
        for _ in 0..<capacity {
            let found = self[slot]
            if found == value { return slot }
            if found == 0 { return nil }
            slot &+= 1
            if slot == capacity { slot = 0 }
        }
        return nil
    }

    /// Empties a slot and moves back what had to go past it.
    func remove(_ slot: Int, bits: Int, in pages: inout PageTransaction) {
        let capacity = capacity
        var hole = slot
        var next = slot
        while true {
            next &+= 1
            if next == capacity { next = 0 }
            let value = self[next]
            if value == 0 { break }
            let home = home(UInt32(truncatingIfNeeded: value), bits: bits)
            // An entry may fill the hole unless its home lies after the hole, going round to the entry.
            let isBetween =
                hole <= next ? (home > hole && home <= next) : (home > hole || home <= next)
            if isBetween { continue }
            set(hole, value, in: &pages)
            hole = next
        }
        set(hole, 0, in: &pages)
        count -= 1
    }

    func forEach(_ body: (UInt64) -> Void) {
        for slot in 0..<capacity {
            let value = self[slot]
            if value != 0 { body(value) }
        }
    }
}
