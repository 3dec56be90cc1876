// Reads rows of a state in their stored form.
//
// Threads: plain values; the state is pinned by whoever has it.

import CairnFormat
import CairnModel
package import CairnStore

/// Reads rows of a state by their positions.
package struct PlacedRowReader {
    private let reader: StoreReader
    private let state: EngineState

    package init(_ reader: StoreReader, _ state: EngineState) {
        self.reader = reader
        self.state = state
    }

    func row(_ number: UInt32, _ cell: DirectoryCell) throws(StoreError) -> PartialStore.PlacedRow {
        let entry = state.blocks.entry(cell.handle)
        let entity = Int(entry.entity)
        let block = try reader.block(entry, in: state)
        let rows = RowReader(catalog: state.catalog, identity: reader.identity, entity: entity)
        return PartialStore.PlacedRow(
            entity: entity, number: number, version: cell.version,
            values: try rows.values(block, cell.slot),
            places: try rows.orderKeys(block, cell.slot))
    }

    /// Reads all rows of a tree, by ascending number; those of hidden trees are pairs.
    package func forEachRow(
        ofTree tree: Int, _ body: (PartialStore.PlacedRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        var number: UInt32 = 1
        while let next = state.directories[tree].next(from: number) {
            try body(row(next, state.directories[tree][next]))
            number = next + 1
        }
    }

    /// The ids that are redirected to other objects, by ascending number.
    package var redirects: [PartialStore.PlacedRedirect] {
        (state.redirects?.entries.inKeyOrder() ?? []).compactMap { key, entry in
            guard entry.target != 0, let tree = state.catalog.treeIndex(id: key.tree) else {
                return nil
            }
            return .init(tree: tree, number: key.number, survivor: entry.target)
        }
    }
}

extension PartialStore.PlacedPair {
    /// The pair that a row of a hidden entity represents; nil if it represents none.
    package init?(_ row: PartialStore.PlacedRow, _ catalog: Catalog) {
        guard row.values.count == 2, let source = CommitBuilder.number(of: row.values[0]),
            let destination = CommitBuilder.number(of: row.values[1])
        else { return nil }
        self.init(
            pairs: row.entity - catalog.schema.entities.count, number: row.number,
            version: row.version, source: source, destination: destination, places: row.places)
    }
}
