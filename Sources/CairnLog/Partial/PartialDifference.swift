// The changes of a request in the available part of the store: whole rows, before and after.
//
// Threads: owned by one call.

import CairnFormat
import CairnModel
import CairnStore

struct PartialDifference {
    let reader: StoreReader
    let old: EngineState
    let new: EngineState
    private var changes = PartialStore.Changes()

    init(reader: StoreReader, old: EngineState, new: EngineState) {
        self.reader = reader
        self.old = old
        self.new = new
    }

    mutating func run() throws(StoreError) -> PartialStore.Changes {
        for tree in new.catalog.trees.indices {
            var cells: [(number: UInt32, before: DirectoryCell, after: DirectoryCell)] = []
            PagedTable.eachDifference(
                old.directories[tree].cells.table, new.directories[tree].cells.table
            ) { number, before, after in
                let (before, after) = (DirectoryCell(bits: before), DirectoryCell(bits: after))
                // A row that has only moved is unchanged.
                if before.version == after.version, before.isEmpty == after.isEmpty { return }
                cells.append((number, before, after))
            }
            let isOfPairs = new.catalog.entities[new.catalog.trees[tree].root].isHidden
            for cell in cells {
                let before = try row(cell.number, cell.before, in: old)
                let after = try row(cell.number, cell.after, in: new)
                if isOfPairs { note(pair: before, after) } else { note(row: before, after) }
            }
        }
        noteRedirects()
        return changes
    }

    private mutating func noteRedirects() {
        for (key, entry) in new.redirects?.entries.inKeyOrder() ?? [] {
            guard let tree = new.catalog.treeIndex(id: key.tree) else { continue }
            let before = old.redirects?[key]?.target ?? 0
            guard before != entry.target else { continue }
            changes.redirects.append(
                .init(tree: tree, number: key.number, survivor: entry.target))
        }
    }

    private mutating func note(
        row before: PartialStore.PlacedRow?, _ after: PartialStore.PlacedRow?
    ) {
        switch (before, after) {
        case (nil, let after?): changes.inserted.append(after)
        case (let before?, nil): changes.deleted.append(before)
        case (let before?, let after?): changes.updated.append((after, before))
        case (nil, nil): break
        }
    }

    private mutating func note(
        pair before: PartialStore.PlacedRow?, _ after: PartialStore.PlacedRow?
    ) {
        switch (before.flatMap(pair), after.flatMap(pair)) {
        case (nil, let after?): changes.addedPairs.append(after)
        case (let before?, nil): changes.removedPairs.append(before)
        case (_?, let after?): changes.movedPairs.append(after)
        case (nil, nil): break
        }
    }

    private func pair(_ row: PartialStore.PlacedRow) -> PartialStore.PlacedPair? {
        guard var pair = PartialStore.PlacedPair(row, new.catalog) else { return nil }
        // Here its number determines its position; the number means nothing elsewhere.
        pair.places = pair.places.map { $0 ?? OrderKeys.key(of: row.number) }
        return pair
    }

    private func row(_ number: UInt32, _ cell: DirectoryCell, in state: EngineState)
        throws(StoreError) -> PartialStore.PlacedRow?
    {
        if cell.isEmpty { return nil }
        return try PlacedRowReader(reader, state).row(number, cell)
    }
}
