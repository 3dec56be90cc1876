// What an iteration does, recorded for query plans.
//
// Threads: one reading.

import CairnFormat

/// Counts what a fetch examines.
final class QueryTrace {
    /// The entities of the blocks that were read, by where these are.
    private var blocks: [UInt64: Int] = [:]
    /// How many rows were looked at, or counted in an index.
    var rows = 0
    /// How many rows the way was expected to lead to.
    var estimate = 0
    /// Whether rows were asked the condition, and not only an index.
    var asksRows = false
    /// Whether rows were sorted after they were found.
    var sorts = false
    /// Whether rows were put into groups.
    var groups = false

    /// How many blocks were read.
    var blockCount: Int { blocks.count }

    /// How many blocks of some entities were read.
    func blockCount(of entities: [Int]) -> Int { blocks.values.count { entities.contains($0) } }

    /// A block is read.
    func read(_ entry: BlockEntry) {
        blocks[UInt64(entry.segment) << 32 ^ UInt64(entry.place.byteOffset)] = Int(entry.entity)
    }
}
