// Fills one row of a batch after another.

package import CairnModel
import FoundationEssentials

/// The row of a batch insert that is being filled.
///
/// Columns that are not set take their default value, or keep what is stored when the request says
/// `setOnly`. The writer is valid only inside the closure it is given to.
public struct RowWriter: ~Copyable {
    @usableFromInline let columns: UnsafeMutablePointer<ColumnBuffer>
    @usableFromInline let lists: UnsafeMutableRawPointer
    @usableFromInline let row: Int
    @usableFromInline let layout: UInt64

    /// A writer for the row after the last one of a batch that has room for it.
    package init(_ batch: ColumnBatch) {
        guard let base = batch.columns.baseAddress else {
            preconditionFailure("a batch has room for columns")
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
    /// - Precondition: the column is one of the request's entity.
    @inlinable public func set<Value: AttributeValue>(_ column: Column<Value>, _ value: Value) {
        precondition(column.layout == layout, "the column belongs to another entity")
        value._store(in: &columns[column.index], row: row)
    }

    /// Lets a to-one relationship lead to an object, or to none.
    ///
    /// - Precondition: the relationship is one of the request's entity.
    public func set(_ relationship: TargetColumn, _ target: RowTarget?) {
        precondition(
            relationship.layout == layout, "the relationship belongs to another entity")
        columns[relationship.index].setLink(target, row: row)
    }

    /// Lets a to-one relationship lead to an object, or to none, by a column that was found in the row's entity.
    public func _setTarget(_ column: Int, _ target: RowTarget?) {
        columns[column].setLink(target, row: row)
    }

    /// Gives a to-many relationship members.
    ///
    /// - Precondition: the relationship is one of the request's entity.
    public func set(_ relationship: MembersColumn, _ members: RowTargets) {
        precondition(
            relationship.layout == layout, "the relationship belongs to another entity")
        _setMembers(relationship.index, members)
    }

    /// Gives a to-many relationship members, by its index among the relationships of the row's entity.
    public func _setMembers(_ relationship: Int, _ members: RowTargets) {
        lists.assumingMemoryBound(to: RowLists.self).pointee.append(
            members, relationship: relationship, row: row)
    }

    /// The same row once more, for a wrapper of another type.
    @inlinable public init(_copying other: borrowing RowWriter) {
        columns = other.columns
        lists = other.lists
        row = other.row
        layout = other.layout
    }

    /// Sets a column by an index that was found in the row's entity and compared with the value's type.
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
