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
struct BlockEntry {
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
    private var entries = PagedTable(recordBits: 6)
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
        return record.load(as: BlockEntry.self)
    }

    /// The first block of an entity.
    func first(ofEntity entity: Int) -> BlockHandle {
        entity < heads.count ? BlockHandle(raw: heads[entity]) : .none
    }

    /// Adds a block at the end of its entity's list.
    mutating func insert(_ entry: BlockEntry, in pages: inout PageTransaction) -> BlockHandle {
        assert(MemoryLayout<BlockEntry>.size == 64, "a record of the block table has 64 bytes")
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
            let own = last
            change(BlockHandle(raw: tails[entity]), in: &pages) { $0.next = own }
        } else {
            heads[entity] = last
        }
        tails[entity] = last
        entries.writableRecord(last, in: &pages).storeBytes(of: entry, as: BlockEntry.self)
        return BlockHandle(raw: last)
    }

    /// Says where a block is and how many rows it has, all of them alive.
    mutating func fill(
        _ handle: BlockHandle, place: Place, rows: Int, commit: UInt64, schemaVersion: UInt32,
        in pages: inout PageTransaction
    ) {
        change(handle, in: &pages) {
            $0.segment = place.segment
            $0.offset8 = place.offset8
            $0.rows = UInt16(rows)
            $0.live = UInt16(rows)
            $0.changed = commit
            $0.schemaVersion = schemaVersion
        }
    }

    /// Ends the life of a row; false if it had ended before.
    mutating func kill(
        _ handle: BlockHandle, slot: Int, commit: UInt64, in pages: inout PageTransaction
    ) -> Bool {
        let old = entry(handle)
        guard old.isLive(slot) else { return false }
        var bitmap = Page(address: old.bitmap)
        if bitmap.isNone {
            bitmap = pages.allocate(.small)
            for word in 0..<16 {
                bitmap.data.storeBytes(
                    of: old.liveWord(word), toByteOffset: word * 8, as: UInt64.self)
            }
        } else {
            bitmap = pages.writable(bitmap)
        }
        let at = bitmap.data + (slot >> 6) * 8
        at.storeBytes(of: at.load(as: UInt64.self) & ~(1 << UInt64(slot & 63)), as: UInt64.self)
        change(handle, in: &pages) {
            $0.bitmap = bitmap.address
            $0.live -= 1
            $0.changed = commit
        }
        return true
    }

    /// Takes a block out.
    mutating func remove(_ handle: BlockHandle, in pages: inout PageTransaction) {
        let old = entry(handle)
        let entity = Int(old.entity)
        if old.bitmap != 0 { pages.release(Page(address: old.bitmap)) }
        if old.previous != 0 {
            change(BlockHandle(raw: old.previous), in: &pages) { $0.next = old.next }
        } else {
            heads[entity] = old.next
        }
        if old.next != 0 {
            change(BlockHandle(raw: old.next), in: &pages) { $0.previous = old.previous }
        } else {
            tails[entity] = old.previous
        }
        change(handle, in: &pages) {
            $0 = BlockEntry(entity: 0)
            $0.isPresent = 0
        }
        if handle.raw == last { last -= 1 }
        count -= 1
    }

    private mutating func change(
        _ handle: BlockHandle, in pages: inout PageTransaction, _ body: (inout BlockEntry) -> Void
    ) {
        let record = entries.writableRecord(handle.raw, in: &pages)
        var entry = record.load(as: BlockEntry.self)
        body(&entry)
        record.storeBytes(of: entry, as: BlockEntry.self)
    }
}
