// Hash of a key → its objects, any number of them.
//
// The table is that of the unique index (see `UniqueIndex`). The lowest bit of its half of a hash is a tag:
//   0   the slot has the number of the only object with the hash
//   1   the slot has the number of objects; their numbers are in the lists
// The lists of all hashes are one copy-on-write tree (see `OrderedIndex`) of hash and number: a list is a run
// of leaves, sorted chunks of a kilobyte in which a number takes three bytes, under counts. A list with a
// million numbers therefore inserts or removes one by copying one leaf and the few nodes above it, and
// returns its count without a scan.
//
// The hash is never identity: objects whose keys share 31 bits of it share a list. The caller compares keys
// with rows; the count is that of the list, which with a million keys is that of one key except for one in
// two thousand.
//
// Keys are those of the ordered index next to it (`IndexKey`), with nil as a value, so that
// `x == nil AND y == 3` has a list too.
//
// Invariants: IX1: one entry for each live row of the indexed entities. A list has at least two numbers, and
// its slot contains their count.
// Threads: a value; see `PageTransaction`.

import CCairn

/// The objects by the hash of a key that is not unique.
struct PostingIndex: Sendable {
    private(set) var table: UniqueIndex
    private(set) var lists = OrderedIndex()
    /// The number of objects.
    private(set) var count = 0

    private static let keyBytes = 4

    /// - Parameter splitShift: see `UniqueIndex`.
    init(splitShift: Int = 0) { table = UniqueIndex(splitShift: splitShift) }

    /// An index restored from a checkpoint.
    init(restoring table: UniqueIndex, lists: OrderedIndex, count: Int) {
        self.table = table
        self.lists = lists
        self.count = count
    }

    @inline(__always) private static func single(_ hash: UInt64) -> UInt64 { hash & 0xFFFF_FFFE }
    @inline(__always) private static func list(_ hash: UInt64) -> UInt64 {
        hash & 0xFFFF_FFFE | 1
    }

    /// The size of its pages in bytes.
    var byteCount: Int {
        var sum = lists.byteCount
        table.forEachPartition { _, partition in
            sum += partition.header.size.bytes + partition.capacity / 64 * PageSize.medium.bytes
        }
        return sum
    }

    // MARK: Asking

    /// The result of a lookup in the table.
    private enum Found {
        case none
        case single(UInt32)
        case list(UInt32)
    }

    @inline(__always)
    private func find(_ hash: UInt64) -> Found {
        var cursor = table.firstCandidate(hash: Self.single(hash))
        if let number = cursor.next() { return .single(number) }
        cursor = table.firstCandidate(hash: Self.list(hash))
        if let count = cursor.next() { return .list(count) }
        return .none
    }

    /// Returns the number of objects with a hash.
    func count(hash: UInt64) -> Int {
        switch find(hash) {
        case .none: 0
        case .single: 1
        case .list(let count): Int(count)
        }
    }

    /// Returns the numbers with a hash, ascending. The index must not change during the iteration.
    func numbers(hash: UInt64) -> PostingCursor {
        switch find(hash) {
        case .none: PostingCursor()
        case .single(let number): PostingCursor(number)
        case .list(let count):
            Self.withEntry(hash, 0) { entry in
                let key = UnsafeRawBufferPointer(rebasing: entry[..<Self.keyBytes])
                let rank = lists.rank(key)
                return PostingCursor(lists, rank..<rank + Int(count), hash: Self.single(hash))
            }
        }
    }

    /// Calls the body with the bytes of an entry of the lists.
    @inline(__always)
    static func withEntry<R>(
        _ hash: UInt64, _ number: UInt32, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        let half = UInt32(truncatingIfNeeded: single(hash))
        var entry = (UInt64(half) << 32 | UInt64(number)).bigEndian
        return withUnsafeBytes(of: &entry) { body($0) }
    }

    // MARK: Changing

