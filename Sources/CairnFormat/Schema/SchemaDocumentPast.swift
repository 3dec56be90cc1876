// Default cells for older blocks, and the numbers of new elements, in a schema frame.             Format 70.5

/// The cell that rows have in blocks of earlier versions of the schema.
package struct SchemaDocumentPast: Codable, Sendable, Hashable {
    /// The first version whose blocks contain meaningful cells.
    package var before: UInt32
    /// The cell of a column of integers.
    package var integer: Int64?
    /// The bits of the cell of a column of doubles.
    package var double: UInt64?
    /// The bits of the cell of a column of floats.
    package var float: UInt32?
    /// The cell of a column of bytes, or of 16 bytes, in base 64.
    package var bytes: String?

    package init(before: UInt32) {
        self.before = before
    }

    /// Returns whether it has a cell for a column of a kind, and no other.                              F-717
    func fits(_ kind: ColumnKind) -> Bool {
        let count = [integer != nil, double != nil, float != nil, bytes != nil].filter { $0 }.count
        guard count == 1 else { return false }
        return switch kind {
        case .integer: integer != nil
        case .double: double != nil
        case .float: float != nil
        case .bytes, .fixed16: bytes != nil
        }
    }
}

/// The next free numbers for new elements.                                                           F-718
package struct SchemaDocumentNumbers: Codable, Sendable, Hashable {
    /// The id of the next entity.
    package var entity: UInt32
    /// The id of the next tree.
    package var tree: UInt32
    /// The id of the next property of each tree.
    package var properties: [Tree]
    /// The checksums of former versions of the store's model, oldest first; nil if there are none.
    package var left: [String]?

    /// The next property of a tree.
    package struct Tree: Codable, Sendable, Hashable {
        package var tree: UInt32
        package var next: UInt32

        package init(tree: UInt32, next: UInt32) {
            self.tree = tree
            self.next = next
        }
    }

    package init(entity: UInt32, tree: UInt32, properties: [Tree], left: [String]? = nil) {
        self.entity = entity
        self.tree = tree
        self.properties = properties
        self.left = left
    }
}
