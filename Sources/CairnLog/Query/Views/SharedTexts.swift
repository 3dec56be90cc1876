// Memory for the strings of dictionaries while the rows of a block are read: rows with the same string share one instance.
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

    /// By column of the entity; nil as long as no block has had a dictionary in it.
    private var rooms: [Room?]

    init(columns: Int) { rooms = Array(repeating: nil, count: columns) }

    deinit {
        for case let room? in rooms {
            room.texts.deinitialize(count: room.count)
            room.texts.deallocate()
        }
    }

    /// Gives the cells of a column room for the texts of their dictionary; those of the block before are let go.
    ///
    /// - Parameter entries: how many the dictionary has.
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
