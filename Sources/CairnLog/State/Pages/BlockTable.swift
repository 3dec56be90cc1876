// The blocks of a state: their positions, and their live rows.
//
// Handles count from 1 and are only meaningful within one state: those of removed blocks are reused. The
// blocks of an entity form three lists, by how full they were when they were written, each in the order of
// insertion: iterating over an entity costs as much as it has blocks, and small blocks are easy to find for
// merging.
//
// Invariants: `live` is the number of ones in the bitmap, or `rows` without one; a bitmap page is allocated
// when the first row dies.
// Threads: a value; see `PageTransaction`.

import CairnFormat

/// A block in one state.
package struct BlockHandle: BitwiseCopyable, Hashable, Sendable {
    let raw: UInt32
    package static let none = BlockHandle(raw: 0)
}

/// The entry of a block in a state: 64 bytes.
package struct BlockEntry: BitwiseCopyable {
    var segment: UInt32 = 0
    var offset8: UInt32 = 0
    package var entity: UInt16
    package var rows: UInt16 = 0
    package var live: UInt16 = 0
    var isPresent: UInt8 = 1
    private var rawLevel = BlockLevel.full.rawValue
    /// The last commit that changed it.
    var changed: UInt64 = 0
    /// The live rows, a bit each; none = all.
    var bitmap: UInt = 0
    var schemaVersion: UInt32 = 0
    /// Neighbors in the list of entity and level; for a free handle, the next free one.
    fileprivate(set) var next: UInt32 = 0
    fileprivate(set) var previous: UInt32 = 0
    /// The size of its frame in bytes.
    package var length: UInt32 = 0
    /// For a patch: the size of the slices that it borrows from another block, in bytes, and the place of
    /// that block.
    package var borrowedBytes: UInt32 = 0
    private var patchedSegment: UInt32 = 0
    private var patchedOffset8: UInt32 = 0
    /// Whether it came from a checkpoint.
    fileprivate var isRestored: UInt16 = 0
    /// Whether some of its values have frames of their own.
    private var rawHasReferences: UInt16 = 0

    init(entity: UInt16) { self.entity = entity }

    /// Whether some of its values have frames of their own.
    package var hasReferences: Bool {
        get { rawHasReferences != 0 }
        set { rawHasReferences = newValue ? 1 : 0 }
    }

    /// How full it was when it was written.
    fileprivate(set) var level: BlockLevel {
        get { BlockLevel(rawValue: rawLevel) ?? .full }
        set { rawLevel = newValue.rawValue }
    }

    var place: Place { Place(segment: segment, offset8: offset8) }

    /// For a patch: the place of the block that it patches.
    var patched: Place {
        get { Place(segment: patchedSegment, offset8: patchedOffset8) }
        set { (patchedSegment, patchedOffset8) = (newValue.segment, newValue.offset8) }
    }

    /// Whether some of it is in one of some segments.
    func lies(in segments: Set<UInt32>) -> Bool {
        segments.contains(segment) || patchedSegment != 0 && segments.contains(patchedSegment)
    }

    /// Whether the row in a slot is live.
    @inline(__always) package func isLive(_ slot: Int) -> Bool {
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
package struct BlockTable: Sendable {
    private struct List {
        var head: UInt32 = 0
        var tail: UInt32 = 0
        var count = 0
    }

    private var entries = PagedTable<BlockEntry>()
    /// By entity and level.
    private var lists: [List] = []
    private var last: UInt32 = 0
    private var free: UInt32 = 0
    /// The number of blocks.
    private(set) var count = 0

    /// Becomes a copy of another table, reusing its memory.
    mutating func assign(_ other: BlockTable) {
        entries = other.entries
        lists.assign(other.lists)
        last = other.last
        free = other.free
        count = other.count
    }

    /// Returns the entry of an existing block.
    @inline(__always)
    package func entry(_ handle: BlockHandle) -> BlockEntry {
        guard let record = entries.record(handle.raw) else {
            preconditionFailure("a handle refers to a block of its state")
        }
        return record.pointee
    }

    private static func list(_ entity: Int, _ level: BlockLevel) -> Int {
        entity * BlockLevel.allCases.count + Int(level.rawValue)
    }

    /// Returns the number of an entity's blocks of a level.
    func count(ofEntity entity: Int, _ level: BlockLevel) -> Int {
        let list = Self.list(entity, level)
        return list < lists.count ? lists[list].count : 0
    }

    /// Returns the first block of an entity.
    package func first(ofEntity entity: Int) -> BlockHandle { first(ofEntity: entity, .full) }

    /// Returns the first block of an entity that is at most as full.
    private func first(ofEntity entity: Int, _ level: BlockLevel) -> BlockHandle {
        var list = Self.list(entity, level)
        let end = Self.list(entity, .tiny)
        while list >= end {
            if list < lists.count, lists[list].head != 0 {
                return BlockHandle(raw: lists[list].head)
            }
            list -= 1
        }
        return .none
    }

    /// Returns the block after another one of the same entity.
    package func next(after entry: BlockEntry) -> BlockHandle {
        if entry.next != 0 { return BlockHandle(raw: entry.next) }
        guard let below = BlockLevel(rawValue: entry.level.rawValue &- 1) else { return .none }
        return first(ofEntity: Int(entry.entity), below)
    }

    /// Returns the current blocks of an entity: the table may change during an iteration over them.
    package func all(ofEntity entity: Int) -> [BlockHandle] {
        var handles: [BlockHandle] = []
        var handle = first(ofEntity: entity)
        while handle != .none {
            handles.append(handle)
            handle = next(after: self.entry(handle))
        }
        return handles
    }

    /// Returns an entity's blocks of a level, in the order of writing.
    func blocks(ofEntity entity: Int, _ level: BlockLevel) -> [BlockHandle] {
        let list = Self.list(entity, level)
        guard list < lists.count else { return [] }
        var handles: [BlockHandle] = []
        var handle = lists[list].head
        while handle != 0 {
            handles.append(BlockHandle(raw: handle))
            handle = entry(BlockHandle(raw: handle)).next
        }
        return handles
    }

    /// Adds a block that will be filled.
    mutating func insert(_ entry: BlockEntry, in pages: inout PageTransaction) -> BlockHandle {
        let handle: UInt32
        if free != 0 {
            handle = free
            free = self.entry(BlockHandle(raw: free)).next
        } else {
            precondition(last < .max, "a state has at most four billion blocks")
            last += 1
            handle = last
        }
        count += 1
        entries.writableRecord(handle, in: &pages).pointee = entry
        append(handle, to: .full, in: &pages)
        return BlockHandle(raw: handle)
    }

    private mutating func append(
        _ handle: UInt32, to level: BlockLevel, in pages: inout PageTransaction
    ) {
        let record = entries.writableRecord(handle, in: &pages)
        let list = Self.list(Int(record.pointee.entity), level)
        while lists.count <= list { lists.append(List()) }
        let tail = lists[list].tail
        record.pointee.level = level
        record.pointee.previous = tail
        record.pointee.next = 0
        if tail != 0 {
            entries.writableRecord(tail, in: &pages).pointee.next = handle
        } else {
            lists[list].head = handle
        }
        lists[list].tail = handle
        lists[list].count += 1
    }

    private mutating func takeOut(_ entry: BlockEntry, in pages: inout PageTransaction) {
        let list = Self.list(Int(entry.entity), entry.level)
        if entry.previous != 0 {
            entries.writableRecord(entry.previous, in: &pages).pointee.next = entry.next
        } else {
            lists[list].head = entry.next
        }
        if entry.next != 0 {
            entries.writableRecord(entry.next, in: &pages).pointee.previous = entry.previous
        } else {
            lists[list].tail = entry.previous
        }
        lists[list].count -= 1
    }

    /// Sets the place of a block and its number of rows, all of them live.
    mutating func fill(
        _ handle: BlockHandle, place: Place, rows: Int, level: BlockLevel = .full, commit: UInt64,
        schemaVersion: UInt32, length: Int, hasReferences: Bool, patched: Place = .none,
        borrowedBytes: Int = 0, in pages: inout PageTransaction
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
        record.pointee.length = UInt32(clamping: length)
        record.pointee.hasReferences = hasReferences
        record.pointee.patched = patched
        record.pointee.borrowedBytes = UInt32(clamping: borrowedBytes)
        if level != record.pointee.level {
            takeOut(record.pointee, in: &pages)
            append(handle.raw, to: level, in: &pages)
        }
    }

    /// Marks a row as dead; false if it was dead already.
    mutating func kill(
        _ handle: BlockHandle, slot: Int, commit: UInt64, in pages: inout PageTransaction
    ) -> Bool {
        let old = entry(handle)
        guard old.isLive(slot) else { return false }
        let bitmap = writableBitmap(of: old, in: &pages)
        let at = bitmap.data + (slot >> 6) * 8
        at.storeBytes(of: at.load(as: UInt64.self) & ~(1 << UInt64(slot & 63)), as: UInt64.self)
        let record = entries.writableRecord(handle.raw, in: &pages)
        record.pointee.bitmap = bitmap.address
        record.pointee.live -= 1
        record.pointee.changed = commit
        return true
    }

    /// Marks several rows as dead; false if one of them was dead already, in which case the table is invalid.
    mutating func kill(
        _ handle: BlockHandle, slots: [UInt16], commit: UInt64, in pages: inout PageTransaction
    ) -> Bool {
        let old = entry(handle)
        let bitmap = writableBitmap(of: old, in: &pages)
        let record = entries.writableRecord(handle.raw, in: &pages)
        record.pointee.bitmap = bitmap.address
        record.pointee.changed = commit
        for slot in slots {
            guard slot < old.rows else { return false }
            let at = bitmap.data + Int(slot >> 6) * 8
            let (word, bit) = (at.load(as: UInt64.self), UInt64(1) << UInt64(slot & 63))
            if word & bit == 0 { return false }
            at.storeBytes(of: word & ~bit, as: UInt64.self)
        }
        record.pointee.live -= UInt16(truncatingIfNeeded: slots.count)
        return true
    }

    /// Returns a bitmap of live rows that can be changed.
    private func writableBitmap(of entry: BlockEntry, in pages: inout PageTransaction) -> Page {
        if entry.bitmap != 0 { return pages.writable(Page(address: entry.bitmap)) }
        let bitmap = pages.allocate(.small)
        for word in 0..<16 {
            bitmap.data.storeBytes(
                of: entry.liveWord(word), toByteOffset: word * 8, as: UInt64.self)
        }
        return bitmap
    }

    /// Removes a block.
    mutating func remove(_ handle: BlockHandle, in pages: inout PageTransaction) {
        let old = entry(handle)
        precondition(old.isPresent != 0, "a block is removed once")
        if old.bitmap != 0 { pages.release(Page(address: old.bitmap)) }
        takeOut(old, in: &pages)
        var empty = BlockEntry(entity: 0)
        empty.isPresent = 0
        empty.next = free
        free = handle.raw
        entries.writableRecord(handle.raw, in: &pages).pointee = empty
        count -= 1
    }

    /// Moves entities to other places. Entities without a place must have no blocks.
    package mutating func moveEntities(to places: [Int?], in pages: inout PageTransaction) {
        let levels = BlockLevel.allCases.count
        let before = lists
        lists = []
        for (entity, place) in places.enumerated() {
            for level in 0..<levels {
                let source = entity * levels + level
                guard source < before.count, before[source].count > 0 else { continue }
                guard let place else {
                    preconditionFailure("an entity is removed after its blocks")
                }
                let target = place * levels + level
                while lists.count <= target { lists.append(List()) }
                lists[target] = before[source]
                if place == entity { continue }
                var handle = before[source].head
                while handle != 0 {
                    let record = entries.writableRecord(handle, in: &pages)
                    record.pointee.entity = UInt16(place)
                    handle = record.pointee.next
                }
            }
        }
    }

    // MARK: Checkpoints

    /// The largest handle ever issued.
    var lastHandle: UInt32 { last }

    /// An empty table in which handles up to `lastHandle` may be restored.
    init(lastHandle: UInt32) {
        last = lastHandle
    }

    init() {}

    /// Restores a block with its handle; false if the handle is taken or out of range.
    @inline(__always)
    mutating func restore(
        _ handle: BlockHandle, _ entry: BlockEntry, level: BlockLevel,
        liveWords: UnsafeRawBufferPointer?, in pages: inout PageTransaction
    ) -> Bool {
        guard handle.raw != 0, handle.raw <= last else { return false }
        let record = entries.writableRecord(handle.raw, in: &pages)
        guard record.pointee.isRestored == 0 else { return false }
        let list = Self.list(Int(entry.entity), level)
        while lists.count <= list { lists.append(List()) }
        let tail = lists[list].tail
        record.pointee = entry
        record.pointee.isRestored = 1
        record.pointee.level = level
        record.pointee.previous = tail
        if let liveWords {
            let bitmap = pages.allocate(.small)
            bitmap.data.copyMemory(from: liveWords.baseAddress!, byteCount: PageSize.small.bytes)
            record.pointee.bitmap = bitmap.address
            let live = (0..<16).reduce(0) { $0 + record.pointee.liveWord($1).nonzeroBitCount }
            guard live == Int(entry.live) else { return false }
        } else {
            guard entry.live == entry.rows else { return false }
        }
        if tail == 0 {
            lists[list].head = handle.raw
        } else if tail &+ 1 == handle.raw, entries.isInLeafOfPrevious(handle.raw) {
            // Mostly: a large store has many blocks, and opening it restores them all.
            (record - 1).pointee.next = handle.raw
        } else {
            entries.writableRecord(tail, in: &pages).pointee.next = handle.raw
        }
        lists[list].tail = handle.raw
        lists[list].count &+= 1
        count &+= 1
        return true
    }

    /// Frees the handles for which no block was restored.
    mutating func finishRestoring(in pages: inout PageTransaction) {
        if count == Int(last) { return }
        for handle in stride(from: last, to: 0, by: -1)
        where entries.record(handle).map({ $0.pointee.isRestored == 0 }) ?? true {
            var empty = BlockEntry(entity: 0)
            empty.isPresent = 0
            empty.next = free
            free = handle
            entries.writableRecord(handle, in: &pages).pointee = empty
        }
    }

    /// Whether a handle refers to a block.
    func has(_ handle: BlockHandle) -> Bool {
        handle.raw != 0 && handle.raw <= last
            && entries.record(handle.raw).map { $0.pointee.isPresent != 0 && $0.pointee.rows > 0 }
                ?? false
    }

    // MARK: Checking

    /// Returns the problems of the table, a sentence each.
    func _checkInvariants() -> [String] {
        var problems: [String] = []
        var reached: Set<UInt32> = []
        for (index, list) in lists.enumerated() {
            let entity = index / BlockLevel.allCases.count
            var previous: UInt32 = 0
            var handle = list.head
            var length = 0
            while handle != 0 {
                guard handle <= last, let record = entries.record(handle) else {
                    problems.append(
                        "the list of entity \(entity) leads to \(handle), which is not a block")
                    break
                }
                let entry = record.pointee
                guard reached.insert(handle).inserted else {
                    problems.append("block \(handle) is twice in the lists")
                    break
                }
                if entry.isPresent == 0 || Self.list(Int(entry.entity), entry.level) != index {
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
                length += 1
            }
            if length != list.count {
                problems.append("a list of entity \(entity) is not as long as it says")
            }
            if handle == 0, previous != list.tail {
                problems.append("the list of entity \(entity) does not end at its last block")
            }
        }
        if reached.count != count {
            problems.append("the lists hold \(reached.count) blocks, not \(count)")
        }
        return problems
    }
}
