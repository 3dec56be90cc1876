// Keeps blocks that were read, up to a budget of bytes.
//
// Second chance: a block that was used since the hand last came by is passed over once. What a commit
// writes is not put here; it comes when it is read.
// Threads: any; one lock for the table. Blocks are read outside of it.

import CairnFormat
import CairnStore
import Synchronization

/// The blocks in memory.
final class BlockCache: Sendable {
    fileprivate struct Entry {
        let block: CachedBlock
        let cost: Int
        var isUsed: Bool
    }

    fileprivate struct Table {
        var entries: [UInt64: Entry] = [:]
        var order: [UInt64] = []
        var hand = 0
        var bytes = 0
        /// How often a block was here, and how often it had to be read.
        var hits = 0
        var misses = 0
    }

    private let table = Mutex(Table())
    /// The most bytes it keeps.
    let budget: Int

    init(budget: Int) {
        self.budget = budget
    }

    /// The bytes that its blocks take, about.
    var bytes: Int { table.withLock { $0.bytes } }

    /// How many blocks there are.
    var count: Int { table.withLock { $0.order.count } }

    /// What it was asked for, and what it holds.
    var use: BlockCacheUse {
        table.withLock {
            BlockCacheUse(
                hits: $0.hits, misses: $0.misses, blocks: $0.order.count, bytes: $0.bytes)
        }
    }

    /// A block was read that is not put here.
    func notePassing() { table.withLock { $0.misses += 1 } }

    /// The block at a place, if it is here.
    func known(_ place: Place) -> CachedBlock? {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        return table.withLock { $0.use(key) }
    }

    /// The same for somebody who wants its bytes alone: it is not counted, and stays no longer for it.
    func glance(at place: Place) -> CachedBlock? {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        return table.withLock { $0.entries[key]?.block }
    }

    /// The block at a place, read by the closure if it is not here.
    func block(_ place: Place, read: () throws(StoreError) -> CachedBlock) throws(StoreError)
        -> CachedBlock
    {
        let key = UInt64(place.segment) << 32 | UInt64(place.offset8)
        if let known = table.withLock({ table in table.use(key) }) { return known }
        let block = try read()
        table.withLock { table in
            table.misses += 1
            if table.entries[key] != nil { return }
            let cost = block.cost
            table.entries[key] = Entry(block: block, cost: cost, isUsed: false)
            table.order.append(key)
            table.bytes += cost
            table.evict(to: budget)
        }
        return block
    }
}

extension BlockCache.Table {
    fileprivate mutating func use(_ key: UInt64) -> CachedBlock? {
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].isUsed = true
        hits += 1
        return entries.values[index].block
    }

    /// Lets go of blocks until the budget holds; at least one stays.
    fileprivate mutating func evict(to budget: Int) {
        while bytes > budget, order.count > 1 {
            if hand >= order.count { hand = 0 }
            let key = order[hand]
            guard let index = entries.index(forKey: key) else {
                preconditionFailure("order names entries")
            }
            if entries.values[index].isUsed {
                entries.values[index].isUsed = false
                hand += 1
                continue
            }
            bytes -= entries.values[index].cost
            entries.remove(at: index)
            order.swapAt(hand, order.count - 1)
            order.removeLast()
        }
    }
}
