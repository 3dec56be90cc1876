// How a value is loaded from a stored cell.

import CairnModel
public import FoundationEssentials

extension Int {
    /// The value of a cell; nil if the cell is nil.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Int? {
        cells.pointee.isNil(row) ? nil : Int(truncatingIfNeeded: cells.pointee.integer(row))
    }
}

extension Int64 {
    /// The value of a cell; nil if the cell is nil.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Int64? {
        cells.pointee.isNil(row) ? nil : cells.pointee.integer(row)
    }
}

extension Int32 {
    /// The value of a cell; nil if the cell is nil or its value is outside the type's range.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Int32? {
        cells.pointee.isNil(row) ? nil : Int32(exactly: cells.pointee.integer(row))
    }
}

extension Int16 {
    /// The value of a cell; nil if the cell is nil or its value is outside the type's range.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Int16? {
        cells.pointee.isNil(row) ? nil : Int16(exactly: cells.pointee.integer(row))
    }
}

extension Bool {
    /// The value of a cell; nil if the cell is nil.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Bool? {
        cells.pointee.isNil(row) ? nil : cells.pointee.integer(row) != 0
    }
}

extension Double {
    /// The value of a cell; nil if the cell is nil.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Double? {
        cells.pointee.isNil(row) ? nil : cells.pointee.double(row)
    }
}

extension Float {
    /// The value of a cell; nil if the cell is nil.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Float? {
        cells.pointee.isNil(row) ? nil : cells.pointee.float(row)
    }
}

extension Date {
    /// The value of a cell; nil if the cell is nil.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Date? {
        cells.pointee.isNil(row)
            ? nil : Date(timeIntervalSinceReferenceDate: cells.pointee.double(row))
    }
}

extension String {
    /// The value of a cell; nil if the cell is nil.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> String? {
        cells.pointee.isNil(row) ? nil : cells.pointee.string(row)
    }
}

extension Data {
    /// The value of a cell; nil if the cell is nil.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Data? {
        cells.pointee.isNil(row) ? nil : Data(cells.pointee.bytes(row))
    }
}

extension URL {
    /// The value of a cell; nil if the cell is nil.
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> URL? {
        cells.pointee.isNil(row) ? nil : URL(string: cells.pointee.string(row))
    }
}

extension UUID {
    /// The value of a cell; nil if the cell is nil.
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> UUID? {
        cells.pointee.isNil(row) ? nil : UUIDCoding.decode(cells.pointee.fixed16(row))
    }
}

extension Decimal {
    /// The value of a cell; nil if the cell is nil.
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int) -> Decimal? {
        cells.pointee.isNil(row) ? nil : DecimalCoding.decode(cells.pointee.bytes(row))
    }
}

extension Optional where Wrapped: AttributeValue {
    /// The value of a cell, which can be nil.
    @inlinable @inline(__always)
    public static func _load(from cells: UnsafePointer<CellColumn>, row: Int)
        -> Wrapped??
    {
        .some(Wrapped._load(from: cells, row: row))
    }
}
