// One hash table of the unique index, in pages of 64 slots under a header page that lists them.
//
//   header  capacity 4 | count 4 | page addresses of 8 bytes: 15 in a small header, 63 in a medium one, 511
//           in a large one
//
// The lowest bit of a listed address is set if the page was born in the commit of the header, so that a
// change need not read the page's own header, which would be another cache line for each entry of a batch.
// The bits are cleared when the header is copied.
//
// Invariants: capacity is a multiple of 64; at least one slot is empty, which ends every search; every slot
// between an entry's home and the entry is full.
// Threads: a value; see `PageTransaction`.

import CCairn

/// A hash table of one partition.
struct HashPartition {
    let header: Page

    private static let listOffset = 8
    private static let ownBit: UInt = 1
    /// The number of slots that the largest header can list.
    static let maximumCapacity = 511 * 64

    @inline(__always) init(_ header: Page) { self.header = header }

    @inline(__always) var capacity: Int { Int(header.data.load(as: UInt32.self)) }

    @inline(__always) var count: Int {
        get { Int(header.data.load(fromByteOffset: 4, as: UInt32.self)) }
        nonmutating set {
            header.data.storeBytes(
                of: UInt32(truncatingIfNeeded: newValue), toByteOffset: 4, as: UInt32.self)
        }
    }

    /// Whether it is at most 0.8 full with another entry.
    @inline(__always) var hasRoom: Bool { (count &+ 1) &* 5 <= capacity &* 4 }

    /// Returns the slots of a page.
    @inline(__always) func words(_ page: Int) -> UnsafeMutableRawPointer {
        let listed = header.data.load(
            fromByteOffset: Self.listOffset &+ page &* 8, as: UInt.self)
        return Page(address: listed & ~Self.ownBit).data
    }

    /// Returns the slots of a page for changing; the header must belong to this commit.
    @inline(__always)
    private func writableWords(_ page: Int, in pages: inout PageTransaction)
        -> UnsafeMutableRawPointer
    {
        let at = header.data + (Self.listOffset &+ page &* 8)
        let listed = at.load(as: UInt.self)
        if listed & Self.ownBit != 0 { return Page(address: listed & ~Self.ownBit).data }
        let own = pages.writable(Page(address: listed))
        at.storeBytes(of: own.address | Self.ownBit, as: UInt.self)
        return own.data
    }

    // MARK: Making

    /// Creates an empty table; the capacity is rounded up.
    static func make(capacity: Int, in pages: inout PageTransaction) -> HashPartition {
        let count = max(1, (capacity + 63) / 64)
        precondition(
            count <= 511, "a partition of evenly spread hashes is split before it has 32,704 slots")
        let header = pages.allocate(count <= 15 ? .small : count <= 63 ? .medium : .large)
        header.data.storeBytes(of: UInt32(count * 64), as: UInt32.self)
        header.data.storeBytes(of: 0, toByteOffset: 4, as: UInt32.self)
        for index in 0..<count {
            let page = pages.allocateZeroed(.medium)
            header.data.storeBytes(
                of: page.address | ownBit, toByteOffset: listOffset + index * 8, as: UInt.self)
        }
        return HashPartition(header)
    }

    /// Creates a table with entries from a checkpoint; nil if they do not belong to it.
    static func make(
        entries: UnsafeRawBufferPointer, capacity: Int, number: UInt32, bits: Int,
        in pages: inout PageTransaction
    ) -> HashPartition? {
        let count = entries.count / 8
        guard entries.count & 7 == 0, capacity > 0, capacity <= maximumCapacity, capacity & 63 == 0,
            count < capacity
        else { return nil }
        let partition = make(capacity: capacity, in: &pages)
        // They are sorted by hash, or in the order of their slots, so most belong in their home slot or after the
        // previous entry. All slots from `run` up to `next` are full: an entry whose home is there belongs after
        // them.
        var run = 0
        var next = 0
        var page = 0
        var words = partition.words(0)
        for index in 0..<count {
            let value = entries.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
            let half = UInt32(truncatingIfNeeded: value)
            guard value >> 32 != 0, bits == 0 || half >> UInt32(32 - bits) == number else {
                return nil
            }
            let home = Self.home(half, bits: bits, capacity: capacity)
            let isInRun = home >= run && home <= next
            var start = isInRun ? next : home
            if start < capacity {
                if start &>> 6 != page {
                    page = start &>> 6
                    words = partition.words(page)
                }
                let at = words + (start & 63) &* 8
                if at.load(as: UInt64.self) == 0 {
                    at.storeBytes(of: value, as: UInt64.self)
                    if !isInRun { run = home }
                    next = start &+ 1
                    continue
                }
            }
            // Entries that do not fit before the end wrap around to the beginning; those that did when the
            // checkpoint was written may come first, and are put where the last ones would be.
            if start == capacity { (start, run) = (0, 0) }
            let slot = partition.emptySlot(from: start)
            partition.put(value, into: slot)
            if slot < start { run = 0 } else if !isInRun { run = home }
            next = slot &+ 1
        }
        partition.count = count
        return partition
    }

