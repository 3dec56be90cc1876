// Buffers for rows that a store passes to objects, reused from one small read to the next.
//
// Whoever reads takes the room of an entity out, so that a reading inside of a reading gets another.
//
// Threads: one thread.

/// Buffers for the rows of each entity.
package final class RowRoom {
    /// By entity.
    private var rooms: [StreamedRows?]

    /// No room yet, for a schema of so many entities.
    package init(entities: Int) { rooms = Array(repeating: nil, count: entities) }

    /// Room for rows of an entity that has so many columns.
    package func take(entity: Int, columns: Int) -> StreamedRows {
        guard let room = rooms[entity] else {
            return StreamedRows(entity: entity, columns: columns)
        }
        rooms[entity] = nil
        return room
    }

    /// It is not used any more.
    package func give(_ room: StreamedRows) {
        room.forget()
        rooms[room.entity] = room
    }
}
