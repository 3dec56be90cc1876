// Numbers that a catalog must use for its elements.                                                 Format 70
//
// Entities are identified by their positions in the catalog: those of the schema, then the hidden ones;
// columns by their positions in these; trees by the positions of their roots.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

/// The numbers that are known when a catalog is created. Everything else gets the next one.
protocol KnownNumbers {
    /// The next numbers for new items. Those of properties are requested separately for each tree.
    var next: CatalogNumbers { get }

    func treeID(ofRoot root: Int) -> UInt32?

    /// The id of the next property of a tree.
    func nextProperty(ofRoot root: Int) -> UInt32?

    func entityID(_ entity: Int) -> UInt32?

    func propertyID(_ column: Int, of entity: Int) -> UInt32?

    /// The property id of the order key next to a reference.
    func orderID(besides column: Int, of entity: Int) -> UInt32?

    /// The replacement for a column that older blocks do not have; nil: none is needed.
    func past(of column: Int, _ entity: Int) -> ColumnPast?
}

extension PastCell {
    /// The cell of a value in a column of its type.
    init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .boolean(let value): self = .integer(value ? 1 : 0)
        case .double(let value): self = .double(value)
        case .date(let value): self = .double(value.timeIntervalSinceReferenceDate)
        case .float(let value): self = .float(bits: value.bitPattern)
        case .string, .uri, .binary, .decimal, .uuid: self = .bytes(Self.bytes(of: value))
        case .objectID: preconditionFailure("a reference has no default")
        }
    }

    /// The bytes of a value in a column.
    private static func bytes(of value: Value) -> [UInt8] {
        var isFixed = false
        if case .uuid = value { isFixed = true }
        var reserved = 0
        return withUnsafeMutablePointer(to: &reserved) { reserved in
            var column = ColumnBuffer(
                kind: isFixed ? .fixed16 : .bytes, rows: 1, reserved: reserved)
            defer { column.deallocate() }
            guard column.store(value, row: 0) else {
                preconditionFailure("a value fits the column of its kind")
            }
            return Array(column.cell(0))
        }
    }
}
