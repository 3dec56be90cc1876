// The first rows in a sort order without an index, found block by block: the most promising blocks come
// first.
//
//   1. Blocks with an unknown range of the first sort key are scanned normally, and their ranges are noted.
//   2. The other blocks follow in the order of the best value that they can contain, until that is beyond the
//      worst row still wanted. If this does not end the search after a few blocks, it may never do so: the
//      rest is scanned some hundred blocks at a time.
//   3. When many rows exceed the wanted number, the worst are dropped, and the last remaining row becomes the
//      bound.
//
// The result does not depend on the access path: rows with the same keys are ordered by their numbers.

import CairnStore

extension FetchRunner {
    /// The number of blocks that are checked individually for possible matches.
    private static let blocksAlone = 64

    /// Returns the first rows of the order, and some more, unsorted.
    func firstOfOrder(_ bound: SortBound) throws(StoreError) -> [RowHit] {
        var bound = bound
        var hits: [RowHit] = []
        if bound.wanted == 0 { return hits }
        var list = scanned(noting: bound.column)
        let zones = reader.zones.known(of: bound.column, &list.blocks, catalog)
        var unknown = ScanList(blocks: [], noted: list.noted)
        var known: [(rank: SortBound.Rank, block: ScanBlock)] = []
        for (block, zone) in zip(list.blocks, zones) {
            if let zone {
                known.append((bound.best(in: zone), block))
            } else {
                unknown.blocks.append(block)
            }
        }
        try scan(unknown) { block, entity, slots throws(StoreError) in
            try collect(block, entity, slots, bound, into: &hits)
            if bound.isExceeded(by: hits.count) { try keepFirst(&hits, &bound) }
            return true
        }
        known.sort { ($0.rank, $0.block.handle.raw) < ($1.rank, $1.block.handle.raw) }
        // The number of hits added since the bound was last moved.
        var fresh = hits.count
        var next = 0
        while next < known.count {
            // Sorting costs more the more hits there are, and a slightly outdated bound lets only a few more
            // rows through.
            if hits.count >= bound.wanted, fresh >= (bound.isSet ? max(16, bound.wanted / 2) : 1) {
                try keepFirst(&hits, &bound)
                fresh = 0
            }
            if bound.isBeyond(known[next].rank) { break }
            let end = min(next < Self.blocksAlone ? next + 1 : next + Self.mostAhead, known.count)
            let part = ScanList(blocks: known[next..<end].map(\.block), noted: list.noted)
            try scan(part) { block, entity, slots throws(StoreError) in
                let before = hits.count
                try collect(block, entity, slots, bound, into: &hits)
                fresh += hits.count - before
                return true
            }
            next = end
        }
        return hits
    }

    private func collect(
        _ block: CachedBlock, _ entity: Int, _ slots: UnsafeMutableBufferPointer<UInt16>,
        _ bound: SortBound, into hits: inout [RowHit]
    ) throws(StoreError) {
        if slots.isEmpty { return }
        let stored = catalog.entities[entity]
        let count = try bound.reduce(slots, block, stored)
        if count == 0 { return }
        let numbers = try block.numbers()
        let directory = state.directories[stored.tree]
        for slot in slots.prefix(count) {
            let number = numbers.number(Int(slot))
            hits.append(RowHit(number: number, cell: directory[number], entity: entity))
        }
    }

    /// Drops the worst hits, and moves the bound to the last remaining one.
    private func keepFirst(_ hits: inout [RowHit], _ bound: inout SortBound) throws(StoreError) {
        try RowSorter(runner: self).sort(&hits, by: fetch.sort)
        hits.removeSubrange(min(bound.wanted, hits.count)...)
        if let last = hits.last { try bound.move(to: last, self) }
    }
}
