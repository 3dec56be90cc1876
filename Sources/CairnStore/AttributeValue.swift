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
    /// The value as it crosses the borders of a store.
    var attributeValue: Value { get }
}

extension Int: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool {
        type == .integer16 || type == .integer32 || type == .integer64
    }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    public var attributeValue: Value { .integer(Int64(self)) }
}

extension Int64: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(self, row: row)
    }
    public var attributeValue: Value { .integer(self) }
}

extension Int32: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    public var attributeValue: Value { .integer(Int64(self)) }
}

extension Int16: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    public var attributeValue: Value { .integer(Int64(self)) }
}

extension Bool: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { type == .boolean }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(self ? 1 : 0, row: row)
    }
    public var attributeValue: Value { .boolean(self) }
}

extension Double: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { type == .double }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setDouble(self, row: row)
    }
    public var attributeValue: Value { .double(self) }
}

extension Float: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { type == .float }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setFloat(self, row: row)
    }
    public var attributeValue: Value { .float(self) }
}

extension Date: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { type == .date }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setDouble(timeIntervalSinceReferenceDate, row: row)
    }
    public var attributeValue: Value { .date(self) }
}

extension String: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { type == .string }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setString(self, row: row)
    }
    public var attributeValue: Value { .string(self) }
}

extension Data: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool {
        type == .binary || type == .transformable
    }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        withUnsafeBytes { column.setBytes($0, row: row) }
    }
    public var attributeValue: Value { .binary(self) }
}

extension URL: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { type == .uri }
    public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setString(absoluteString, row: row)
    }
    public var attributeValue: Value { .uri(self) }
}

extension UUID: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { type == .uuid }
    public func _store(in column: inout ColumnBuffer, row: Int) {
        withUnsafeBytes(of: uuid) { column.setFixed16($0, row: row) }
    }
    public var attributeValue: Value { .uuid(self) }
}

extension Decimal: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { type == .decimal }
    public func _store(in column: inout ColumnBuffer, row: Int) {
        if isNaN {
            column.setNil(row: row)
        } else {
            DecimalCoding.encode(self).withUnsafeBytes { column.setBytes($0, row: row) }
        }
    }
    public var attributeValue: Value { isNaN ? .null : .decimal(self) }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    public static func fits(_ type: AttributeType) -> Bool { Wrapped.fits(type) }
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        if let self { self._store(in: &column, row: row) } else { column.setNil(row: row) }
    }
    public var attributeValue: Value { self?.attributeValue ?? .null }
}