    /// Returns the same table with a header of this commit.
    @inline(__always)
    func writable(in pages: inout PageTransaction) -> HashPartition {
        header.birth == pages.epoch ? self : copy(in: &pages)
    }

    @inline(never)
    private func copy(in pages: inout PageTransaction) -> HashPartition {
        let own = pages.writable(header)
        for index in 0..<capacity / 64 {
            let at = own.data + (Self.listOffset + index * 8)
            at.storeBytes(of: at.load(as: UInt.self) & ~Self.ownBit, as: UInt.self)
        }
        return HashPartition(own)
    }

    /// Returns a table of another capacity with the same entries; releases this one.
    func resized(to capacity: Int, bits: Int, in pages: inout PageTransaction) -> HashPartition {
        let larger = HashPartition.make(capacity: capacity, in: &pages)
        for page in 0..<self.capacity / 64 {
            let words = words(page)
            for slot in 0..<64 {
                let value = words.load(fromByteOffset: slot &* 8, as: UInt64.self)
                if value != 0 { larger.fill(value, bits: bits) }
            }
        }
        larger.count = count
        release(in: &pages)
        return larger
    }

    /// Returns an empty table of a capacity; releases this one.
    func resized(toEmpty capacity: Int, in pages: inout PageTransaction) -> HashPartition {
        release(in: &pages)
        return .make(capacity: capacity, in: &pages)
    }

    func release(in pages: inout PageTransaction) {
        for index in 0..<capacity / 64 {
            pages.release(Page(address: UInt(bitPattern: words(index))))
        }
        pages.release(header)
    }

    // MARK: Entries

    /// Returns the home slot of an entry.
    @inline(__always) func home(_ half: UInt32, bits: Int) -> Int {
        Self.home(half, bits: bits, capacity: capacity)
    }

    @inline(__always)
    private static func home(_ half: UInt32, bits: Int, capacity: Int) -> Int {
        let rest = half &<< UInt32(truncatingIfNeeded: bits)
        return Int(truncatingIfNeeded: (UInt64(rest) &* UInt64(capacity)) &>> 32)
    }

    /// Prefetches the memory of an entry's home slot.
    @inline(__always) func prefetch(_ half: UInt32, bits: Int) {
        let slot = home(half, bits: bits)
        cairn_prefetch(words(slot &>> 6) + (slot & 63) &* 8)
    }

    @inline(__always) subscript(_ slot: Int) -> UInt64 {
        words(slot &>> 6).load(fromByteOffset: (slot & 63) &* 8, as: UInt64.self)
    }

    @inline(__always)
    private func set(_ slot: Int, _ value: UInt64, in pages: inout PageTransaction) {
        writableWords(slot &>> 6, in: &pages).storeBytes(
            of: value, toByteOffset: (slot & 63) &* 8, as: UInt64.self)
    }

    /// Returns the first empty slot from the home of an entry on.
    @inline(__always)
    private func emptySlot(_ value: UInt64, bits: Int) -> Int {
        emptySlot(from: home(UInt32(truncatingIfNeeded: value), bits: bits))
    }

    /// Returns the first empty slot from another one on.
    @inline(__always)
    private func emptySlot(from start: Int) -> Int {
        let capacity = capacity
        var slot = start
        var words = words(slot &>> 6)
        while words.load(fromByteOffset: (slot & 63) &* 8, as: UInt64.self) != 0 {
            slot &+= 1
            if slot & 63 == 0 {
                if slot == capacity { slot = 0 }
                words = self.words(slot &>> 6)
            }
        }
        return slot
    }

    /// Inserts an entry into a table that has room, and a header of this commit.
    @inline(__always)
    func insert(_ value: UInt64, bits: Int, in pages: inout PageTransaction) {
        set(emptySlot(value, bits: bits), value, in: &pages)
        count &+= 1
    }

    /// Inserts an entry without counting it; all pages of the table must belong to this commit.
    @inline(__always)
    private func fill(_ value: UInt64, bits: Int) {
        put(value, into: emptySlot(value, bits: bits))
    }

    /// Puts an entry into a slot of such a table.
    @inline(__always)
    private func put(_ value: UInt64, into slot: Int) {
        words(slot &>> 6).storeBytes(of: value, toByteOffset: (slot & 63) &* 8, as: UInt64.self)
    }

    @inline(__always)
    func slot(of value: UInt64, bits: Int) -> Int? {
        let capacity = capacity
        var slot = home(UInt32(truncatingIfNeeded: value), bits: bits)
        while true {
            let found = self[slot]
            if found == value { return slot }
            if found == 0 { return nil }
            slot &+= 1
            if slot == capacity { slot = 0 }
        }
    }

