// Scans the blocks of an entity and its descendants.
//
//   1. If there is a condition, an order, or more than one pass, the blocks are listed; those that no match can be in, by what
//      is known of their values, are left out.
//   2. The condition is asked block by block. What is asked of columns alone is asked by several threads, if there is much of
//      it: each takes the next blocks that nobody has, and what they select is handed over in order.
//
// Threads: one reading, with helpers that end before it goes on. They use what is immutable, and neither `trace` nor
// `objects`.

import CairnFormat
import CairnStore
import Synchronization

extension FetchRunner {
    /// The number of blocks below which a scan is done before a helper thread has started.
    private static let blocksWorthHelp = 48
    /// The most blocks whose matches wait to be handed over.
    static let mostAhead = 256

    // MARK: Answers

    /// Calls the body with each block that has matches, its entity and their slots, until it returns false. The slots are
    /// the body's to change.
    func scan(
        _ body: (CachedBlock, Int, UnsafeMutableBufferPointer<UInt16>) throws(StoreError) -> Bool
    ) throws(StoreError) {
        if filter == nil {
            let scratch = ScanScratch()
            checkCondition()
            trace?.estimate = family.reduce(0) { $0 + state.counts[$1] }
            return try eachBlock { block throws(StoreError) in
                note(block)
                let (cached, count) = try pick(block, [], scratch)
                let slots = UnsafeMutableBufferPointer(start: scratch.slots, count: count)
                if count == 0 { return true }
                return try body(cached, block.entity, slots)
            }
        }
        try scan(scanned(), body)
    }

    /// The same for blocks that are listed.
    func scan(
        _ list: ScanList,
        _ body: (CachedBlock, Int, UnsafeMutableBufferPointer<UInt16>) throws(StoreError) -> Bool
    ) throws(StoreError) {
        if canBeHelped(list.blocks) { return try scanTogether(list, body) }
        let scratch = ScanScratch()
        for block in list.blocks {
            note(block)
            let (cached, count) = try pick(block, list.noted, scratch)
            guard count > 0 else { continue }
            let slots = UnsafeMutableBufferPointer(start: scratch.slots, count: count)
            if try !body(cached, block.entity, slots) { return }
        }
    }

    /// How many rows a scan finds.
    func scanCount() throws(StoreError) -> Int {
        let list = scanned()
        let (blocks, noted) = (list.blocks, list.noted)
        for block in blocks { note(block) }
        guard canBeHelped(blocks) else {
            let scratch = ScanScratch()
            var total = 0
            for block in blocks { total += try count(block, noted, scratch) }
            return total
        }
        let next = Atomic(0)
        let outcome = Mutex((total: 0, error: StoreError?.none))
        reader.crew.together {
            let scratch = ScanScratch()
            var total = 0
            do throws(StoreError) {
                while true {
                    // Some at a time, so that few ask for the next at once.
                    let first = next.wrappingAdd(8, ordering: .relaxed).oldValue
                    if first >= blocks.count { break }
                    for block in blocks[first..<min(first + 8, blocks.count)] {
                        total += try count(block, noted, scratch)
                    }
                }
                outcome.withLock { $0.total += total }
            } catch {
                outcome.withLock { $0.error = error }
            }
        }
        let (total, error) = outcome.withLock { $0 }
        if let error { throw error }
        return total
    }

    // MARK: Blocks

    /// A scan without a filter finds all rows.
    private func checkCondition() {
        precondition(
            filter != nil || fetch.predicate == nil,
            "a scan evaluates what an index does not")
    }

