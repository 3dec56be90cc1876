// Scans the blocks of an entity and its descendants.
//
//   1. With a filter, an order, or more than one pass, the blocks are listed; blocks that, by the known
//      ranges of their values, contain no match are omitted.
//   2. The filter is evaluated block by block. If it only reads columns and there are many blocks, several
//      threads evaluate it: each takes the next free blocks, and their matches are passed on in order.
//
// Threads: one reading, with helpers that end before it goes on. They use what is immutable, and neither `trace` nor
// `objects`.

import CairnFormat
import CairnStore
import Synchronization

extension FetchRunner {
    /// The number of blocks below which a scan is done before a helper thread has started.
    private static let blocksWorthHelp = 48
    /// The maximum number of blocks whose matches wait to be passed on.
    static let mostAhead = 256

    // MARK: Answers

    /// Calls the body with each block that has matches, its entity and their slots, until it returns false.
    /// The body may change the slots.
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

    /// Calls the body likewise for listed blocks.
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

    /// Returns the number of rows that a scan finds.
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
                    // Some at a time, to reduce contention on the counter.
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

    /// Lists the blocks that can contain matches.
    ///
    /// - Parameter column: another column whose zones are noted, in addition to those of the filter.
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

    /// Whether several threads make the scan faster: the filter only reads columns, and there are many
    /// blocks.
    func canBeHelped(_ blocks: [ScanBlock]) -> Bool {
        reader.crew.helpers > 0 && objects == nil && isPublished
            && blocks.count >= Self.blocksWorthHelp
    }

    /// Notes that a block is read.
    func note(_ block: ScanBlock) {
        trace?.read(block.entry)
        trace?.rows += Int(block.entry.live)
    }

    /// Evaluates the filter on a block: a byte of 0 or 1 for each of its rows. The rows are followed by 7
    /// bytes of 0; the bytes of dead rows are undefined.
    private func select(
        _ block: ScanBlock, _ noted: [Int], _ scratch: ScanScratch, isPassing: Bool = false
    ) throws(StoreError) -> CachedBlock {
        try checkCancelled()
        let cached = try untracedBlock(block.entry, isPassing: isPassing, isScan: true)
        let stored = catalog.entities[block.entity]
        // Unpublished data may be abandoned, and its place overwritten.
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

    /// Lists the slots of a block that match. Several threads may do so at the same time if `canBeHelped`, or
    /// if the filter only reads columns and the holder of the write lock waits for them.
    ///
    /// - Parameters:
    ///   - noted: the columns whose zones are noted, unless they are known.
    ///   - isPassing: whether the block is not kept in the cache.
    func pick(
        _ block: ScanBlock, _ noted: [Int], _ scratch: ScanScratch, isPassing: Bool = false
    ) throws(StoreError) -> (block: CachedBlock, count: Int) {
        let cached = try select(block, noted, scratch, isPassing: isPassing)
        return (
            cached, Self.pick(scratch.selection, cached.rows, block.entry, into: scratch.slots)
        )
    }

    // MARK: Several threads

    /// The matches of a block, until they are passed on.
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
        // The number of blocks per round grows, so that a caller who wants only a few rows waits for few
        // blocks.
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

    /// Returns the end of the blocks to read next: at most `most`, and at most a quarter of what a reading may
    /// retain, as blocks are at least as large as their frames.
    func end(of start: Int, _ most: Int, _ blocks: [ScanBlock]) -> Int {
        var room = reader.cache.readingBudget / 4
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

    /// Returns the number of slots that are selected and live.
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

    /// Lists the slots that are selected and live; returns their number.
    private static func pick(
        _ selection: UnsafePointer<UInt8>, _ rows: Int, _ entry: BlockEntry,
        into slots: UnsafeMutablePointer<UInt16>
    ) -> Int {
        let words = UnsafeRawPointer(selection)
        var count = 0
        for start in stride(from: 0, to: rows, by: 64) {
            let live = entry.liveWord(start >> 6)
            // Mostly few rows match, or all: eight are skipped at a time.
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
