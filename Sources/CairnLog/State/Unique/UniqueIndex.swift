// Hash of a key → its object.
//
// A slot is 8 bytes: object number 32 | lower half of the key's hash 32; zero is an empty slot, since numbers
// count from 1. Slots are in pages of 64. The upper bits of the stored half select the partition, the others
// the home in it: (rest × capacity) >> 32. Therefore neither growth nor a change of the number of partitions
// ever reads a key: both read the slots in order. Collisions go to the next slot; removal shifts back.
//
// Growth: a partition that is 0.8 full becomes 1.18 times larger, so an entry takes 10 to 12 bytes. There is
// one partition up to 24,000 entries, then 128, 1,024 from 1.6 million on, 16,384 from 20 million on, and
// 262,144 from 320 million on. (More and earlier would leave small tables half empty: 58 bytes an entry at
// 5,000 with 1,024 of them.) A bulk load announces the number of entries, and nothing grows.
//
// The hash is never identity: the caller gets candidates and compares keys. Two keys share their 32 bits once
// in four thousand million pairs, so with a million entries one probe in four thousand finds a wrong
// candidate.
//
// Within a commit many rows may temporarily have one key. Their entries cannot be distributed: if they exceed
// one partition, the index reports that it is crowded, and becomes unusable; the commit fails.
//
// A partition from a checkpoint may be the sorted entries in the file (SortedPartition): they are only
// searched, and become a table before they are changed or iterated over.
//
// Invariants: IX1: one entry for each live row that has a key (see `KeyForm`). Every slot between an entry's
// home and the entry is full.
// Threads: a value; see `PageTransaction`.

import CCairn
import CairnStore
import Synchronization

