// What the accessors of `@NSManaged` call: the compiler chooses by the type of the property.
//
//   values of attributes      straight from memory, if the attribute is of the type; else by key, with a conversion
//   raw values                as the values that they are made of
//   objects and their sets    straight, too
//   all else                  by key: classes of Foundation, dictionaries of composite attributes, transformed values
//
// A property without a value, whose type has no nil, reads as the empty value of its type, as a scalar of Core Data does.

import CairnModel
public import CairnObjects
public import Foundation

// MARK: Values of attributes

extension NSManagedObject {
    /// The value of a property. Accessors call it.
    @inlinable public final func _get<V: _ManagedScalar>(_ name: StaticString) -> V? {
        let number = _number(name, V._kind)
        return number >= 0 ? V._read(self, number) : _converted(name)
    }

    /// The value of a property. Accessors call it.
    @inlinable public final func _get<V: _ManagedScalar>(_ name: StaticString) -> V {
        let value: V? = _get(name)
        return value ?? V._empty
    }

    /// Sets a property. Accessors call it.
    @inlinable public final func _set<V: _ManagedScalar>(_ name: StaticString, _ value: V?) {
        let number = _number(name, V._kind)
        if number >= 0 { V._write(self, number, value) } else { _setConverted(name, value) }
    }

    /// The value of an attribute of another type.
    public final func _converted<V: _ManagedScalar>(_ name: StaticString) -> V? {
        boxedValue(forKey: name.description).flatMap(V._converted)
    }

    /// Sets an attribute of another type. A number becomes one that the attribute holds.
    public final func _setConverted<V: _ManagedScalar>(_ name: StaticString, _ value: V?) {
        let key = name.description
        setPlainValue(value.flatMap { converted($0, forKey: key) }, forKey: key)
    }

    private func converted(_ value: Any, forKey key: String) -> Any? {
        guard let index = schemaEntity.attributeIndex(named: key), let number = value as? NSNumber
        else { return value }
        switch schemaEntity.attributes[index].description.type {
        case .integer16, .integer32, .integer64: return number.int64Value
        case .boolean: return number.boolValue
        case .date: return Date(timeIntervalSinceReferenceDate: number.doubleValue)
        default: return value
        }
    }
}

// MARK: Raw values

extension NSManagedObject {
    /// The value of a property. Accessors call it.
    @inlinable public final func _get<V: RawRepresentable>(_ name: StaticString) -> V?
    where V.RawValue: _ManagedScalar {
        let raw: V.RawValue? = _get(name)
        return raw.flatMap(V.init(rawValue:))
    }

    /// The value of a property. Accessors call it.
    @inlinable public final func _get<V: RawRepresentable>(_ name: StaticString) -> V
    where V.RawValue: _ManagedScalar {
        let raw: V.RawValue = _get(name)
        return V(rawValue: raw) ?? V(rawValue: V.RawValue._empty) ?? _noValue(name)
    }

    /// Sets a property. Accessors call it.
    @inlinable public final func _set<V: RawRepresentable>(_ name: StaticString, _ value: V?)
    where V.RawValue: _ManagedScalar {
        _set(name, value?.rawValue)
    }
}

// MARK: Objects

extension NSManagedObject {
    /// The value of a property. Accessors call it.
    @inlinable public final func _get<T: NSManagedObject>(_ name: StaticString) -> T? {
        let number = _number(name, .object)
        return number >= 0 ? _read(number) : _untyped(name)
    }

    /// The value of a property. Accessors call it.
    @inlinable public final func _get<T: NSManagedObject>(_ name: StaticString) -> T {
        let object: T? = _get(name)
        return object ?? _noValue(name)
    }

    /// Sets a property. Accessors call it.
    @inlinable public final func _set<T: NSManagedObject>(_ name: StaticString, _ value: T?) {
        let number = _number(name, .object)
        if number >= 0 { _write(number, value) } else { _setUntyped(name, value) }
    }

    /// The value of a property. Accessors call it.
    @inlinable public final func _get<T: NSManagedObject>(_ name: StaticString) -> Set<T>? {
        let number = _number(name, .members)
        return number >= 0 ? _read(number) : _untyped(name)
    }

    /// The value of a property. Accessors call it.
    @inlinable public final func _get<T: NSManagedObject>(_ name: StaticString) -> Set<T> {
        let members: Set<T>? = _get(name)
        return members ?? []
    }

    /// Sets a property. Accessors call it.
    @inlinable public final func _set<T: NSManagedObject>(_ name: StaticString, _ value: Set<T>?) {
        let number = _number(name, .members)
        if number >= 0 { _write(number, value ?? []) } else { _setUntyped(name, value) }
    }

    /// The members of an ordered relationship, or what a fetched property finds.
    @inlinable public final func _get<T: NSManagedObject>(_ name: StaticString) -> [T]? {
        let number = _number(name, .members)
        return number >= 0 ? _read(number) : _untyped(name)
    }

    /// The value of a property. Accessors call it.
    @inlinable public final func _get<T: NSManagedObject>(_ name: StaticString) -> [T] {
        let members: [T]? = _get(name)
        return members ?? []
    }

