// Rows outside the request whose derived attributes are recomputed.
//
// A save of one object may make a million of them. So they are written block by block while they are computed, before the rows
// of the save: nothing else in them changes, no key and no reference, and nothing derived is made of what is derived, so whoever
// is computed later does not see whether they are written. If the save fails after that, the commit is forgotten, these rows
// with it.
//
// Of as many as a block has the rows are kept for whoever asked; of the others their ids.
//
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

final class RecomputedRows {
    /// Whether the caller wants to know what was written.
    private let isTold: Bool
    private var pending = PendingRows()
    /// The first of them, as they are stored now.
    private(set) var rows: [Row] = []
    /// The others.
    private(set) var ids: [ObjectID] = []

    init(isTold: Bool) { self.isTold = isTold }

    /// Takes a row that is to have other values.
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

    /// Writes what waits.
    func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        for (entity, rows) in pending.byEntity.inKeyOrder() {
            try builder.write(rows, entity: entity)
        }
        pending = PendingRows()
    }
}
