// Integers of 8 bits and unsigned ones, in the narrowest attribute that has room for all their values.

public import CairnModel
public import CairnStore

/// An integer that is stored as a wider, signed one.
public protocol NarrowInteger: PropertyValue, FixedWidthInteger {}

extension NarrowInteger {
    /// Whether values of this type can go into attributes of a type.
    public static func fits(_ type: AttributeType) -> Bool { Int.fits(type) }
    /// Puts the value into a cell.
    @inlinable public func _store(in column: inout ColumnBuffer, row: Int) {
        column.setInteger(Int64(self), row: row)
    }
    /// The value of a cell; nil if the cell is nil or its value is outside the type's range.
    @inlinable public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Self? {
        cells.pointee.isNil(row) ? nil : Self(exactly: cells.pointee.integer(row))
    }
    /// The value as it crosses the borders of a store.
    public var attributeValue: Value { .integer(Int64(self)) }
    /// What a property without a value reads as.
    public static var _empty: Self { 0 }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Self? {
        if case .integer(let value) = value { Self(exactly: value) } else { nil }
    }
}

extension Int8: NarrowInteger {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .integer16 }
}

extension UInt8: NarrowInteger {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .integer16 }
}

extension UInt16: NarrowInteger {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .integer32 }
}

extension UInt32: NarrowInteger {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .integer64 }
}