    /// Inserts an object; false if the list of the hash contains it already.
    @discardableResult
    mutating func insert(hash: UInt64, number: UInt32, in pages: inout PageTransaction) -> Bool {
        switch find(hash) {
        case .none:
            table.insert(hash: Self.single(hash), number: number, in: &pages)
        case .single(let other):
            if other == number { return false }
            _ = table.remove(hash: Self.single(hash), number: other, in: &pages)
            table.insert(hash: Self.list(hash), number: 2, in: &pages)
            for number in [other, number] {
                _ = Self.withEntry(hash, number) { lists.insert($0, in: &pages) }
            }
        case .list(let size):
            guard Self.withEntry(hash, number, { lists.insert($0, in: &pages) }) else {
                return false
            }
            _ = table.remove(hash: Self.list(hash), number: size, in: &pages)
            table.insert(hash: Self.list(hash), number: size &+ 1, in: &pages)
        }
        count &+= 1
        return true
    }

    /// Removes an object; false if it does not exist.
    @discardableResult
    mutating func remove(hash: UInt64, number: UInt32, in pages: inout PageTransaction) -> Bool {
        switch find(hash) {
        case .none: return false
        case .single(let other):
            guard other == number else { return false }
            _ = table.remove(hash: Self.single(hash), number: number, in: &pages)
        case .list(let size):
            guard Self.withEntry(hash, number, { lists.remove($0, in: &pages) }) else {
                return false
            }
            _ = table.remove(hash: Self.list(hash), number: size, in: &pages)
            if size > 2 {
                table.insert(hash: Self.list(hash), number: size &- 1, in: &pages)
            } else {
                var rest = Self.withEntry(hash, 0) { entry in
                    let key = UnsafeRawBufferPointer(rebasing: entry[..<Self.keyBytes])
                    let rank = lists.rank(key)
                    return PostingCursor(lists, rank..<rank + 1, hash: Self.single(hash))
                }
                if let last = rest.next() {
                    _ = Self.withEntry(hash, last) { lists.remove($0, in: &pages) }
                    table.insert(hash: Self.single(hash), number: last, in: &pages)
                }
            }
        }
        count &-= 1
        return true
    }

    /// Releases all pages.
    mutating func removeAll(in pages: inout PageTransaction) {
        table.removeAll(in: &pages)
        lists.removeAll(in: &pages)
        count = 0
    }

    // MARK: Checking

    /// Returns the problems of the index, a sentence each.
    func _checkInvariants() -> [String] {
        var problems = table._checkInvariants() + lists._checkInvariants()
        var singles = 0
        var listed = 0
        table.forEachPartition { _, partition in
            for slot in 0..<partition.capacity where partition[slot] != 0 {
                let half = partition[slot] & 0xFFFF_FFFF
                guard half & 1 != 0 else {
                    singles += 1
                    continue
                }
                let size = Int(partition[slot] >> 32)
                listed += size
                let found = Self.withEntry(half, 0) { entry in
                    lists.count(prefix: UnsafeRawBufferPointer(rebasing: entry[..<Self.keyBytes]))
                }
                if size < 2 || found != size {
                    problems.append("a list has \(found) numbers, not \(size)")
                }
            }
        }
        if listed != lists.count {
            problems.append("the lists have \(lists.count) numbers, not \(listed)")
        }
        if singles + listed != count {
            problems.append("the index has \(singles + listed) objects, not \(count)")
        }
        return problems
    }
}

/// The numbers of one list, ascending.
struct PostingCursor {
    private var single: UInt32 = 0
    private var list: OrderedCursor?
    private let index: OrderedIndex
    private let range: Range<Int>
    private let hash: UInt64

    fileprivate init() {
        index = OrderedIndex()
        range = 0..<0
        hash = 0
    }

    fileprivate init(_ number: UInt32) {
        self.init()
        single = number
    }

    fileprivate init(_ index: OrderedIndex, _ range: Range<Int>, hash: UInt64) {
        self.index = index
        self.range = range
        self.hash = hash
        list = OrderedCursor(index, ranks: range)
    }

    /// Returns the next number; nil at the end.
    mutating func next() -> UInt32? {
        if single != 0 {
            let number = single
            single = 0
            return number
        }
        return list?.next()
    }

    /// Moves to the first number that is not less than a given one, without reading those in between.
    mutating func skip(to number: UInt32) {
        if list == nil {
            if single < number { single = 0 }
            return
        }
        let rank = PostingIndex.withEntry(hash, number) { index.rank($0) }
        let place = max(list?.rank ?? rank, rank)
        list = OrderedCursor(index, ranks: min(place, range.upperBound)..<range.upperBound)
    }
}
