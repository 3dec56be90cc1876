// Caches blocks, up to a budget in bytes.
//
//   1. A block is kept as it is stored. Columns of it that somebody decodes are kept with it, as long as there is room, and
//      are counted like its bytes.
//   2. Second chance: a block that was used since the hand last came by is passed over once. Then it loses its decoded
//      columns, and the next time it goes.
//   3. A scan takes what room there is. When there is none, what it reads goes as it came, and a block that is here is
//      decoded beside it: so it empties the cache of nothing, and one that is done again finds as much as there was room for.
//
// What a commit writes is not put here; it comes when it is read.
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
    /// What its blocks share.
    let tables = SymbolTables()
    /// The most bytes it keeps.
    let budget: Int

    init(budget: Int) {
        self.budget = budget
    }

    /// The bytes that its blocks take, about.
    var bytes: Int { meter.bytes }

    /// How many blocks there are.
    var count: Int { table.withLock { $0.order.count } }

    /// What it was asked for, and what it holds.
    var use: BlockCacheUse {
        table.withLock {
            BlockCacheUse(
                hits: $0.hits, misses: $0.misses, blocks: $0.order.count, bytes: bytes)
        }
    }

    /// A block was read that is not put here.
    func notePassing() { table.withLock { $0.misses += 1 } }

    /// The block at a place, if it is here.
    func known(_ place: Place) -> CachedBlock? {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        return table.withLock { table in
            // Columns were decoded since.
            if meter.bytes > budget { table.evict(to: budget, meter) }
            return table.use(key, meter)
        }
    }

    /// The same for a scan, which needs room for what it decodes: without it the block is read once more beside the one that
    /// is here.
    func scanned(_ place: Place) -> CachedBlock? {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        let found = table.withLock { table in
            if meter.bytes > budget { table.evict(to: budget, meter) }
            return table.scan(key, meter)
        }
        guard let known = found else { return nil }
        return hasRoom || known.hasColumns ? known : CachedBlock(beside: known)
    }

    /// Whether there is room for more than what is here.
    var hasRoom: Bool { meter.bytes < budget - budget / 8 }

    /// The same for somebody who wants its bytes alone: it is not counted, and stays no longer for it.
    func glance(at place: Place) -> CachedBlock? {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        return table.withLock { table in
            table.entries[key].flatMap { $0.block.isDamaged ? nil : $0.block }
        }
    }

    /// The block at a place, read by the closure if it is not here.
    ///
    /// - Parameter isScan: whether it is kept only if there is room.
    func block(
        _ place: Place, isScan: Bool = false, read: () throws(StoreError) -> CachedBlock
    ) throws(StoreError) -> CachedBlock {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        if let known = isScan ? scanned(place) : known(place) { return known }
        let block = try read()
        table.withLock { table in
            table.misses += 1
            if table.entries[key] != nil || (isScan && !hasRoom) { return }
            table.entries[key] = Entry(block: block, isUsed: false)
            table.order.append(key)
            block.charge(to: meter)
            table.evict(to: budget, meter)
        }
        return block
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

    /// The same for a scan, which leaves no trace.
    fileprivate mutating func scan(_ key: UInt64, _ meter: CacheMeter) -> CachedBlock? {
        guard let block = entries[key]?.block else { return nil }
        if block.isDamaged { return lose(block, key, meter) }
        hits += 1
        return block
    }

    /// A block in which damage was found goes: it is read once more.
    private mutating func lose(_ block: CachedBlock, _ key: UInt64, _ meter: CacheMeter)
        -> CachedBlock?
    {
        block.discharge(from: meter)
        entries[key] = nil
        order.removeAll { $0 == key }
        return nil
    }

    /// Lets go of columns and blocks until the budget holds; at least one block stays.
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