    /// Sets a property. Accessors call it.
    @inlinable public final func _set<T: NSManagedObject>(_ name: StaticString, _ value: [T]?) {
        let number = _number(name, .members)
        if number >= 0 { _write(number, value ?? []) } else { _setUntyped(name, value) }
    }
}

// MARK: Sets of Foundation

extension NSManagedObject {
    /// The value of a property. Accessors call it.
    public final func _get(_ name: StaticString) -> NSSet? {
        members(name).map(NSSet.init(array:)) ?? _untyped(name)
    }

    /// The value of a property. Accessors call it.
    public final func _get(_ name: StaticString) -> NSOrderedSet? {
        members(name).map(NSOrderedSet.init(array:)) ?? _untyped(name)
    }

    /// The members of a relationship; nil if the property is none.
    private func members(_ name: StaticString) -> [NSManagedObject]? {
        let number = _number(name, .members)
        return number >= 0 ? _read(number) : nil
    }
}

// MARK: All else

extension NSManagedObject {
    /// The value of a property. Accessors call it.
    @_disfavoredOverload
    public final func _get<V>(_ name: StaticString) -> V { _untyped(name) }

    /// Sets a property. Accessors call it.
    @_disfavoredOverload
    public final func _set<V>(_ name: StaticString, _ value: V) { _setUntyped(name, value) }

    /// The value of a property, which has to be of the type. Accessors of properties of no certain type call it: what is
    /// declared as `Any` could be any of the types above.
    public final func _untyped<V>(_ name: StaticString) -> V {
        changeableMembers(name.description) ?? typed(boxedValue(forKey: name.description), name)
    }

    /// The members of a relationship whose property is declared as a set that can be changed; nil if it is not.
    private func changeableMembers<V>(_ key: String) -> V? {
        if V.self == NSMutableSet.self || V.self == NSMutableSet?.self {
            return isToMany(key) == true ? mutableSetValue(forKey: key) as? V : nil
        }
        if V.self == NSMutableOrderedSet.self || V.self == NSMutableOrderedSet?.self {
            return isToMany(key) == true ? mutableOrderedSetValue(forKey: key) as? V : nil
        }
        return nil
    }

    private func typed<V>(_ value: Any?, _ name: StaticString) -> V {
        guard let value else {
            if let noted = noted(V.self) { return noted }
            if let optional = V.self as? any OptionalValue.Type, let none = optional.empty as? V {
                return none
            }
            return (V.self as? any EmptyValue.Type)?.empty as? V ?? _noValue(name)
        }
        guard let typed = value as? V ?? Self.decimal(value) as? V else {
            preconditionFailure(
                "\(schemaEntity.name).\(name) is declared as \(V.self), but its value is a \(type(of: value))"
            )
        }
        return typed
    }

    /// Any number as the class that properties of whole numbers are declared with as well.
    private static func decimal(_ value: Any) -> NSDecimalNumber? {
        (value as? NSNumber).map { NSDecimalNumber(decimal: $0.decimalValue) }
    }

    /// Sets a property to a value of any type.
    public final func _setUntyped<V>(_ name: StaticString, _ value: V) {
        setPlainValue(Self.wrapped(value), forKey: name.description)
    }

    /// Says that there is nothing to read, and stops.
    public final func _noValue<V>(_ name: StaticString) -> V {
        if let noted = noted(V.self) { return noted }
        preconditionFailure(
            "\(schemaEntity.name).\(name) has no value, and its type no empty one: declare it as optional"
        )
    }

    // MARK: Primitive values

    /// The value of a property, if the model has it, else that of another, which nobody is told of. A key path is called after the
    /// property that it reads.
    public final func _get<V>(_ name: StaticString, primitive key: StaticString) -> V {
        let name = hasProperty(name.description) || isNoting ? name : key
        return typed(boxedValue(forKey: name.description), name)
    }

    /// Sets a property, if the model has it, else another, and tells nobody.
    public final func _set<V>(_ name: StaticString, primitive key: StaticString, _ value: V) {
        if hasProperty(name.description) { return _setUntyped(name, value) }
        setPrimitiveValue(Self.wrapped(value), forKey: key.description)
    }

    /// A value without the optional around it.
    private static func wrapped<V>(_ value: V) -> Any? {
        if let optional = value as? any OptionalValue { optional.wrapped } else { value }
    }
}

/// An optional, seen through its type.
protocol OptionalValue {
    static var empty: Any { get }
    static var wrappedType: Any.Type { get }
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    static var empty: Any { Self.none as Any }
    static var wrappedType: Any.Type { Wrapped.self }
    var wrapped: Any? { map { $0 as Any } }
}

/// A type of which there is an empty value.
private protocol EmptyValue {
    static var empty: Any { get }
}

extension NSSet: EmptyValue { fileprivate static var empty: Any { NSSet() } }
extension NSOrderedSet: EmptyValue { fileprivate static var empty: Any { NSOrderedSet() } }
extension NSNumber: EmptyValue { fileprivate static var empty: Any { NSDecimalNumber.zero } }
extension Dictionary: EmptyValue { fileprivate static var empty: Any { Self() } }
extension Array: EmptyValue { fileprivate static var empty: Any { Self() } }
extension Set: EmptyValue { fileprivate static var empty: Any { Self() } }
