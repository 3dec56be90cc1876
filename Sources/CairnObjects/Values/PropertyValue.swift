// The Swift types that a property of a typed entity can have as they are, and how they come out of a value.

public import CairnModel
public import CairnStore
public import FoundationEssentials

/// A Swift type that a persistent property can have without conversion; optionals of it are possible too.
///
/// ```swift
/// @Entity final class Reading: ManagedObject {
///     var taken: Date        // an attribute of type date
///     var celsius: Double?   // an optional attribute of type double
/// }
/// ```
///
/// The conforming types are those of this module; no others are meant to conform. Other types of properties are converted
/// to one of them: a type with a raw value, a ``CompositeValue``, a `Codable` type.
public protocol PropertyValue: AttributeValue {
    /// The type of the attribute that the model gets.
    static var _attributeType: AttributeType { get }
    /// What a property without a value and without a default reads as.
    static var _empty: Self { get }
    /// The value in Swift's type; nil if it is of another kind or out of range.
    static func _value(_ value: Value) -> Self?
}

extension Int: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .integer64 }
    /// What a property without a value reads as.
    public static var _empty: Int { 0 }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Int? {
        if case .integer(let value) = value { Int(exactly: value) } else { nil }
    }
}

extension Int64: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .integer64 }
    /// What a property without a value reads as.
    public static var _empty: Int64 { 0 }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Int64? {
        if case .integer(let value) = value { value } else { nil }
    }
}

extension Int32: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .integer32 }
    /// What a property without a value reads as.
    public static var _empty: Int32 { 0 }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Int32? {
        if case .integer(let value) = value { Int32(exactly: value) } else { nil }
    }
}

extension Int16: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .integer16 }
    /// What a property without a value reads as.
    public static var _empty: Int16 { 0 }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Int16? {
        if case .integer(let value) = value { Int16(exactly: value) } else { nil }
    }
}

extension Bool: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .boolean }
    /// What a property without a value reads as.
    public static var _empty: Bool { false }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Bool? {
        if case .boolean(let value) = value { value } else { nil }
    }
}

extension Double: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .double }
    /// What a property without a value reads as.
    public static var _empty: Double { 0 }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Double? {
        if case .double(let value) = value { value } else { nil }
    }
}

extension Float: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .float }
    /// What a property without a value reads as.
    public static var _empty: Float { 0 }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Float? {
        if case .float(let value) = value { value } else { nil }
    }
}

extension Date: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .date }
    /// What a property without a value reads as: the reference date.
    public static var _empty: Date { Date(timeIntervalSinceReferenceDate: 0) }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Date? {
        if case .date(let value) = value { value } else { nil }
    }
}

extension String: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .string }
    /// What a property without a value reads as.
    public static var _empty: String { "" }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> String? {
        if case .string(let value) = value { value } else { nil }
    }
}

extension Data: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .binary }
    /// What a property without a value reads as.
    public static var _empty: Data { Data() }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Data? {
        if case .binary(let value) = value { value } else { nil }
    }
}

extension UUID: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .uuid }
    /// What a property without a value reads as: the UUID of zeros.
    public static var _empty: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> UUID? {
        if case .uuid(let value) = value { value } else { nil }
    }
}

extension URL: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .uri }
    /// What a property without a value reads as: `about:blank`, since no URL is empty.
    public static var _empty: URL {
        guard let blank = URL(string: "about:blank") else {
            preconditionFailure("about:blank is a URL")
        }
        return blank
    }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> URL? {
        if case .uri(let value) = value { value } else { nil }
    }
}

extension Decimal: PropertyValue {
    /// The type of the attribute that the model gets.
    public static var _attributeType: AttributeType { .decimal }
    /// What a property without a value reads as.
    public static var _empty: Decimal { 0 }
    /// The value in Swift's type.
    public static func _value(_ value: Value) -> Decimal? {
        if case .decimal(let value) = value { value } else { nil }
    }
}
