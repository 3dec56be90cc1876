// Memory for the strings of dictionaries during the read of a block's rows: rows with the same string share
// one instance.
//
// Threads: owned by one reading.

import CairnFormat
import CairnStore

struct SharedTexts: ~Copyable {
    private struct Room {
        let texts: UnsafeMutablePointer<String?>
        /// The number of dictionary entries that it covers.
        var count = 0
    }

    /// By column of the entity; nil until a block has a dictionary in it.
    private var rooms: [Room?]

    init(columns: Int) { rooms = Array(repeating: nil, count: columns) }

    deinit {
        for case let room? in rooms {
            room.texts.deinitialize(count: room.count)
            room.texts.deallocate()
        }
    }

    /// Provides the cells of a column with memory for the strings of their dictionary; releases those of the
    /// previous block.
    ///
    /// - Parameter entries: the number of entries in the dictionary.
    mutating func make(for cells: inout CellColumn, entries: Int, at column: Int) {
        precondition(entries <= FormatLimits.maximumRows, "there are no more entries than rows")
        var room = rooms[column] ?? Room(texts: .allocate(capacity: FormatLimits.maximumRows))
        room.texts.deinitialize(count: room.count)
        room.texts.initialize(repeating: nil, count: entries)
        room.count = entries
        rooms[column] = room
        cells.keepTexts(in: room.texts)
    }
}
