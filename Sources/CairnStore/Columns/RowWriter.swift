// Fills the rows of a batch, one after the other.

package import CairnModel
import FoundationEssentials

/// The row of a batch insert to fill.
///
/// Columns that are not set take their default value, or keep the stored value if the request is `setOnly`. The writer
/// is only valid inside the closure that receives it.
public struct RowWriter: ~Copyable {
    @usableFromInline let columns: UnsafeMutablePointer<ColumnBuffer>
    @usableFromInline let lists: UnsafeMutableRawPointer
    @usableFromInline let row: Int
    @usableFromInline let layout: UInt64

    /// A writer for the row after the last one of a batch that has room for it.
    package init(_ batch: ColumnBatch) {
        guard let base = batch.columns.baseAddress else {
            preconditionFailure("a batch has memory for its columns")
        }
        self.init(columns: base, lists: batch.lists, row: batch.rows, layout: batch.layout)
    }

    init(
        columns: UnsafeMutablePointer<ColumnBuffer>, lists: UnsafeMutablePointer<RowLists>,
        row: Int, layout: UInt64
    ) {
        self.columns = columns
        self.lists = UnsafeMutableRawPointer(lists)
        self.row = row
        self.layout = layout
    }

    /// Sets a column.
    @inlinable public subscript<Value: AttributeValue>(_ column: Column<Value>) -> Value {
        @available(*, unavailable, message: "a row of a batch can only be written")
        get { preconditionFailure("a row of a batch can only be written") }
        nonmutating set { set(column, newValue) }
    }

    /// Sets a column.
    ///
    /// - Precondition: the column belongs to the request's entity.
    @inlinable public func set<Value: AttributeValue>(_ column: Column<Value>, _ value: Value) {
        precondition(column.layout == layout, "the column belongs to another entity")
        value._store(in: &columns[column.index], row: row)
    }

    /// Sets a to-one relationship to an object, or to nil.
    ///
    /// - Precondition: the relationship belongs to the request's entity.
    public func set(_ relationship: TargetColumn, _ target: RowTarget?) {
        precondition(
            relationship.layout == layout, "the relationship belongs to another entity")
        columns[relationship.index].setLink(target, row: row)
    }

    /// Sets the target of a to-one relationship, or nil, by a column index of the row's entity.
    public func _setTarget(_ column: Int, _ target: RowTarget?) {
        columns[column].setLink(target, row: row)
    }

    /// Sets the members of a to-many relationship.
    ///
    /// - Precondition: the relationship belongs to the request's entity.
    public func set(_ relationship: MembersColumn, _ members: RowTargets) {
        precondition(
            relationship.layout == layout, "the relationship belongs to another entity")
        _setMembers(relationship.index, members)
    }

    /// Sets the members of a to-many relationship, by its index in the row's entity.
    public func _setMembers(_ relationship: Int, _ members: RowTargets) {
        lists.assumingMemoryBound(to: RowLists.self).pointee.append(
            members, relationship: relationship, row: row)
    }

    /// Copies the row for a wrapper of another type.
    @inlinable public init(_copying other: borrowing RowWriter) {
        columns = other.columns
        lists = other.lists
        row = other.row
        layout = other.layout
    }

    /// Sets a column by an index in the row's entity. The caller has checked the value's type.
    @inlinable public func _set<Value: AttributeValue>(_ column: Int, _ value: Value) {
        value._store(in: &columns[column], row: row)
    }

    /// Says that the row was to have a value that cannot be stored: the request throws that, with the row's number.
    package func refuse(_ error: StoreError) {
        lists.assumingMemoryBound(to: RowLists.self).pointee.refuse(error, row: row)
    }

    /// Sets a column by its index to a value of the column's type; false if it is of another one.
    package func set(_ column: Int, _ value: Value) -> Bool {
        columns[column].store(value, row: row)
    }
}

extension ColumnBuffer {
    /// Sets a cell to a value; false if the value's type is another one.
    package mutating func store(_ value: CairnModel.Value, row: Int) -> Bool {
        switch (value, kind) {
        case (.null, _): setNil(row: row)
        case (.integer(let value), .integer): setInteger(value, row: row)
        case (.boolean(let value), .integer): setInteger(value ? 1 : 0, row: row)
        case (.objectID(let value), .integer):
            setInteger(Int64(bitPattern: value.reference), row: row)
        case (.double(let value), .double): setDouble(value, row: row)
        case (.date(let value), .double): setDouble(value.timeIntervalSinceReferenceDate, row: row)
        case (.float(let value), .float): setFloat(value, row: row)
        case (.string(let value), .bytes): setString(value, row: row)
        case (.uri(let value), .bytes): value._store(in: &self, row: row)
        case (.binary(let value), .bytes): value._store(in: &self, row: row)
        case (.decimal(let value), .bytes): value._store(in: &self, row: row)
        case (.uuid(let value), .fixed16): value._store(in: &self, row: row)
        default: return false
        }
        return true
    }
}
