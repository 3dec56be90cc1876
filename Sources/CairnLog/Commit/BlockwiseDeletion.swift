// The remaining work of a deletion that is done block by block.
//
// Threads: within the turn, in one thread.

/// Keys to remove from their indexes when all rows are deleted, and memory for one block.
struct BlockwiseDeletion {
    /// By unique index: the entries to remove, with the number above and half of the hash below.
    var leaving: [[UInt64]]
    /// The number of rows that died since fetch indexes were updated.
    var untold = 0
    /// The rows of the block, and their slots in it.
    var numbers: [UInt32] = []
    var slots: [UInt16] = []

    init(_ catalog: Catalog) {
        leaving = Array(repeating: [], count: catalog.uniques.count)
    }

    /// Announces up to this many deleted rows with keys in an index: memory that is not touched costs
    /// nothing, and none moves as it grows.
    mutating func expect(_ rows: Int, unique: Int) {
        leaving[unique].reserveCapacity(min(rows, 1 << 20))
    }
}
