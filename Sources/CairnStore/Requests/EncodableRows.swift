// Rows from encodable values.

import CairnModel

/// A sequence of encodable values, one per row. Their type is known only where the sequence is iterated.
package struct EncodableRows: Sendable {
    /// Starts an iteration.
    let makeFiller: @Sendable (SchemaEntity) -> any RowFiller
    /// Whether it can be iterated again.
    let canRepeat: Bool

    init<Rows: Sequence & Sendable>(_ rows: Rows) where Rows.Element: Encodable {
        canRepeat = rows is any Collection
        makeFiller = { EncodableFiller(rows: rows.makeIterator(), encoder: RowEncoder($0)) }
    }
}

/// Fills rows from an iterator.
private struct EncodableFiller<Rows: IteratorProtocol>: RowFiller where Rows.Element: Encodable {
    var rows: Rows
    let encoder: RowEncoder

    mutating func fill(_ batch: ColumnBatch, firstRow: Int) throws(StoreError) -> Bool {
        while batch.rows < ColumnBatch.capacity, !batch.isLarge {
            guard let row = rows.next() else { return true }
            do {
                try encoder.encode(row, into: batch, firstRow: firstRow)
            } catch {
                batch.forget(row: batch.rows)
                throw StoreError(
                    rowsFailed: error, entity: batch.entity, row: firstRow + batch.rows)
            }
            batch.rows += 1
        }
        return false
    }
}
