// Goes through the blocks of an entity and its descendants.

import CairnFormat
import CairnStore

extension FetchRunner {
    /// Calls the body with each block that has matches, its entity and their slots, until it returns false. The slots are
    /// the body's to change.
    func scan(
        _ body: (CachedBlock, Int, UnsafeMutableBufferPointer<UInt16>) throws(StoreError) -> Bool
    ) throws(StoreError) {
        // Some more: where slots are written that are then not taken.
        let slots = UnsafeMutablePointer<UInt16>.allocate(capacity: FormatLimits.maximumRows + 8)
        defer { slots.deallocate() }
        try evaluate { block, entity, entry, selection throws(StoreError) in
            let count = Self.pick(selection, block.rows, entry, into: slots)
            guard count > 0 else { return true }
            return try body(block, entity, UnsafeMutableBufferPointer(start: slots, count: count))
        }
    }

    /// How many rows a scan finds.
    func scanCount() throws(StoreError) -> Int {
        var total = 0
        try evaluate { block, _, entry, selection throws(StoreError) in
            total += Self.count(selection, block.rows, entry)
            return true
        }
        return total
    }

    /// Calls the body with each block that has live rows, its entity, its entry and a byte of 0 or 1 for each row, until it
    /// returns false. Behind the rows there are 7 bytes of 0; of dead rows the bytes mean nothing.
    private func evaluate(
        _ body: (CachedBlock, Int, BlockEntry, UnsafePointer<UInt8>) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let most = FormatLimits.maximumRows
        // What is selected, and behind it what lives, for conditions that are asked only of that.
        let selection = UnsafeMutablePointer<UInt8>.allocate(capacity: (most + 8) * 2)
        let live = selection + most + 8
        defer { selection.deallocate() }
        trace?.asksRows = filter != nil
        trace?.estimate = family.reduce(0) { $0 + state.counts[$1] }
        for entity in family {
            let stored = catalog.entities[entity]
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                if entry.live > 0 {
                    let block = try block(entry)
                    trace?.rows += Int(entry.live)
                    if let filter {
                        let needsMask = objects != nil || entry.hasReferences
                        if needsMask { entry.copyLive(to: live) }
                        try filter.evaluate(
                            FilterPlace(block: block, stored: stored, entity: entity),
                            needsMask ? UnsafePointer(live) : nil, objects, into: selection)
                    } else {
                        selection.update(repeating: 1, count: block.rows)
                    }
                    (selection + block.rows).update(repeating: 0, count: 7)
                    if try !body(block, entity, entry, selection) { return }
                }
                handle = state.blocks.next(after: entry)
            }
        }
    }

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
