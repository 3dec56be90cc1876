// Chooses how a Swift type is stored; see `AttributeKind`.

import CairnModel
import CairnStore

/// How a Swift type is stored. Called by generated code.
public enum TypedKind {
    /// A value that is stored directly.
    public static func of<V: PropertyValue>(_ type: V.Type) -> AttributeKind<V> {
        AttributeKind(
            V._attributeType, isOptional: false, fits: { V.fits($0) },
            encode: { $0.attributeValue }, decode: { V._value($0) }, empty: { V._empty })
    }

    /// An optional value that is stored directly.
    public static func of<V: PropertyValue>(_ type: V?.Type) -> AttributeKind<V?> {
        AttributeKind(
            V._attributeType, isOptional: true, fits: { V.fits($0) },
            encode: { $0.attributeValue }, decode: { $0.isNull ? .some(nil) : V._value($0) },
            empty: { .some(nil) })
    }

    /// A value that is stored as its raw value.
    public static func of<V: RawRepresentable & SendableMetatype>(_ type: V.Type) -> AttributeKind<
        V
    >
    where V.RawValue: PropertyValue {
        AttributeKind(
            V.RawValue._attributeType, isOptional: false, fits: { V.RawValue.fits($0) },
            encode: { $0.rawValue.attributeValue },
            decode: { V.RawValue._value($0).flatMap(V.init(rawValue:)) }, empty: { nil })
    }

    /// An optional value that is stored as its raw value.
    public static func of<V: RawRepresentable & SendableMetatype>(_ type: V?.Type) -> AttributeKind<
        V?
    >
    where V.RawValue: PropertyValue {
        AttributeKind(
            V.RawValue._attributeType, isOptional: true, fits: { V.RawValue.fits($0) },
            encode: { $0?.rawValue.attributeValue ?? .null },
            decode: { value in
                if value.isNull { return .some(nil) }
                return V.RawValue._value(value).flatMap(V.init(rawValue:)).map { $0 }
            }, empty: { .some(nil) })
    }

    /// A value whose parts are leaves of a composite attribute.
    public static func of<V: CompositeValue>(_ type: V.Type) -> AttributeKind<V> {
        AttributeKind(
            .composite, isOptional: false, fits: { $0 == .composite }, encode: { _ in .null },
            decode: { _ in nil }, empty: { nil },
            composite: CompositeKind(
                name: V._compositeName, parts: CompositeParts(of: V.self),
                read: { V(_from: &$0) }, write: { $0._write(to: &$1) }))
    }

    /// A value whose parts are leaves of a composite attribute, or none.
    public static func of<V: CompositeValue>(_ type: V?.Type) -> AttributeKind<V?> {
        AttributeKind(
            .composite, isOptional: true, fits: { $0 == .composite }, encode: { _ in .null },
            decode: { _ in nil }, empty: { .some(nil) },
            composite: CompositeKind(
                name: V._compositeName, parts: CompositeParts(of: V.self),
                read: { $0.readOptional(V.self) }, write: { $1.writeOptional($0) }))
    }

    /// A value that is stored as JSON.
    @_disfavoredOverload
    public static func of<V: Codable & SendableMetatype>(_ type: V.Type) -> AttributeKind<V> {
        AttributeKind(
            .transformable, isOptional: V.self is any AnyOptionalType.Type,
            fits: { $0 == .transformable || $0 == .binary },
            encode: { try JSONValue.encode($0) }, decode: { JSONValue.decode($0) },
            empty: { JSONValue.nilValue(of: V.self) }, transformerName: JSONValue.transformerName)
    }

    // MARK: Relationships

    /// A to-one relationship.
    public static func of<T: ManagedObject>(_ type: T?.Type) -> RelationshipKind<T?> {
        RelationshipKind(T.self, isToMany: false, isOrdered: false)
    }

    /// A to-many relationship.
    public static func of<T: ManagedObject>(_ type: Set<T>.Type) -> RelationshipKind<Set<T>> {
        RelationshipKind(T.self, isToMany: true, isOrdered: false)
    }

    /// An ordered to-many relationship.
    public static func of<T: ManagedObject>(_ type: [T].Type) -> RelationshipKind<[T]> {
        RelationshipKind(T.self, isToMany: true, isOrdered: true)
    }
}

// MARK: What cannot be stored

extension TypedKind {
    /// A to-one relationship that cannot be empty.
    @available(
        *, unavailable,
        message:
            "a to-one relationship must be optional: its object may be deleted, or not be set yet"
    )
    public static func of<T: ManagedObject>(_ type: T.Type) -> RelationshipKind<T> {
        preconditionFailure("unavailable")
    }

    /// A to-many relationship that can be nil.
    @available(
        *, unavailable,
        message: "a to-many relationship is not optional: without members it is empty"
    )
    public static func of<T: ManagedObject>(_ type: Set<T>?.Type) -> RelationshipKind<Set<T>?> {
        preconditionFailure("unavailable")
    }

    /// An ordered to-many relationship that can be nil.
    @available(
        *, unavailable,
        message: "a to-many relationship is not optional: without members it is empty"
    )
    public static func of<T: ManagedObject>(_ type: [T]?.Type) -> RelationshipKind<[T]?> {
        preconditionFailure("unavailable")
    }

    /// An integer that cannot be stored: no property accepts it, so that the compiler reports the reason.
    public static func of<V: UnstorableInteger>(_ type: V.Type) -> UnstorableKind<V> {
        UnstorableKind()
    }

    /// An optional integer that cannot be stored.
    public static func of<V: UnstorableInteger>(_ type: V?.Type) -> UnstorableKind<V?> {
        UnstorableKind()
    }

    /// Everything else.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "a persistent property needs a type that can be stored: a number, Bool, String, Date, Data, UUID, URL, Decimal, an enum or struct with a raw value, a @Composite struct, a Codable type, or a relationship (Tag?, Set<Tag>, [Tag])"
    )
    public static func of<V>(_ type: V.Type) -> AttributeKind<V> {
        preconditionFailure("unavailable")
    }
}

/// An integer type whose values exceed every attribute's range. It is `Codable`, and must not silently become JSON.
public protocol UnstorableInteger {}

extension UInt: UnstorableInteger {}

extension UInt64: UnstorableInteger {}

/// How values are stored that cannot be.
public struct UnstorableKind<V>: Sendable {
    init() {}
}
