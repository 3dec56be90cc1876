// Goes through the blocks of an entity and its descendants.

import CairnFormat
import CairnStore

extension FetchRunner {
    /// Calls the body with each block that has matches, its entity and their slots, until it returns false. The slots are
    /// the body's to change.
    func scan(
        _ body: (CachedBlock, Int, UnsafeMutableBufferPointer<UInt16>) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let most = FormatLimits.maximumRows
        // What is selected, and behind it what lives, for conditions that are asked only of that.
        let selection = UnsafeMutablePointer<UInt8>.allocate(capacity: most * 2)
        let live = selection + most
        // One more: where a slot is written that is then not taken.
        let slots = UnsafeMutablePointer<UInt16>.allocate(capacity: most + 1)
        defer {
            selection.deallocate()
            slots.deallocate()
        }
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
                        if objects != nil { entry.copyLive(to: live) }
                        try filter.evaluate(
                            FilterPlace(block: block, stored: stored, entity: entity),
                            objects == nil ? nil : UnsafePointer(live), objects, into: selection)
                    } else {
                        selection.update(repeating: 1, count: block.rows)
                    }
                    let count = Self.pick(selection, block.rows, entry, into: slots)
                    if count > 0,
                        try !body(
                            block, entity, UnsafeMutableBufferPointer(start: slots, count: count))
                    {
                        return
                    }
                }
                handle = state.blocks.next(after: entry)
            }
        }
    }

    /// Lists the slots that are selected and live; gives how many there are.
    private static func pick(
        _ selection: UnsafePointer<UInt8>, _ rows: Int, _ entry: BlockEntry,
        into slots: UnsafeMutablePointer<UInt16>
    ) -> Int {
        var count = 0
        for start in stride(from: 0, to: rows, by: 64) {
            var live = entry.liveWord(start >> 6)
            for slot in start..<min(start + 64, rows) {
                slots[count] = UInt16(truncatingIfNeeded: slot)
                count &+= Int(selection[slot] & UInt8(truncatingIfNeeded: live & 1))
                live &>>= 1
            }
        }
        return count
    }
}
