// Entries that a commit removes from and adds to an index, collected and sorted.
//
//   1. Entries are added in any order, with a sign: one more, one less.
//   2. They are sorted by their bytes, and the signs of equal ones are summed: a row that was rewritten with
//      the same key changes nothing, whichever of its removal and its insertion was added first.
//   3. The rest is applied to the tree, and cleared.
//
// Threads: one owner.

import CCairn

/// The changes of an index.
final class IndexChanges {
    /// One inserted or removed entry.
    struct Change: BitwiseCopyable {
        /// Its first bytes as a number, which decides most comparisons.
        let head: UInt64
        let offset: UInt32
        let length: UInt8
        let sign: Int8
    }

    // Accessed for every row: with a single owner, as stated above, no exclusivity checks are needed.
    @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private(set) var byteCount = 0
    @exclusivity(unchecked) private var changes: [Change] = []

    /// The maximum memory that is kept from commit to commit.
    private static let mostBytes = 64 << 10

    init() {
        capacity = 512
        bytes = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { bytes.deallocate() }

    var isEmpty: Bool { changes.isEmpty }
    var count: Int { changes.count }

    /// All changes; valid until the next change.
    var all: Slice { Slice(bytes: bytes, changes: changes) }

    /// Changes in their order.
    struct Slice {
        fileprivate let bytes: UnsafeMutableRawPointer
        fileprivate let changes: [Change]

        var count: Int { changes.count }

        @inline(__always)
        func entry(_ index: Int) -> UnsafeRawBufferPointer {
            let change = changes[index]
            return UnsafeRawBufferPointer(
                start: bytes + Int(change.offset), count: Int(change.length))
        }

        @inline(__always)
        func isInsert(_ index: Int) -> Bool { changes[index].sign > 0 }
    }

    /// Adds an entry: a key and a number.
    @inline(__always)
    func add(_ key: UnsafeRawBufferPointer, number: UInt32, isInsert: Bool) {
        let length = key.count &+ 4
        // The head is read as eight bytes.
        if capacity &- byteCount < length &+ 8 { grow() }
        let entry = bytes + byteCount
        if let base = key.baseAddress { entry.copyMemory(from: base, byteCount: key.count) }
        entry.storeBytes(
            of: number.bigEndian, toByteOffset: key.count, as: UInt32.self)
        var head = UInt64(bigEndian: entry.loadUnaligned(as: UInt64.self))
        if length < 8 { head &= ~0 << UInt64(64 &- length &* 8) }
        changes.append(
            Change(
                head: head, offset: UInt32(truncatingIfNeeded: byteCount),
                length: UInt8(truncatingIfNeeded: length), sign: isInsert ? 1 : -1))
        byteCount &+= length
    }

    @inline(never)
    private func grow() {
        let size = capacity * 2
        let bigger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        bigger.copyMemory(from: bytes, byteCount: byteCount)
        bytes.deallocate()
        bytes = bigger
        capacity = size
    }

    /// Sorts the changes and drops those that cancel out.
    func settle() {
        let bytes = bytes
        changes.sort { left, right in Self.compare(left, right, bytes) < 0 }
        var kept = 0
        var index = 0
        while index < changes.count {
            var sign = Int(changes[index].sign)
            var next = index &+ 1
            while next < changes.count, Self.compare(changes[index], changes[next], bytes) == 0 {
                sign &+= Int(changes[next].sign)
                next &+= 1
            }
            // More than one in the same direction is a contradiction, which the index will report.
            let change = changes[index]
            for _ in 0..<abs(sign) {
                changes[kept] = Change(
                    head: change.head, offset: change.offset, length: change.length,
                    sign: sign > 0 ? 1 : -1)
                kept &+= 1
            }
            index = next
        }
        changes.removeLast(changes.count &- kept)
    }

    @inline(__always)
    private static func compare(_ left: Change, _ right: Change, _ bytes: UnsafeMutableRawPointer)
        -> Int
    {
        if left.head != right.head { return left.head < right.head ? -1 : 1 }
        let common = Int(min(left.length, right.length))
        let order = cairn_compare(bytes + Int(left.offset), bytes + Int(right.offset), common)
        return order != 0 ? Int(order) : Int(left.length) &- Int(right.length)
    }

    func removeAll() {
        changes.removeAll(keepingCapacity: true)
        byteCount = 0
    }

    /// Whether it takes no more memory than may be kept.
    var isSmall: Bool { capacity <= Self.mostBytes }
}