    /// The blocks that matches can be in.
    ///
    /// - Parameter column: another one whose zones are noted, beside those of the condition.
    func scanned(noting column: Int? = nil) -> ScanList {
        checkCondition()
        trace?.asksRows = filter != nil
        trace?.estimate = family.reduce(0) { $0 + state.counts[$1] }
        var blocks: [ScanBlock] = []
        eachBlock {
            blocks.append($0)
            return true
        }
        let tests = filter.map { ZoneTest.tests(of: $0) } ?? []
        if !tests.isEmpty {
            reader.zones.look(&blocks, tests, catalog)
            blocks.removeAll { $0.look == .nothing }
        }
        var noted = column.map { [$0] } ?? []
        for test in tests where !noted.contains(test.column) { noted.append(test.column) }
        return ScanList(blocks: blocks, noted: noted)
    }

    /// Calls the body with each block that has live rows, until it returns false.
    private func eachBlock<E: Error>(_ body: (ScanBlock) throws(E) -> Bool) throws(E) {
        for entity in family {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                if entry.live > 0 {
                    let block = ScanBlock(entity: entity, handle: handle, entry: entry)
                    if try !body(block) { return }
                }
                handle = state.blocks.next(after: entry)
            }
        }
    }

    /// Whether more threads than one make it faster: what is asked is asked of columns alone, and of many.
    func canBeHelped(_ blocks: [ScanBlock]) -> Bool {
        reader.crew.helpers > 0 && objects == nil && isPublished
            && blocks.count >= Self.blocksWorthHelp
    }

    /// Notes that a block is read.
    func note(_ block: ScanBlock) {
        trace?.read(block.entry)
        trace?.rows += Int(block.entry.live)
    }

    /// A block, and a byte of 0 or 1 for each of its rows. Behind the rows there are 7 bytes of 0; of dead rows the bytes
    /// mean nothing.
    private func select(
        _ block: ScanBlock, _ noted: [Int], _ scratch: ScanScratch, isPassing: Bool = false
    ) throws(StoreError) -> CachedBlock {
        try checkCancelled()
        let cached = try untracedBlock(block.entry, isPassing: isPassing, isScan: true)
        let stored = catalog.entities[block.entity]
        // What is not published may be given up, and something else be written where it was.
        if block.look == .andNote, isPublished {
            for place in noted {
                let column = stored.columns[place]
                let cells = try cached.cells(column, at: place).pointee
                reader.zones.note(
                    .of(cells, rows: cached.rows), of: column.propertyID, block)
            }
        }
        let selection = scratch.selection
        if let filter {
            let needsMask = objects != nil || block.entry.hasReferences
            if needsMask { block.entry.copyLive(to: scratch.live) }
            try filter.evaluate(
                FilterPlace(block: cached, stored: stored, entity: block.entity),
                needsMask ? UnsafePointer(scratch.live) : nil, objects, into: selection)
        } else {
            selection.update(repeating: 1, count: cached.rows)
        }
        (selection + cached.rows).update(repeating: 0, count: 7)
        return cached
    }

    private func count(_ block: ScanBlock, _ noted: [Int], _ scratch: ScanScratch)
        throws(StoreError) -> Int
    {
        let cached = try select(block, noted, scratch)
        return Self.count(scratch.selection, cached.rows, block.entry)
    }

    /// Lists the slots of a block that match. Several threads may do so at once where `canBeHelped`, or what is asked is
    /// asked of columns alone and the holder of the turn waits for them.
    ///
    /// - Parameters:
    ///   - noted: the columns whose zones are noted, unless they are known.
    ///   - isPassing: whether the block is not to be kept.
    func pick(
        _ block: ScanBlock, _ noted: [Int], _ scratch: ScanScratch, isPassing: Bool = false
    ) throws(StoreError) -> (block: CachedBlock, count: Int) {
        let cached = try select(block, noted, scratch, isPassing: isPassing)
        return (
            cached, Self.pick(scratch.selection, cached.rows, block.entry, into: scratch.slots)
        )
    }

    // MARK: Several threads

    /// What was selected of a block, until it is handed over.
    private struct Picked {
        var block: CachedBlock?
        var count = 0
        var error: StoreError?
    }

    private func scanTogether(
        _ list: ScanList,
        _ body: (CachedBlock, Int, UnsafeMutableBufferPointer<UInt16>) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let (blocks, noted) = (list.blocks, list.noted)
        let width = FormatLimits.maximumRows + 8
        let slots = UnsafeMutablePointer<UInt16>.allocate(capacity: Self.mostAhead * width)
        let picked = UnsafeMutablePointer<Picked>.allocate(capacity: Self.mostAhead)
        picked.initialize(repeating: Picked(), count: Self.mostAhead)
        defer {
            picked.deinitialize(count: Self.mostAhead)
            picked.deallocate()
            slots.deallocate()
        }
        // More and more at a time: who wants but a few rows waits for few blocks.
        var ahead = 16
        var start = 0
        while start < blocks.count {
            let part = blocks[start..<end(of: start, ahead, blocks)]
            let next = Atomic(part.startIndex)
            reader.crew.together {
                let scratch = ScanScratch()
                while true {
                    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
                    if index >= part.endIndex { return }
                    let place = index - part.startIndex
                    do throws(StoreError) {
                        let cached = try select(blocks[index], noted, scratch)
                        picked[place].block = cached
                        picked[place].count = Self.pick(
                            scratch.selection, cached.rows, blocks[index].entry,
                            into: slots + place * width)
                    } catch {
                        picked[place].error = error
                    }
                }
            }
            for (place, block) in part.enumerated() {
                note(block)
                if let error = picked[place].error { throw error }
                let (cached, count) = (picked[place].block, picked[place].count)
                picked[place].block = nil
                guard let cached, count > 0 else { continue }
                let found = UnsafeMutableBufferPointer(start: slots + place * width, count: count)
                if try !body(cached, block.entity, found) { return }
            }
            start = part.endIndex
            ahead = min(ahead * 2, Self.mostAhead)
        }
    }

    /// Where the blocks end that are looked at next: so many, and no more of the cache than a quarter, as they are as large
    /// as their frames at least.
    func end(of start: Int, _ most: Int, _ blocks: [ScanBlock]) -> Int {
        var room = reader.cache.budget / 4
        var end = start
        while end < min(start + most, blocks.count) {
            let entry = blocks[end].entry
            room -= (Int(entry.length) + Int(entry.borrowedBytes)) * 2
            end += 1
            if room < 0 { break }
        }
        return end
    }

    // MARK: Slots

    /// How many slots are selected and live.
    private static func count(
        _ selection: UnsafePointer<UInt8>, _ rows: Int, _ entry: BlockEntry
    ) -> Int {
        var count = 0
        guard entry.bitmap != 0 else {
            for slot in 0..<rows { count &+= Int(selection[slot]) }
            return count
        }
        for start in stride(from: 0, to: rows, by: 64) {
            var live = entry.liveWord(start >> 6)
            for slot in start..<min(start + 64, rows) {
                count &+= Int(selection[slot] & UInt8(truncatingIfNeeded: live & 1))
                live &>>= 1
            }
        }
        return count
    }

    /// Lists the slots that are selected and live; gives how many there are.
    private static func pick(
        _ selection: UnsafePointer<UInt8>, _ rows: Int, _ entry: BlockEntry,
        into slots: UnsafeMutablePointer<UInt16>
    ) -> Int {
        let words = UnsafeRawPointer(selection)
        var count = 0
        for start in stride(from: 0, to: rows, by: 64) {
            let live = entry.liveWord(start >> 6)
            // Mostly few rows are wanted, or all: eight are passed over at once.
            for first in stride(from: start, to: min(start + 64, rows), by: 8) {
                let wanted = words.loadUnaligned(fromByteOffset: first, as: UInt64.self)
                if wanted == 0 { continue }
                var alive = live >> UInt64(first - start)
                for slot in first..<first + 8 {
                    slots[count] = UInt16(truncatingIfNeeded: slot)
                    count &+= Int(selection[slot] & UInt8(truncatingIfNeeded: alive & 1))
                    alive &>>= 1
                }
            }
        }
        return count
    }
}
