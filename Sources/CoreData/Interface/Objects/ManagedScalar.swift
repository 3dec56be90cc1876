// The types of properties that are read and written straight from and to the memory of an object.
//
// The accessors of `@NSManaged` are inlined into the program's classes: of a property of one of these types there remain a look
// for the property's number and Cairn's own typed access.

public import CairnObjects
public import Foundation

/// A type of attributes' values. No others are meant to conform.
public protocol _ManagedScalar {
    /// What attributes hold the type without conversion.
    static var _kind: _NamedKind { get }
    /// What a property without a value reads as.
    static var _empty: Self { get }
    /// The value of a property by number.
    static func _read(_ object: NSManagedObject, _ number: Int) -> Self?
    /// Sets a property by number.
    static func _write(_ object: NSManagedObject, _ number: Int, _ value: Self?)
    /// The value as another attribute has it; nil if it is none.
    static func _converted(_ any: Any) -> Self?
}

extension _ManagedScalar {
    /// The value as another attribute has it; nil if it is none.
    public static func _converted(_ any: Any) -> Self? { any as? Self }
}

extension _ManagedScalar where Self: PropertyValue {
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> Self? {
        object._read(number)
    }

    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: Self?) {
        object._write(number, value)
    }
}

// The compiler chooses the fastest way to read a type where it sees the type: so those that are read most say it themselves.

extension Int: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .integer }
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> Int? {
        object._read(number)
    }
    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: Int?) {
        object._write(number, value)
    }
    /// The value as another attribute has it.
    public static func _converted(_ any: Any) -> Int? { (any as? NSNumber)?.intValue }
}

extension Int64: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .integer }
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> Int64? {
        object._read(number)
    }
    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: Int64?)
    { object._write(number, value) }
    /// The value as another attribute has it.
    public static func _converted(_ any: Any) -> Int64? { (any as? NSNumber)?.int64Value }
}

extension Int32: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .integer }
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> Int32? {
        object._read(number)
    }
    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: Int32?)
    { object._write(number, value) }
    /// The value as another attribute has it.
    public static func _converted(_ any: Any) -> Int32? { (any as? NSNumber)?.int32Value }
}

extension Int16: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .integer }
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> Int16? {
        object._read(number)
    }
    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: Int16?)
    { object._write(number, value) }
    /// The value as another attribute has it.
    public static func _converted(_ any: Any) -> Int16? { (any as? NSNumber)?.int16Value }
}

extension Bool: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .boolean }
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> Bool? {
        object._read(number)
    }
    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: Bool?) {
        object._write(number, value)
    }
    /// The value as another attribute has it.
    public static func _converted(_ any: Any) -> Bool? { (any as? NSNumber)?.boolValue }
}

extension Double: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .double }
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> Double? {
        object._read(number)
    }
    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: Double?)
    { object._write(number, value) }
    /// The value as another attribute has it.
    public static func _converted(_ any: Any) -> Double? {
        // Core Data's scalar of a date is the seconds since the reference date.
        (any as? NSNumber)?.doubleValue ?? (any as? Date)?.timeIntervalSinceReferenceDate
    }
}

extension Float: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .float }
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> Float? {
        object._read(number)
    }
    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: Float?)
    { object._write(number, value) }
    /// The value as another attribute has it.
    public static func _converted(_ any: Any) -> Float? { (any as? NSNumber)?.floatValue }
}

extension String: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .string }
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> String? {
        object._read(number)
    }
    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: String?)
    { object._write(number, value) }
}

extension Date: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .date }
    /// The value of a property by number.
    @inlinable public static func _read(_ object: NSManagedObject, _ number: Int) -> Date? {
        object._read(number)
    }
    /// Sets a property by number.
    @inlinable public static func _write(_ object: NSManagedObject, _ number: Int, _ value: Date?) {
        object._write(number, value)
    }
}

extension Data: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .binary }
}

extension UUID: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .uuid }
}

extension URL: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .uri }
}

extension Decimal: _ManagedScalar {
    /// What attributes hold the type without conversion.
    @inlinable public static var _kind: _NamedKind { .decimal }
    /// The value as another attribute has it.
    public static func _converted(_ any: Any) -> Decimal? { (any as? NSNumber)?.decimalValue }
}