/// The objects by the hash of their key.
package struct UniqueIndex: BitwiseCopyable, Sendable {
    /// Partition → address of its header page; empty as long as there is one partition.
    private var partitions = RadixArray()
    /// The address for the only partition: each commit would copy a page for this alone.
    private var only: UInt = 0
    private var partitionBits = 0
    private(set) var count = 0
    /// Whether it has lost entries, because more had one hash than a partition can contain.
    private(set) var isCrowded = false
    /// The number of entries from which on there are more partitions.
    private var splitLimit: Int
    /// The initial number of slots of a new partition, and the minimum of one that grows.
    private var plannedCapacity = 64
    /// Halves the limits below this many times, so that tests cross them with few entries.
    private let splitShift: Int

    private static let splits: [(limit: Int, bits: Int)] = [
        (24_000, 7), (1_600_000, 10), (20_000_000, 14), (320_000_000, 18),
    ]

    package init(splitShift: Int = 0) {
        self.splitShift = splitShift
        splitLimit = Self.splits[0].limit >> splitShift
    }

    // MARK: Checkpoints

    /// The number of hash bits that select a partition.
    var bits: Int { partitionBits }

    /// Calls the body with each existing partition.
    func forEachPartition(_ body: (UInt32, HashPartition) -> Void) {
        for number in 0..<(UInt32(1) << UInt32(partitionBits)) {
            let header = header(ofPartition: number)
            if !header.isNone { body(number, HashPartition(header)) }
        }
    }

    /// The number of partitions, including those that do not exist yet.
    var partitionCount: UInt32 { UInt32(1) << UInt32(partitionBits) }

    /// Loads a partition that is still in a checkpoint.
    func loadPartition(_ number: UInt32) { _ = header(ofPartition: number) }

    /// An index from a checkpoint, without entries so far; nil if none has that number of bits.
    init?(bits: Int) {
        self.init()
        guard bits == 0 || Self.splits.contains(where: { $0.bits == bits }) else { return nil }
        partitionBits = bits
        splitLimit = Self.splits.first { $0.bits > bits }?.limit ?? .max
    }

    /// Restores a missing partition, or its placeholder; false if it cannot be there.
    mutating func restore(
        _ number: UInt32, header: UInt, count: Int, in pages: inout PageTransaction
    ) -> Bool {
        guard number < UInt32(1) << UInt32(partitionBits), address(ofPartition: number) == 0 else {
            return false
        }
        self.count += count
        setAddress(ofPartition: number, header, in: &pages)
        return true
    }

    @inline(__always) private func address(ofPartition number: UInt32) -> UInt {
        partitionBits == 0 ? only : UInt(partitions[number])
    }

    private mutating func setAddress(
        ofPartition number: UInt32, _ address: UInt, in pages: inout PageTransaction
    ) {
        if partitionBits == 0 {
            only = address
        } else {
            partitions.set(number, UInt64(address), in: &pages)
        }
    }

    /// Returns the header of a partition's table; none if there is none.
    @inline(__always) private func header(ofPartition number: UInt32) -> Page {
        let address = address(ofPartition: number)
        return LatePage.isTagged(address)
            ? LatePage.wholePage(address) : Page(address: address)
    }

    /// Returns the header of a partition, which may be compact; none if there is none.
    @inline(__always) private func searchableHeader(of half: UInt32) -> Page {
        let address = address(ofPartition: partition(of: half))
        return LatePage.isTagged(address)
            ? LatePage.page(address) : Page(address: address)
    }

    // MARK: Asking

    /// The objects whose key may have a hash, one after the other.
    struct Cursor {
        private let partition: HashPartition
        private let half: UInt32
        private var slot: Int
        /// The page of the slot, or the next sorted entry; nil at the end.
        private var words: UnsafeRawPointer?
        /// The number of sorted entries left; -1 for a table.
        private var sortedCount = -1

        @inline(__always)
        fileprivate init(half: UInt32) {
            partition = HashPartition(.none)
            self.half = half
            slot = 0
        }

        fileprivate init(_ sorted: SortedPartition, half: UInt32, bits: Int) {
            self.init(half: half)
            let found = sorted.entries(with: half, bits: bits)
            words = found.first
            sortedCount = found.count
        }

        @inline(__always)
        fileprivate init(_ partition: HashPartition, half: UInt32, bits: Int) {
            self.partition = partition
            self.half = half
            slot = partition.home(half, bits: bits)
            words = UnsafeRawPointer(partition.words(slot &>> 6))
        }

        /// Returns the next candidate; nil at the end.
        @inline(__always)
        mutating func next() -> UInt32? {
            if sortedCount >= 0 { return nextSorted() }
            while let words {
                let value = words.load(fromByteOffset: (slot & 63) &* 8, as: UInt64.self)
                if value == 0 {
                    self.words = nil
                    return nil
                }
                slot &+= 1
                turnPage()
                if UInt32(truncatingIfNeeded: value) == half {
                    return UInt32(truncatingIfNeeded: value &>> 32)
                }
            }
            return nil
        }

        private mutating func nextSorted() -> UInt32? {
            guard sortedCount > 0, let entry = words else { return nil }
            sortedCount &-= 1
            words = entry + 8
            return UInt32(
                truncatingIfNeeded: entry.loadUnaligned(as: UInt64.self) &>> 32)
        }

        /// Whether no candidate is left.
        @inline(__always)
        var isEmpty: Bool {
            var rest = self
            return rest.next() == nil
        }

        /// Returns the first candidate that has the key, according to the closure.
        @inline(__always)
        func first(where hasKey: (UInt32) throws(StoreError) -> Bool) throws(StoreError)
            -> UInt32?
        {
            var rest = self
            while let number = rest.next() {
                if try hasKey(number) { return number }
            }
            return nil
        }

        /// Moves to the next page when the slot is there.
        @inline(__always)
        private mutating func turnPage() {
            guard slot & 63 == 0 else { return }
            if slot == partition.capacity { slot = 0 }
            words = UnsafeRawPointer(partition.words(slot &>> 6))
        }
    }

    /// Returns the candidates for a hash. The index must not change during the iteration.
    ///
    /// - Parameter forCommit: whether a commit depends on the answer, which then comes from verified memory of the
    ///   process instead of the mapped file, and will often change the partition.
    @inline(__always)
    func firstCandidate(hash: UInt64, forCommit: Bool = false) -> Cursor {
        let half = UInt32(truncatingIfNeeded: hash)
        let header = forCommit ? self.header(of: half) : searchableHeader(of: half)
        if header.isNone { return Cursor(half: half) }
        if LatePage.isCompact(header) {
            return Cursor(SortedPartition(header), half: half, bits: partitionBits)
        }
        return Cursor(HashPartition(header), half: half, bits: partitionBits)
    }

    /// Prefetches the memory of a hash's partition; `prefetchHome` prefetches its slot.
    @inline(__always)
    func prefetchPartition(hash: UInt64) {
        let header = loadedHeader(of: UInt32(truncatingIfNeeded: hash))
        if !header.isNone { cairn_prefetch(UnsafeRawPointer(LatePage.content(header).data)) }
    }

    /// Prefetches the memory of the first slot to search for a hash.
    @inline(__always)
    func prefetchHome(hash: UInt64) {
        let half = UInt32(truncatingIfNeeded: hash)
        let header = loadedHeader(of: half)
        if header.isNone { return }
        if LatePage.isCompact(header) {
            SortedPartition(header).prefetch(half, bits: partitionBits)
        } else {
            HashPartition(header).prefetch(half, bits: partitionBits)
        }
    }

    /// Returns the header of the partition for half a hash. A partition that is still in a checkpoint is not
    /// read before it is needed.
    @inline(__always) private func loadedHeader(of half: UInt32) -> Page {
        let address = address(ofPartition: partition(of: half))
        return LatePage.isTagged(address)
            ? LatePage.loadedPage(address) : Page(address: address)
    }

    /// Returns the partition for the lower half of a hash.
    @inline(__always) func partition(of half: UInt32) -> UInt32 {
        partitionBits == 0 ? 0 : half &>> UInt32(truncatingIfNeeded: 32 &- partitionBits)
    }

    @inline(__always) private func header(of half: UInt32) -> Page {
        header(ofPartition: partition(of: half))
    }

    // MARK: Changing

    /// Inserts an entry.
    @inline(__always)
    package mutating func insert(hash: UInt64, number: UInt32, in pages: inout PageTransaction) {
        assert(number != 0, "object numbers count from 1")
        if count >= splitLimit { split(expecting: count, in: &pages) }
        let half = UInt32(truncatingIfNeeded: hash)
        let partition = roomyPartition(half, in: &pages)
        partition.insert(UInt64(number) &<< 32 | UInt64(half), bits: partitionBits, in: &pages)
        count &+= 1
    }

    /// Removes an entry; false if it does not exist.
    mutating func remove(hash: UInt64, number: UInt32, in pages: inout PageTransaction) -> Bool {
        let half = UInt32(truncatingIfNeeded: hash)
        let header = self.header(of: half)
        guard !header.isNone else { return false }
        let value = UInt64(number) &<< 32 | UInt64(half)
        let old = HashPartition(header)
        guard let slot = old.slot(of: value, bits: partitionBits) else { return false }
        let own = old.writable(in: &pages)
        if own.header != header { setPartition(partition(of: half), own, in: &pages) }
        own.remove(slot, bits: partitionBits, in: &pages)
        count &-= 1
        return true
    }

    /// A partition from which many entries are removed.
    private struct Leaving {
        let partition: UInt32
        let entries: Range<Int>
        let old: HashPartition
        let new: HashPartition
    }

    /// Removes many entries, each with the number in the upper and half of the hash in the lower bits; those
    /// of a partition must be consecutive, in any order.
    ///
    /// - Parameter crew: the threads that help.
    /// - Returns: the number of an object without such an entry, if there is one.
    mutating func remove(
        grouped entries: [UInt64], in pages: inout PageTransaction, _ crew: ScanCrew? = nil
    ) -> UInt32? {
        var many: [Leaving] = []
        var start = 0
        while start < entries.count {
            let number = partition(of: UInt32(truncatingIfNeeded: entries[start]))
            var end = start + 1
            while end < entries.count,
                partition(of: UInt32(truncatingIfNeeded: entries[end])) == number
            {
                end += 1
            }
            let header = self.header(ofPartition: number)
            if !header.isNone, (end - start) * 8 >= HashPartition(header).count {
                let old = HashPartition(header)
                many.append(
                    Leaving(
                        partition: number, entries: start..<end, old: old,
                        new: old.emptyCopy(in: &pages)))
            } else {
                for entry in entries[start..<end] {
                    let object = UInt32(truncatingIfNeeded: entry >> 32)
                    if !remove(hash: entry & 0xFFFF_FFFF, number: object, in: &pages) {
                        for leaving in many { leaving.new.release(in: &pages) }
                        return object
                    }
                }
            }
            start = end
        }
        return remove(entries, many, in: &pages, crew)
    }

    private mutating func remove(
        _ entries: [UInt64], _ many: [Leaving], in pages: inout PageTransaction, _ crew: ScanCrew?
    ) -> UInt32? {
        if many.isEmpty { return nil }
        let bits = partitionBits
        // By partition: an object without an entry there, or 0.
        let missing = UnsafeMutablePointer<UInt32>.allocate(capacity: many.count)
        missing.initialize(repeating: 0, count: many.count)
        defer { missing.deallocate() }
        entries.withUnsafeBufferPointer { entries in
            let next = Atomic(0)
            func work() {
                while true {
                    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                    if index >= many.count { return }
                    let leaving = many[index]
                    missing[index] =
                        leaving.old.fill(
                            leaving.new, without: entries[leaving.entries], bits: bits) ?? 0
                }
            }
            if let crew, many.count >= Self.partitionsWorthHelp {
                crew.together(work)
            } else {
                work()
            }
        }
        var first: UInt32?
        for (index, leaving) in many.enumerated() {
            if missing[index] != 0 {
                leaving.new.release(in: &pages)
                first = first ?? missing[index]
                continue
            }
            setPartition(leaving.partition, leaving.new, in: &pages)
            leaving.old.release(in: &pages)
            count &-= leaving.entries.count
        }
        return first
    }

    /// The number of partitions below which all are rebuilt before a helper is awake.
    private static let partitionsWorthHelp = 16

    /// Announces that there will be about `total` entries, so that partitions are sized once. If fewer
    /// entries come, the memory for them stays unused.
    package mutating func reserve(_ total: Int, in pages: inout PageTransaction) {
        guard total > count else { return }
        if total >= splitLimit { split(expecting: total, in: &pages) }
        plannedCapacity = max(plannedCapacity, capacity(expecting: total))
    }

    /// Returns the number of slots for a partition with its share of all entries, and some more: hashes
    /// mostly distribute entries evenly.
    private func capacity(expecting total: Int) -> Int {
        let share = total >> partitionBits
        var spread = 1
        while spread * spread < share { spread *= 2 }
        // At most the share of a full table: growth does the rest.
        return min(HashPartition.maximumCapacity, (share + 2 * spread) * 5 / 4 + 64)
    }

    /// Releases all pages.
    mutating func removeAll(in pages: inout PageTransaction) {
        for number in 0..<(UInt32(1) << UInt32(partitionBits)) {
            let header = header(ofPartition: number)
            if !header.isNone { HashPartition(header).release(in: &pages) }
        }
        partitions.removeAll(in: &pages)
        self = UniqueIndex(splitShift: splitShift)
    }

    private mutating func setPartition(
        _ number: UInt32, _ partition: HashPartition, in pages: inout PageTransaction
    ) {
        setAddress(ofPartition: number, partition.header.address, in: &pages)
    }

    /// Returns the partition of a hash for changing, with room for an entry.
    @inline(__always)
    private mutating func roomyPartition(_ half: UInt32, in pages: inout PageTransaction)
        -> HashPartition
    {
        let header = self.header(of: half)
        if !header.isNone, header.birth == pages.epoch {
            let partition = HashPartition(header)
            if partition.hasRoom { return partition }
        }
        return makeRoom(half, header, in: &pages)
    }

    @inline(never)
    private mutating func makeRoom(_ half: UInt32, _ header: Page, in pages: inout PageTransaction)
        -> HashPartition
    {
        let partition: HashPartition
        if header.isNone {
            partition = .make(capacity: plannedCapacity, in: &pages)
        } else {
            let old = HashPartition(header)
            if old.hasRoom {
                partition = old.writable(in: &pages)
            } else if old.capacity >= HashPartition.maximumCapacity {
                // With evenly distributed hashes, a partition is split before the largest table is full.
                isCrowded = true
                partition = old.resized(toEmpty: 64, in: &pages)
            } else {
                let larger = min(old.capacity * 118 / 100, HashPartition.maximumCapacity)
                let capacity = max(old.capacity + 64, larger, plannedCapacity)
                partition = old.resized(to: capacity, bits: partitionBits, in: &pages)
            }
        }
        setPartition(self.partition(of: half), partition, in: &pages)
        return partition
    }

    /// Creates the number of partitions intended for a number of entries.
    @inline(never)
    private mutating func split(expecting total: Int, in pages: inout PageTransaction) {
        var fresh = UniqueIndex(splitShift: splitShift)
        fresh.splitLimit = .max
        for split in Self.splits {
            if total >= split.limit >> splitShift {
                fresh.partitionBits = split.bits
            } else {
                fresh.splitLimit = split.limit >> splitShift
                break
            }
        }
        // If no number was announced, growth continues in small steps: spare room would only be empty.
        fresh.plannedCapacity =
            total == count
            ? (count >> fresh.partitionBits) * 5 / 4 : fresh.capacity(expecting: total)
        for number in 0..<(UInt32(1) << UInt32(partitionBits)) {
            let header = header(ofPartition: number)
            if header.isNone { continue }
            let old = HashPartition(header)
            for slot in 0..<old.capacity {
                let value = old[slot]
                if value == 0 { continue }
                let room = fresh.roomyPartition(UInt32(truncatingIfNeeded: value), in: &pages)
                room.insert(value, bits: fresh.partitionBits, in: &pages)
            }
            old.release(in: &pages)
        }
        fresh.count = count
        if total == count { fresh.plannedCapacity = 64 }
        partitions.removeAll(in: &pages)
        self = fresh
    }

    // MARK: Checking

    /// Returns the problems of the index, a sentence each.
    func _checkInvariants() -> [String] {
        var problems: [String] = []
        var entries = 0
        for number in 0..<(UInt32(1) << UInt32(partitionBits)) {
            let header = header(ofPartition: number)
            if header.isNone { continue }
            let partition = HashPartition(header)
            entries += partition.count
            problems += partition.problems(partition: number, bits: partitionBits)
        }
        if entries != count {
            problems.append("the partitions hold \(entries) entries, not \(count)")
        }
        return problems
    }
}
