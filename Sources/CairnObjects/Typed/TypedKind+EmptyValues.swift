// Which types of properties can be read whatever is stored.
//
// A new object has nothing yet, one that somebody else has deleted has nothing any more, and another version of the program may
// have stored what is no value of this one's type. A type with an empty value is read as that, a relationship is empty, and
// what is optional is nil. All others need a default: `@Entity` and `@Composite` ask here for each property without one.
//
// Generated code asks in two statements, `let empty = …` and `empty.exists()`. In one, the compiler would rather take the
// overload for everything else than a method that is unavailable.

import CairnModel
import CairnStore

extension TypedKind {
    /// The empty value of a type that is stored directly. Called by generated code.
    public static func emptyValue<V: PropertyValue>(of type: V.Type) -> EmptyValue { EmptyValue() }

    /// Nothing is a value.
    public static func emptyValue<V>(of type: V?.Type) -> EmptyValue { EmptyValue() }

    /// The elements of a composite value have empty ones, or defaults.
    public static func emptyValue<V: CompositeValue>(of type: V.Type) -> EmptyValue { EmptyValue() }

    /// A relationship without members.
    public static func emptyValue<T: ManagedObject>(of type: Set<T>.Type) -> EmptyValue {
        EmptyValue()
    }

    /// An ordered relationship without members.
    public static func emptyValue<T: ManagedObject>(of type: [T].Type) -> EmptyValue {
        EmptyValue()
    }

    /// An integer that cannot be stored, which is reported where it is described.
    public static func emptyValue<V: UnstorableInteger>(of type: V.Type) -> EmptyValue {
        EmptyValue()
    }

    /// An unknown raw value has to be read as something.
    public static func emptyValue<V: RawRepresentable & SendableMetatype>(of type: V.Type)
        -> NoEmptyRawValue
    where V.RawValue: PropertyValue { NoEmptyRawValue() }

    /// Bytes that are no value have to be read as something.
    @_disfavoredOverload
    public static func emptyValue<V: Codable & SendableMetatype>(of type: V.Type) -> NoEmptyCodable
    { NoEmptyCodable() }

    /// Any other type: the property that cannot be stored is reported where it is described.
    @_disfavoredOverload
    public static func emptyValue<V>(of type: V.Type) -> EmptyValue { EmptyValue() }
}

extension TypedKind {
    /// The value of a property without a stored value, if the type itself determines it.
    public struct EmptyValue: Sendable {
        /// It does. Generated code calls it.
        public func exists() {}
    }

    /// What a type with a raw value has in its place.
    public struct NoEmptyRawValue: Sendable {
        /// It does not. Generated code calls it.
        @available(
            *, unavailable,
            message:
                "there may be no value, or a raw value that the type does not have: give the property a default (var kind: Kind = .other), or make it optional (var kind: Kind?)"
        )
        public func exists() {}
    }

    /// What a Codable type has in its place.
    public struct NoEmptyCodable: Sendable {
        /// It does not. Generated code calls it.
        @available(
            *, unavailable,
            message:
                "there may be no value, or bytes that cannot be read as the type: give the property a default (var tags: [String] = []), or make it optional (var tags: [String]?)"
        )
        public func exists() {}
    }
}
