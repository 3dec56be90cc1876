// Rows of a result that are gathered one by one, from wherever they are, and then passed together.
//
//   1. Whoever gathers sets or nils every column that was asked for, of row `batch.rows`, and calls `add`.
//   2. When `isFull`, and at the end, `hand` gives the rows to a closure and begins anew.
//
// Threads: owned by one reading.

import CairnModel

/// Some rows on their way out of a store.
package struct GatheredRows: ~Copyable {
    /// The values; not to be sealed.
    package let batch: ColumnBatch
    private let columns: ColumnSet
    private let width: Int
    /// By column, then the numbers.
    private let cells: UnsafeMutablePointer<CellColumn>
    private let numbers: UnsafeMutablePointer<UInt64>
    private let positions: UnsafeMutablePointer<Int>

    /// So many rows are handed over together: their bytes stay in the nearest cache until they are read.
    private static let capacity = 256

    /// An empty batch of the entity whose columns are read, and which of them are.
    package init(_ batch: ColumnBatch, columns: ColumnSet) {
        self.batch = batch
        self.columns = columns
        width = batch.columns.count
        cells = .allocate(capacity: width + 1)
        cells.initialize(repeating: .absent, count: width + 1)
        numbers = .allocate(capacity: Self.capacity)
        positions = .allocate(capacity: Self.capacity)
    }

    deinit {
        cells.deallocate()
        numbers.deallocate()
        positions.deallocate()
    }

    /// Whether the rows are to be handed over before there are more.
    package var isFull: Bool { batch.rows == Self.capacity || batch.isLarge }

    /// Says that a row is whole.
    package func add(number: UInt64, position: Int) {
        numbers[batch.rows] = number
        positions[batch.rows] = position
        batch.rows += 1
    }

    /// Hands the rows over; false if the closure wants no more.
    package func hand(origin: RowOrigin, to body: (borrowing RowBatch) -> Bool) -> Bool {
        guard batch.rows > 0 else { return true }
        for column in columns { cells[column] = CellColumn(batch.columns[column]) }
        cells[width] = CellColumn(kind: .integer, values: UnsafeRawPointer(numbers))
        let goesOn = body(
            RowBatch(
                count: batch.rows, layout: batch.layout, origin: origin,
                columns: UnsafePointer(cells), numbers: UnsafePointer(cells + width),
                positions: UnsafePointer(positions)))
        batch.reset()
        return goesOn
    }
}

extension ColumnBatch {
    /// Fills keys into the batch until it has `limit` rows; true if there are none left.
    package func fillKeys(
        upTo limit: Int, _ keys: (borrowing RowWriter) throws -> Bool
    ) rethrows -> Bool {
        while rows < limit, !isLarge {
            let isEnd: Bool
            do {
                isEnd = try keys(RowWriter(self))
            } catch {
                forget(row: rows)
                throw error
            }
            if isEnd {
                forget(row: rows)
                return true
            }
            rows += 1
        }
        return false
    }
}
