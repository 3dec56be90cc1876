// Caches blocks, up to a budget in bytes.
//
//   1. A block is cached as it is stored. Columns that are decoded are cached with it, as long as there is
//      room, and count like its bytes; bytes of a mapped file are the system's and do not count.
//   2. Second chance: a block that was used since the hand last passed is skipped once. Then it loses its
//      decoded columns, and the next time it is evicted.
//   3. A scan uses only the room that is free. Without room, the blocks that it reads are not cached, and a
//      cached block is decoded as a copy: so a scan evicts nothing, and a repeated scan finds as much as
//      there was room for.
//
// Blocks that a commit writes are not added here; they are added when they are read.
// Threads: any; one lock for the table. Blocks are read outside of it.

import CairnFormat
import CairnStore
import Synchronization

/// The blocks in memory.
final class BlockCache: Sendable {
    fileprivate struct Entry {
        var block: CachedBlock
        var isUsed: Bool
    }

    fileprivate struct Table {
        var entries: [UInt64: Entry] = [:]
        var order: [UInt64] = []
        var hand = 0
        /// How often a block was here, and how often it had to be read.
        var hits = 0
        var misses = 0
    }

    private let table = Mutex(Table())
    private let meter = CacheMeter()
    /// The symbol tables that its blocks share.
    let tables = SymbolTables()
    /// The maximum size, in bytes.
    let budget: Int
    /// The maximum size of the blocks that one reading retains, in bytes of its own memory: they may no longer
    /// be cached.
    var readingBudget: Int { min(budget, 512 << 20) }

    init(budget: Int) {
        self.budget = budget
    }

    /// The approximate number of bytes that its blocks take.
    var bytes: Int { meter.bytes }

    /// The number of cached blocks.
    var count: Int { table.withLock { $0.order.count } }

    /// Its hits, misses and size.
    var use: BlockCacheUse {
        table.withLock {
            BlockCacheUse(
                hits: $0.hits, misses: $0.misses, blocks: $0.order.count, bytes: bytes)
        }
    }

    /// Counts a miss for a block that was read and is not cached.
    func notePassing() { table.withLock { $0.misses += 1 } }

    /// The block at a place, if it is cached.
    func known(_ place: Place) -> CachedBlock? {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        return table.withLock { table in
            // Columns that were decoded since may exceed the budget.
            if meter.bytes > budget { table.evict(to: budget, meter) }
            return table.use(key, meter)
        }
    }

    /// The same for a scan, which needs room for the columns that it decodes: without room it gets a copy of
    /// the cached block.
    func scanned(_ place: Place) -> CachedBlock? {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        let found = table.withLock { table in
            if meter.bytes > budget { table.evict(to: budget, meter) }
            return table.scan(key, meter)
        }
        guard let known = found else { return nil }
        return hasRoom || known.hasColumns ? known : CachedBlock(beside: known)
    }

    /// Whether there is room for more.
    var hasRoom: Bool { meter.bytes < budget - budget / 8 }

    /// The same for a caller that needs only its bytes: this is not counted, and does not keep the block
    /// cached longer.
    func glance(at place: Place) -> CachedBlock? {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        return table.withLock { table in
            table.entries[key].flatMap { $0.block.isDamaged ? nil : $0.block }
        }
    }

    /// Removes the blocks of segments that no state needs any longer: their files may be mapped, and would take
    /// space on the disk as long as they are.
    func remove(segments: Set<UInt32>) {
        // A block is released outside of the lock: with the last one of a mapping, that is unmapped.
        let removed = table.withLock { $0.remove(segments: segments, meter) }
        withExtendedLifetime(removed) {}
    }

    /// The block at a place, read by the closure if it is not cached.
    ///
    /// - Parameter isScan: whether it is cached only if there is room.
    func block(
        _ place: Place, isScan: Bool = false, read: () throws(StoreError) -> CachedBlock
    ) throws(StoreError) -> CachedBlock {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        if let known = isScan ? scanned(place) : known(place) { return known }
        let block = try read()
        return table.withLock { table in
            table.misses += 1
            let isAlone = isScan && !hasRoom
            if let entry = table.entries[key] {
                // Another thread was faster: it may have verified columns too.
                return isAlone || entry.block.isDamaged ? block : entry.block
            }
            if isAlone { return block }
            table.entries[key] = Entry(block: block, isUsed: false)
            table.order.append(key)
            block.charge(to: meter)
            table.evict(to: budget, meter)
            return block
        }
    }
}

extension BlockCache.Table {
    fileprivate mutating func use(_ key: UInt64, _ meter: CacheMeter) -> CachedBlock? {
        guard let index = entries.index(forKey: key) else { return nil }
        let block = entries.values[index].block
        if block.isDamaged { return lose(block, key, meter) }
        entries.values[index].isUsed = true
        hits += 1
        return block
    }

    /// The same for a scan, which does not mark the block as used.
    fileprivate mutating func scan(_ key: UInt64, _ meter: CacheMeter) -> CachedBlock? {
        guard let block = entries[key]?.block else { return nil }
        if block.isDamaged { return lose(block, key, meter) }
        hits += 1
        return block
    }

    /// Removes a block in which damage was found, so that it is read again.
    private mutating func lose(_ block: CachedBlock, _ key: UInt64, _ meter: CacheMeter)
        -> CachedBlock?
    {
        block.discharge(from: meter)
        entries[key] = nil
        order.removeAll { $0 == key }
        return nil
    }

    fileprivate mutating func remove(segments: Set<UInt32>, _ meter: CacheMeter) -> [CachedBlock] {
        var removed: [CachedBlock] = []
        order.removeAll { key in
            guard segments.contains(UInt32(truncatingIfNeeded: key >> 32)) else { return false }
            if let block = entries.removeValue(forKey: key)?.block {
                block.discharge(from: meter)
                removed.append(block)
            }
            return true
        }
        return removed
    }

    /// Evicts columns and blocks until the budget holds; at least one block stays.
    fileprivate mutating func evict(to budget: Int, _ meter: CacheMeter) {
        while meter.bytes > budget, !order.isEmpty {
            if hand >= order.count { hand = 0 }
            let key = order[hand]
            guard let index = entries.index(forKey: key) else {
                preconditionFailure("the order refers to entries")
            }
            let entry = entries.values[index]
            if order.count == 1 {
                return
            } else if entry.isUsed {
                entries.values[index].isUsed = false
                hand += 1
            } else if entry.block.hasColumns {
                entry.block.discharge(from: meter)
                let lean = CachedBlock(beside: entry.block)
                lean.charge(to: meter)
                entries.values[index].block = lean
                hand += 1
            } else {
                entry.block.discharge(from: meter)
                entries.remove(at: index)
                order.swapAt(hand, order.count - 1)
                order.removeLast()
            }
        }
    }
}
