// Which types of properties can be read whatever is stored.
//
// A new object has nothing yet, one that somebody else has deleted has nothing any more, and another version of the program may
// have stored what is no value of this one's type. A type with an empty value is read as that, a relationship is empty, and
// what is optional is nil. All others need a default: `@Entity` and `@Composite` ask here for each property without one.

import CairnModel
import CairnStore

extension TypedKind {
    // What a property without a default is told.
    // A literal each time: an attribute takes nothing else.

    /// A value that is stored as it is has an empty one. Generated code asks.
    public static func emptyValueExists<V: PropertyValue>(in type: V.Type) {}

    /// Nothing is a value.
    public static func emptyValueExists<V>(in type: V?.Type) {}

    /// The elements of a composite value have empty ones, or defaults.
    public static func emptyValueExists<V: CompositeValue>(in type: V.Type) {}

    /// A relationship without members.
    public static func emptyValueExists<T: ManagedObject>(in type: Set<T>.Type) {}

    /// An ordered relationship without members.
    public static func emptyValueExists<T: ManagedObject>(in type: [T].Type) {}

    /// An integer that cannot be stored, as is said where it is described.
    public static func emptyValueExists<V: UnstorableInteger>(in type: V.Type) {}

    /// A raw value that nobody knows has to be read as something.
    @available(
        *, unavailable,
        message:
            "there may be no value, or a raw value that is none of the type: give the property a default (var kind: Kind = .other), or make it optional (var kind: Kind?). The stored raw value is kept until the property is set"
    )
    public static func emptyValueExists<V: RawRepresentable & SendableMetatype>(in type: V.Type)
    where V.RawValue: PropertyValue {}

    /// Bytes that are no value have to be read as something.
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "there may be no value, or bytes that are none of the type: give the property a default (var tags: [String] = []), or make it optional (var tags: [String]?). The stored bytes are kept until the property is set"
    )
    public static func emptyValueExists<V: Codable & SendableMetatype>(in type: V.Type) {}

    /// Everything else: that it cannot be stored is said where the property is described.
    @_disfavoredOverload
    public static func emptyValueExists<V>(in type: V.Type) {}
}
