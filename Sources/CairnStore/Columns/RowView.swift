// One row of a result, read with typed columns.

public import CairnModel
import FoundationEssentials

/// A stored row, passed to a closure that reads a snapshot.
///
/// It is only valid inside that closure; values read from it remain valid.
///
/// ```swift
/// let name = try product.column("name", as: String.self)
/// let price = try product.column("price", as: Double?.self)
/// try snapshot.read(StoreRead(product)) { row in
///     print(row[name], row[price] ?? 0)
/// }
/// ```
public struct RowView: ~Copyable {
    @usableFromInline let columns: UnsafePointer<CellColumn>
    @usableFromInline var row: Int
    @usableFromInline let layout: UInt64
    @usableFromInline var place: Int
    @usableFromInline let numbers: UnsafePointer<CellColumn>
    @usableFromInline let origin: RowOrigin

    /// For rows that were looked up by keys, the index of the row's key; otherwise the row's own index in the result.
    @inlinable public var position: Int { place }

    @inlinable init(
        columns: UnsafePointer<CellColumn>, row: Int, layout: UInt64, position: Int,
        numbers: UnsafePointer<CellColumn>, origin: RowOrigin
    ) {
        self.columns = columns
        self.row = row
        self.layout = layout
        place = position
        self.numbers = numbers
        self.origin = origin
    }

    /// The value of a column.
    ///
    /// - Precondition: the column belongs to the request's entity and was requested, and the row has a value in it or the
    ///   column's type is an optional.
    @inlinable public subscript<Value: AttributeValue>(_ column: Column<Value>) -> Value {
        @inline(__always) get {
            precondition(column.layout == layout, "the column belongs to another entity")
            let cells = columns + column.index
            precondition(
                cells.pointee.isLoaded, "the column was not requested")
            guard let value = Value._load(from: cells, row: row) else {
                preconditionFailure("the attribute is nil in this row: read it as an optional")
            }
            return value
        }
    }

    /// Whether the row is nil in a column.
    @inlinable public func isNil<Value: AttributeValue>(_ column: Column<Value>) -> Bool {
        precondition(column.layout == layout, "the column belongs to another entity")
        precondition(
            columns[column.index].isLoaded, "the column was not requested")
        return columns[column.index].isNil(row)
    }

    /// The row's number in its hierarchy.
    @inlinable public var reference: UInt64 { UInt64(bitPattern: numbers.pointee.integer(row)) }

    /// The id of the row's object.
    public var objectID: ObjectID { origin.id(reference) }
}

/// What the ids of all rows of a result have in common.
public struct RowOrigin: Sendable {
    private let store: UUID
    private let hierarchy: UInt32

    package init(_ identity: StoreIdentity, entity: Int) {
        store = identity.identifier
        hierarchy = identity.hierarchies[entity]
    }

    package init(like id: ObjectID) {
        store = id.store
        hierarchy = id.hierarchy
    }

    func isOrigin(of id: ObjectID) -> Bool { id.store == store && id.hierarchy == hierarchy }

    package func id(_ reference: UInt64) -> ObjectID {
        ObjectID(store: store, hierarchy: hierarchy, reference: reference)
    }
}
