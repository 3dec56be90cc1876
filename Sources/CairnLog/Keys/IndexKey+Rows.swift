// Loads keys of ordered indexes from rows of batches and blocks.

import CairnFormat
import CairnModel
import CairnStore

extension IndexKey {
    /// Loads the key of a batch's row, whose cells can be references to stored values.
    mutating func load(
        _ batch: ColumnBatch, row: Int, _ parts: [Catalog.IndexPart], _ values: LargeValueReader
    ) throws(StoreError) {
        clear()
        for part in parts {
            let column = batch.columns[part.column]
            begin()
            if column.hasValue(row) {
                switch part.kind {
                case .integer:
                    put(integer: column.values.load(fromByteOffset: row &* 8, as: Int64.self))
                case .double:
                    put(double: column.values.load(fromByteOffset: row &* 8, as: Double.self))
                case .float:
                    put(float: column.values.load(fromByteOffset: row &* 4, as: Float.self))
                case .text:
                    if column.states[row] == ColumnBuffer.State.external {
                        let value = try values.read(column.bytes(row: row), from: .none)
                        value.withUnsafeBytes { put(text: $0) }
                    } else {
                        put(text: column.bytes(row: row))
                    }
                case .decimal: put(decimal: column.bytes(row: row))
                case .fixed16:
                    put(
                        fixed16: UnsafeRawBufferPointer(
                            start: column.values + row &* 16, count: 16))
                }
            } else {
                putNil()
            }
            end(isAscending: part.isAscending)
        }
    }

    /// Loads the key of a stored row, by the columns of the index in the row's block.
    ///
    /// - Parameter columns: one for each part; nil for a column that the block does not have.
    mutating func load(
        _ block: CachedBlock, row: Int, _ parts: [Catalog.IndexPart], _ columns: [DecodedColumn?]
    ) throws(StoreError) {
        clear()
        for (index, part) in parts.enumerated() {
            begin()
            if let cells = columns[index], !cells.isNil(at: row) {
                switch part.kind {
                case .integer: put(integer: cells.integer(at: row))
                case .double: put(double: cells.double(at: row))
                case .float: put(float: cells.float(at: row))
                case .fixed16: put(fixed16: cells.cell(row))
                case .text, .decimal:
                    if cells.isExternal(at: row) {
                        let value = try block.large(cells.bytes(at: row))
                        value.withUnsafeBytes { put(text: $0) }
                    } else if part.kind == .text {
                        put(text: cells.cell(row))
                    } else {
                        put(decimal: cells.cell(row))
                    }
                }
            } else {
                putNil()
            }
            end(isAscending: part.isAscending)
        }
    }
}