    /// Empties a slot and moves back the entries that had to go past it; the header must belong to this
    /// commit.
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
            // An entry may fill the hole unless its home is after the hole, wrapping around up to the entry.
            let staysPut =
                hole <= next ? (home > hole && home <= next) : (home > hole || home <= next)
            if staysPut { continue }
            set(hole, value, in: &pages)
            hole = next
        }
        set(hole, 0, in: &pages)
        count &-= 1
    }

    /// Returns a table with the same capacity; its contents are undefined.
    func emptyCopy(in pages: inout PageTransaction) -> HashPartition {
        let own = pages.allocate(header.size)
        own.data.storeBytes(of: UInt32(truncatingIfNeeded: capacity), as: UInt32.self)
        for index in 0..<capacity / 64 {
            own.data.storeBytes(
                of: pages.allocate(.medium).address | Self.ownBit,
                toByteOffset: Self.listOffset + index * 8, as: UInt.self)
        }
        return HashPartition(own)
    }

    /// Fills another table of the same capacity with the entries of this one, except some. If many are
    /// removed, that is faster than closing the hole of each. Any thread may do it that is the sole owner of
    /// the other table.
    ///
    /// - Returns: the number of an object without such an entry here, if there is one: then the other table
    ///   is invalid.
    func fill(
        _ other: HashPartition, without entries: Slice<UnsafeBufferPointer<UInt64>>, bits: Int
    )
        -> UInt32?
    {
        let capacity = capacity
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: capacity / 64) { leaving in
            // By page, a bit for each slot to empty.
            leaving.initialize(repeating: 0)
            for entry in entries {
                guard let slot = slot(of: entry, bits: bits) else {
                    return UInt32(truncatingIfNeeded: entry >> 32)
                }
                leaving[slot &>> 6] |= 1 &<< UInt64(slot & 63)
            }
            for page in 0..<capacity / 64 {
                other.words(page).initializeMemory(as: UInt8.self, repeating: 0, count: 512)
            }
            var count = 0
            for page in 0..<capacity / 64 {
                let words = words(page)
                let gone = leaving[page]
                for slot in 0..<64 {
                    let value = words.load(fromByteOffset: slot &* 8, as: UInt64.self)
                    if value == 0 || gone &>> UInt64(slot) & 1 != 0 { continue }
                    other.fill(value, bits: bits)
                    count &+= 1
                }
            }
            other.count = count
            return nil
        }
    }

    /// Copies all entries, sorted by their hash.
    func copySorted(to entries: UnsafeMutableBufferPointer<UInt64>, bits: Int) {
        var wrapped: [UInt64] = []
        var count = 0
        for page in 0..<capacity / 64 {
            let words = words(page)
            for slot in 0..<64 {
                let value = words.load(fromByteOffset: slot &* 8, as: UInt64.self)
                if value == 0 { continue }
                let home = home(UInt32(truncatingIfNeeded: value), bits: bits)
                if home > page &* 64 &+ slot {
                    wrapped.append(value)
                } else if count < entries.count {
                    entries[count] = value
                    count &+= 1
                }
            }
        }
        precondition(
            count + wrapped.count == entries.count, "a table contains as many entries as it counts")
        for value in wrapped {
            entries[count] = value
            count += 1
        }
        SortedPartition.sort(entries)
    }

    // MARK: Checking

    /// Returns the problems of a partition's table, a sentence each.
    func problems(partition: UInt32, bits: Int) -> [String] {
        var problems: [String] = []
        let capacity = capacity
        let values = (0..<capacity).map { self[$0] }
        let full = values.reduce(0) { $0 + ($1 == 0 ? 0 : 1) }
        if full != count {
            problems.append("partition \(partition) holds \(full) entries, not \(count)")
        }
        guard let empty = values.firstIndex(of: 0) else {
            return problems + ["partition \(partition) has no empty slot"]
        }
        // One round from an empty slot: an entry's home is between the last empty slot and the entry.
        var run = 0
        for step in 1...capacity {
            let slot = (empty + step) % capacity
            let value = values[slot]
            if value == 0 {
                run = 0
                continue
            }
            let half = UInt32(truncatingIfNeeded: value)
            if bits > 0, half >> UInt32(32 - bits) != partition {
                problems.append("slot \(slot) of partition \(partition) belongs in another one")
            }
            let distance = (slot - home(half, bits: bits) + capacity) % capacity
            if distance > run {
                problems.append(
                    "slot \(slot) of partition \(partition) cannot be reached from its home")
            }
            if value >> 32 == 0 { problems.append("slot \(slot) has no object number") }
            run += 1
        }
        for index in 0..<capacity / 64 {
            let listed = header.data.load(
                fromByteOffset: Self.listOffset + index * 8, as: UInt.self)
            let birth = Page(address: listed & ~Self.ownBit).birth
            if birth > header.birth || (listed & Self.ownBit != 0 && birth != header.birth) {
                problems.append(
                    "page \(index) of partition \(partition) is younger than its header says")
            }
        }
        return problems
    }
}
