// The result of comparing the rows of a batch with a published state.
//
// It consists of runs: rows about objects that are consecutive in one block, and in their numbers. A run
// records where the objects were, and which rows differ from them.
//
// A result holds as long as the objects stay there, because the content of a place never changes. So the user
// of a run checks where they are at that time, and need not know which state was compared.
//
// Invariants: runs are in the order of the rows and do not overlap; `differing` has no bit beyond `count`.
// Threads: handed from one that compares to one that uses it.

import CairnFormat
import CairnStore

/// What is known about the rows of a batch.
final class ComparedRows {
    /// Consecutive rows, at most `BatchProbes.group` of them.
    struct Run {
        let row: Int
        let count: Int
        /// The number of the object of the first row.
        let number: UInt32
        /// The slot of that object in its block.
        let slot: Int
        let place: Place
        /// The rows that differ from what is stored, one bit each, lowest bit first.
        let differing: UInt32
    }

    private(set) var runs: [Run] = []
    /// The catalog of the compared state; nil if nothing was compared.
    private var catalog: Catalog?

    /// Appends a run.
    func note(_ run: Run, _ catalog: Catalog) {
        if self.catalog == nil {
            self.catalog = catalog
            runs.reserveCapacity(ColumnBatch.capacity / BatchProbes.group + 8)
        }
        runs.append(run)
    }

    /// Whether there is a result that a state with another catalog may use.
    func isKnown(_ catalog: Catalog) -> Bool { self.catalog?.describesSame(as: catalog) ?? false }
}

/// A cursor over the runs of a batch.
struct ComparedCursor {
    private let rows: ComparedRows
    private var next = 0

    init(_ rows: ComparedRows) { self.rows = rows }

    /// The first run that begins at or after a row; nil if there is none. Rows ascend from call to call.
    @inline(__always)
    mutating func run(from row: Int) -> ComparedRows.Run? {
        while next < rows.runs.count {
            if rows.runs[next].row >= row { return rows.runs[next] }
            next += 1
        }
        return nil
    }
}
