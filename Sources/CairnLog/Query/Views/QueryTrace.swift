// What an iteration does, recorded for query plans.
//
// Threads: one reading.

import CairnFormat

/// Counts what a fetch examines.
final class QueryTrace {
    /// The entities of the blocks that were read, by block location.
    private var blocks: [UInt64: Int] = [:]
    /// The number of rows that were read, or counted in an index.
    var rows = 0
    /// The number of rows that the access path was expected to return.
    var estimate = 0
    /// Whether the filter was evaluated on rows, and not only by an index.
    var asksRows = false
    /// Whether rows were sorted after they were found.
    var sorts = false
    /// Whether rows were grouped.
    var groups = false

    /// The number of blocks that were read.
    var blockCount: Int { blocks.count }

    /// Returns the number of blocks of some entities that were read.
    func blockCount(of entities: [Int]) -> Int { blocks.values.count { entities.contains($0) } }

    /// Records that a block is read.
    func read(_ entry: BlockEntry) {
        blocks[UInt64(entry.segment) << 32 ^ UInt64(entry.place.byteOffset)] = Int(entry.entity)
    }
}
