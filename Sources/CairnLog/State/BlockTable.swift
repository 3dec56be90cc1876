// The blocks of a state: where each is, and which of its rows live.
//
// Handles count from 1 and mean something inside one state only. The blocks of an entity form a list in the
// order they were added, so that going through an entity costs as much as it has blocks.
//
// Invariants: `live` is the number of ones in the bitmap, or `rows` without one; a bitmap page is allocated
// at the first death.
// Threads: a value; see `PageTransaction`.

import CairnFormat

/// A block in one state.
struct BlockHandle: Hashable, Sendable {
    let raw: UInt32
    static let none = BlockHandle(raw: 0)
}

/// What a state knows of a block: 64 bytes.
struct BlockEntry: BitwiseCopyable {
    var segment: UInt32 = 0
    var offset8: UInt32 = 0
    var entity: UInt16
    var rows: UInt16 = 0
    var live: UInt16 = 0
    var isPresent: UInt16 = 1
    /// The commit that changed it last.
    var changed: UInt64 = 0
    /// Which rows live, a bit each; none = all.
    var bitmap: UInt = 0
    var schemaVersion: UInt32 = 0
    /// Neighbours in the list of the entity.
    var next: UInt32 = 0
    var previous: UInt32 = 0
    var reserved0: UInt32 = 0
    var reserved1: UInt64 = 0
    var reserved2: UInt64 = 0

    init(entity: UInt16) { self.entity = entity }

    var place: Place { Place(segment: segment, offset8: offset8) }

    /// Whether the row in a slot lives.
    @inline(__always) func isLive(_ slot: Int) -> Bool {
        guard slot < Int(rows) else { return false }
        guard bitmap != 0 else { return true }
        let word = Page(address: bitmap).data.load(
            fromByteOffset: (slot >> 6) &* 8, as: UInt64.self)
        return word & (1 << UInt64(slot & 63)) != 0
    }

    /// Copies the liveness of 64 slots.
    @inline(__always) func liveWord(_ word: Int) -> UInt64 {
        guard bitmap == 0 else {
            return Page(address: bitmap).data.load(fromByteOffset: word &* 8, as: UInt64.self)
        }
        let rest = Int(rows) &- word &* 64
        return rest >= 64 ? ~0 : rest <= 0 ? 0 : (1 << UInt64(rest)) &- 1
    }
}

/// The blocks of a state.
struct BlockTable: Sendable {
    private var entries = PagedTable<BlockEntry>()
    private var heads: [UInt32] = []
    private var tails: [UInt32] = []
    private var last: UInt32 = 0
    /// How many blocks there are.
    private(set) var count = 0

    /// The entry of a block that exists.
    @inline(__always)
    func entry(_ handle: BlockHandle) -> BlockEntry {
        guard let record = entries.record(handle.raw) else {
            preconditionFailure("a handle of a state names a block of it")
        }
        return record.pointee
    }

    /// The first block of an entity.
    func first(ofEntity entity: Int) -> BlockHandle {
        entity < heads.count ? BlockHandle(raw: heads[entity]) : .none
    }

    /// Adds a block at the end of its entity's list.
    mutating func insert(_ entry: BlockEntry, in pages: inout PageTransaction) -> BlockHandle {
        last += 1
        count += 1
        let entity = Int(entry.entity)
        while heads.count <= entity {
            heads.append(0)
            tails.append(0)
        }
        var entry = entry
        entry.previous = tails[entity]
        entry.next = 0
        if tails[entity] != 0 {
            entries.writableRecord(tails[entity], in: &pages).pointee.next = last
        } else {
            heads[entity] = last
        }
        tails[entity] = last
        entries.writableRecord(last, in: &pages).pointee = entry
        return BlockHandle(raw: last)
    }

