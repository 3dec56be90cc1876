// The result of comparing the rows of a batch with a published state.
//
// It is told in runs: rows that are about objects which lie one behind the other in one block, by number too. Of each it is
// known where the objects were, and which rows say something else.
//
// What is found holds as long as the objects lie there: the content of a place never changes. So whoever uses it asks where
// they are by then, and needs not know which state was compared.
//
// Invariants: runs are in the order of the rows, and none has a row of another; `differing` has no bit beyond `count`.
// Threads: handed from one that compares to one that uses it.

import CairnFormat
import CairnStore

/// What is known about the rows of a batch.
final class ComparedRows {
    /// Rows behind each other, at most `BatchProbes.group` of them.
    struct Run {
        let row: Int
        let count: Int
        /// The number of the object of the first row.
        let number: UInt32
        /// Where that lies in its block.
        let slot: Int
        let place: Place
        /// The rows that do not say what is stored, a bit each from the lowest on.
        let differing: UInt32
    }

    private(set) var runs: [Run] = []
    /// What the columns of the state that was compared are; nil if nothing was.
    private var catalog: Catalog?

    /// Notes a run behind those that are known.
    func note(_ run: Run, _ catalog: Catalog) {
        if self.catalog == nil {
            self.catalog = catalog
            runs.reserveCapacity(ColumnBatch.capacity / BatchProbes.group + 8)
        }
        runs.append(run)
    }

    /// Whether something is known that a state with another catalog may use.
    func isKnown(_ catalog: Catalog) -> Bool { self.catalog?.describesSame(as: catalog) ?? false }
}

/// A way through the runs of a batch.
struct ComparedCursor {
    private let rows: ComparedRows
    private var next = 0

    init(_ rows: ComparedRows) { self.rows = rows }

    /// The first run that begins at a row or behind it; nil if there is none. Rows rise from call to call.
    @inline(__always)
    mutating func run(from row: Int) -> ComparedRows.Run? {
        while next < rows.runs.count {
            if rows.runs[next].row >= row { return rows.runs[next] }
            next += 1
        }
        return nil
    }
}
