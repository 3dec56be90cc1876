// The Swift types that columns can hold, and how a value goes into a staged cell.

public import CairnModel
public import FoundationEssentials

/// A Swift type that an attribute's values can have.
///
/// Conforming types are those below and optionals of them; no others are meant to conform.
public protocol AttributeValue: Sendable {
    /// Whether values of this type can go into attributes of a type.
    static func fits(_ type: AttributeType) -> Bool
    /// Puts the value into a cell.
    func _store(in column: inout ColumnBuffer, row: Int)
    /// Takes the value out of a stored cell; nil if it has none that the type can be.
    static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Self?
    /// The value as it crosses the borders of a store.
    var attributeValue: Value { get }
}

extension Int: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool {
        type == .integer16 || type == .integer32 || type == .integer64
    }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .integer(Int64(self)) }
}

extension Int64: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(self, row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .integer(self) }
}

extension Int32: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .integer(Int64(self)) }
}

extension Int16: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .integer(Int64(self)) }
}

extension Bool: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { type == .boolean }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(self ? 1 : 0, row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .boolean(self) }
}

extension Double: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { type == .double }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setDouble(self, row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .double(self) }
}

extension Float: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { type == .float }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setFloat(self, row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .float(self) }
}

extension Date: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { type == .date }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setDouble(timeIntervalSinceReferenceDate, row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .date(self) }
}

extension String: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { type == .string }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setString(self, row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .string(self) }
}

extension Data: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool {
        type == .binary || type == .transformable
    }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        withUnsafeBytes { column.setBytes($0, row: row) }
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .binary(self) }
}

extension URL: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { type == .uri }
    /// Puts the value into a cell.
    public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setString(absoluteString, row: row)
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .uri(self) }
}

extension UUID: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { type == .uuid }
    /// Puts the value into a cell.
    public func _store(in column: inout ColumnBuffer, row: Int) {
        withUnsafeBytes(of: uuid) { column.setFixed16($0, row: row) }
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .uuid(self) }
}

extension Decimal: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { type == .decimal }
    /// Puts the value into a cell.
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
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .decimal(self) }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { Wrapped.fits(type) }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        if let self { self._store(in: &column, row: row) } else { column.setNil(row: row) }
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { self?.attributeValue ?? .null }
}