    /// Says where a block is and how many rows it has, all of them alive.
    mutating func fill(
        _ handle: BlockHandle, place: Place, rows: Int, commit: UInt64, schemaVersion: UInt32,
        in pages: inout PageTransaction
    ) {
        let record = entries.writableRecord(handle.raw, in: &pages)
        precondition(
            record.pointee.isPresent != 0 && record.pointee.bitmap == 0 && rows <= 1024,
            "a block of at most 1,024 rows is filled before the first of them dies")
        record.pointee.segment = place.segment
        record.pointee.offset8 = place.offset8
        record.pointee.rows = UInt16(rows)
        record.pointee.live = UInt16(rows)
        record.pointee.changed = commit
        record.pointee.schemaVersion = schemaVersion
    }

    /// Ends the life of a row; false if it had ended before.
    mutating func kill(
        _ handle: BlockHandle, slot: Int, commit: UInt64, in pages: inout PageTransaction
    ) -> Bool {
        let old = entry(handle)
        guard old.isLive(slot) else { return false }
        let bitmap: Page
        if old.bitmap == 0 {
            bitmap = pages.allocate(.small)
            for word in 0..<16 {
                bitmap.data.storeBytes(
                    of: old.liveWord(word), toByteOffset: word * 8, as: UInt64.self)
            }
        } else {
            bitmap = pages.writable(Page(address: old.bitmap))
        }
        let at = bitmap.data + (slot >> 6) * 8
        at.storeBytes(of: at.load(as: UInt64.self) & ~(1 << UInt64(slot & 63)), as: UInt64.self)
        let record = entries.writableRecord(handle.raw, in: &pages)
        record.pointee.bitmap = bitmap.address
        record.pointee.live -= 1
        record.pointee.changed = commit
        return true
    }

    /// Takes a block out.
    mutating func remove(_ handle: BlockHandle, in pages: inout PageTransaction) {
        let old = entry(handle)
        precondition(old.isPresent != 0, "a block is taken out once")
        let entity = Int(old.entity)
        if old.bitmap != 0 { pages.release(Page(address: old.bitmap)) }
        if old.previous != 0 {
            entries.writableRecord(old.previous, in: &pages).pointee.next = old.next
        } else {
            heads[entity] = old.next
        }
        if old.next != 0 {
            entries.writableRecord(old.next, in: &pages).pointee.previous = old.previous
        } else {
            tails[entity] = old.previous
        }
        var empty = BlockEntry(entity: 0)
        empty.isPresent = 0
        entries.writableRecord(handle.raw, in: &pages).pointee = empty
        if handle.raw == last { last -= 1 }
        count -= 1
    }

    // MARK: Checking

    /// What is wrong with the table, a sentence each.
    func _checkInvariants() -> [String] {
        var problems: [String] = []
        var reached: Set<UInt32> = []
        for entity in heads.indices {
            var previous: UInt32 = 0
            var handle = heads[entity]
            while handle != 0 {
                guard handle <= last, let record = entries.record(handle) else {
                    problems.append(
                        "the list of entity \(entity) leads to \(handle), which is no block")
                    break
                }
                let entry = record.pointee
                guard reached.insert(handle).inserted else {
                    problems.append("block \(handle) is twice in the lists")
                    break
                }
                if entry.isPresent == 0 || Int(entry.entity) != entity {
                    problems.append(
                        "block \(handle) does not belong in the list of entity \(entity)")
                }
                if entry.previous != previous {
                    problems.append("block \(handle) does not know the block before it")
                }
                let live = (0..<16).reduce(0) { $0 + entry.liveWord($1).nonzeroBitCount }
                if live != Int(entry.live) {
                    problems.append("block \(handle) has \(live) live rows, not \(entry.live)")
                }
                previous = handle
                handle = entry.next
            }
            if handle == 0, previous != tails[entity] {
                problems.append("the list of entity \(entity) does not end at its last block")
            }
        }
        if reached.count != count {
            problems.append("the lists hold \(reached.count) blocks, not \(count)")
        }
        return problems
    }
}
