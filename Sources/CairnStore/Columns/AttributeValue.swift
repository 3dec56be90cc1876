// The Swift types of column values, and how a value is stored in a staged cell.

public import CairnModel
public import FoundationEssentials

/// A Swift type that an attribute's values can have.
///
/// The conforming types are those below and their optionals; no others are meant to conform.
public protocol AttributeValue: Sendable {
    /// Whether an attribute of that type can have values of this Swift type.
    static func fits(_ type: AttributeType) -> Bool
    /// Stores the value in a cell.
    func _store(in column: inout ColumnBuffer, row: Int)
    /// Loads the value of a stored cell; nil if the cell is nil or its value does not fit the type.
    static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Self?
    /// The value in the form that stores use.
    var attributeValue: Value { get }
}

extension Int: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool {
        type == .integer16 || type == .integer32 || type == .integer64
    }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .integer(Int64(self)) }
}

extension Int64: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(self, row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .integer(self) }
}

extension Int32: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .integer(Int64(self)) }
}

extension Int16: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .integer(Int64(self)) }
}

extension Bool: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { type == .boolean }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(self ? 1 : 0, row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .boolean(self) }
}

extension Double: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { type == .double }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setDouble(self, row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .double(self) }
}

extension Float: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { type == .float }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setFloat(self, row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .float(self) }
}

extension Date: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { type == .date }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setDouble(timeIntervalSinceReferenceDate, row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .date(self) }
}

extension String: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { type == .string }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setString(self, row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .string(self) }
}

extension Data: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool {
        type == .binary || type == .transformable
    }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        withUnsafeBytes { column.setBytes($0, row: row) }
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .binary(self) }
}

extension URL: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { type == .uri }
    /// Stores the value in a cell.
    public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setString(absoluteString, row: row)
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .uri(self) }
}

extension UUID: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { type == .uuid }
    /// Stores the value in a cell.
    public func _store(in column: inout ColumnBuffer, row: Int) {
        withUnsafeBytes(of: uuid) { column.setFixed16($0, row: row) }
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .uuid(self) }
}

extension Decimal: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { type == .decimal }
    /// Stores the value in a cell.
    public func _store(in column: inout ColumnBuffer, row: Int) {
        if isNaN {
            column.setNoNumber(row: row)
        } else {
            withUnsafeTemporaryAllocation(byteCount: DecimalCoding.longest, alignment: 1) {
                buffer in
                let count = DecimalCoding.encode(self, into: buffer)
                column.setBytes(UnsafeRawBufferPointer(rebasing: buffer[..<count]), row: row)
            }
        }
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { .decimal(self) }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    /// Whether an attribute of that type can have values of this Swift type.
    public static func fits(_ type: AttributeType) -> Bool { Wrapped.fits(type) }
    /// Stores the value in a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        if let self { self._store(in: &column, row: row) } else { column.setNil(row: row) }
    }
    /// The value in the form that stores use.
    public var attributeValue: Value { self?.attributeValue ?? .null }
}
