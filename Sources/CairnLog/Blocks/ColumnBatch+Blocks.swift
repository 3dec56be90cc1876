// How the rows of a batch are divided into blocks, and whether a row equals the stored one.

import CairnModel
import CairnStore

extension ColumnBatch {
    /// Returns the end of the block that begins at a row: it contains as many rows as fit into its byte
    /// budget.
    ///
    /// - Parameter copied: columns whose strings are additionally copied into the rows, once for each time
    ///   that they are listed.
    package func endOfBlock(from start: Int, sizes: StoreSizes, copied: [Int] = []) -> Int {
        let limit = min(rows, start + sizes.rowsPerBlock)
        var (fixed, all) = (0, 0)
        for index in columns.indices {
            fixed += columns[index].kind.isBytes ? 2 : columns[index].kind.width
            all += columns[index].used
        }
        for index in copied where columns[index].kind.isBytes { all += columns[index].used }
        // Usually all of them fit, and no row has to be examined.
        if all + (limit - start) * fixed <= sizes.bytesPerBlock { return limit }
        var bytes = 0
        for row in start..<limit {
            bytes += fixed
            for column in columns where column.kind.isBytes && column.hasValue(row) {
                bytes += min(Int(column.lengths[row]), sizes.largeValueBytes)
            }
            for index in copied where columns[index].kind.isBytes && columns[index].hasValue(row) {
                bytes += min(Int(columns[index].lengths[row]), sizes.largeValueBytes)
            }
            if bytes > sizes.bytesPerBlock && row > start { return row }
        }
        return limit
    }

    /// Whether a row has the values of a stored one in all columns; ignores order keys.
    @inline(__always)
    func isEqual(_ row: Int, _ view: BlockView, _ slot: Int) throws(StoreError) -> Bool {
        for index in 0..<entity.columns.count
        where try !columns[index].isEqual(row, view.cells + index, view, slot) {
            return false
        }
        return true
    }

    /// Copies the order keys of another row of the batch.
    func copyOrder(from other: Int, to row: Int) {
        for index in entity.columns.count..<columns.count {
            columns[index].copyCell(from: other, to: row)
        }
    }

    /// Copies the order keys of a stored row.
    func copyOrder(
        of stored: Catalog.StoredEntity, _ block: CachedBlock, _ slot: Int, to row: Int
    ) throws(StoreError) {
        for (place, order) in stored.orders.enumerated() {
            columns[entity.columns.count + place].copyCell(
                from: try block.column(order.column), slot, to: row)
        }
    }
}
