// Rows outside the request whose derived attributes are recomputed.
//
// A save of one object may recompute a million of them. Therefore they are written block by block while they
// are computed, before the rows of the save: nothing else in them changes, no key and no reference, and
// derived attributes never derive from each other, so later computations do not depend on whether they are
// written. If the save fails after that, the commit is discarded, and these rows with it.
//
// The first rows, at most a block, are kept for the caller; of the others, only the ids.
//
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

final class RecomputedRows {
    /// Whether the caller requests the written rows.
    private let isTold: Bool
    private var pending = PendingRows()
    /// The first of them, as they are stored now.
    private(set) var rows: [Row] = []
    /// The others.
    private(set) var ids: [ObjectID] = []

    init(isTold: Bool) { self.isTold = isTold }

    /// Adds a row that gets other values.
    func add(
        _ row: WorkingRow, _ stored: StoredRow, _ values: [Value], _ builder: inout CommitBuilder
    )
        throws(StoreError)
    {
        let new = builder.replace(
            entity: row.entity, number: row.number, old: stored, values: values)
        pending.byEntity[row.entity, default: []].append(new)
        if isTold { tell(row, new, limit: builder.tools.sizes.rowsPerBlock) }
        if let rows = pending.byEntity[row.entity], rows.count >= builder.tools.sizes.rowsPerBlock {
            pending.byEntity[row.entity] = nil
            try builder.write(rows, entity: row.entity)
        }
    }

    private func tell(_ row: WorkingRow, _ new: PendingRows.Row, limit: Int) {
        guard rows.count < limit else { return ids.append(row.id) }
        var cells = RowCellsBuilder(columns: new.values.count)
        for (column, value) in new.values.enumerated() { cells.set(column, value: value) }
        rows.append(
            Row(id: row.id, entity: row.entity, version: new.version, cells: cells.finish()))
    }

    /// Writes the pending rows.
    func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        for (entity, rows) in pending.byEntity.inKeyOrder() {
            try builder.write(rows, entity: entity)
        }
        pending = PendingRows()
    }
}
