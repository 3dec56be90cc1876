// What a reading does, noted for whoever asks how a fetch is answered.
//
// Threads: one reading.

import CairnFormat

/// Counts what a fetch looks at.
final class QueryTrace {
    /// The blocks that were read, by where they are.
    private var blocks: Set<UInt64> = []
    /// How many rows were looked at, or counted in an index.
    var rows = 0
    /// How many rows the way was expected to lead to.
    var estimate = 0
    /// Whether rows were asked the condition, and not only an index.
    var asksRows = false
    /// Whether rows were sorted after they were found.
    var sorts = false

    /// How many blocks were read.
    var blockCount: Int { blocks.count }

    /// A block is read.
    func read(_ entry: BlockEntry) {
        blocks.insert(UInt64(entry.segment) << 32 ^ UInt64(entry.place.byteOffset))
    }
}
