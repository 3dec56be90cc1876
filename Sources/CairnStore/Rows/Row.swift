// One version of a stored object.

public import CairnModel

/// A stored object in the state of a snapshot.
public struct Row: Sendable {
    /// The object's id.
    public let id: ObjectID
    /// Its entity, as an index of the schema.
    public let entity: Int
    /// Increases by one with each update.
    public let version: UInt32
    /// Its values.
    public let cells: RowCells

    /// Creates a row.
    public init(id: ObjectID, entity: Int, version: UInt32, cells: RowCells) {
        self.id = id
        self.entity = entity
        self.version = version
        self.cells = cells
    }
}
