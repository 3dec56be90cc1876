// How the values of one Swift type are stored: as they are, by their raw value, as leaves, or as JSON.
//
// The compiler chooses among the overloads of `TypedKind.of`, so that a macro, which sees names but no types,
// need not know whether `Kind` is an enum, a struct or an entity.
//
// Threads: immutable, so any.

import CairnModel
import CairnStore

/// How values of a Swift type are stored in an attribute. Created by generated code.
public struct AttributeKind<V>: Sendable {
    /// The type of the attribute that the model gets.
    let type: AttributeType
    /// Whether nil is a value of the Swift type.
    let isOptional: Bool
    /// Whether a stored attribute of this type can hold the values.
    let fits: @Sendable (AttributeType) -> Bool
    /// The value as it is stored, or nil if it is a composite one. Throws what its transformer, or its own `encode(to:)`, does.
    let encode: @Sendable (V) throws -> Value
    /// The value that is stored; nil if it is none of the Swift type.
    let decode: @Sendable (Value) -> V?
    /// What is read where there is no value and no default; nil if that is a mistake.
    let empty: @Sendable () -> V?
    /// How a composite value is made of its leaves; nil for a single value.
    let composite: CompositeKind<V>?
    /// The transformer of values that are stored as JSON, or as a transformer of their own says.
    let transformerName: String?
    /// Makes the transformer known to those who work by key; nil if they see what is stored.
    let offersTransformer: (@Sendable () -> Void)?

    init(
        _ type: AttributeType, isOptional: Bool,
        fits: @escaping @Sendable (AttributeType) -> Bool,
        encode: @escaping @Sendable (V) throws -> Value,
        decode: @escaping @Sendable (Value) -> V?,
        empty: @escaping @Sendable () -> V?,
        composite: CompositeKind<V>? = nil, transformerName: String? = nil,
        offersTransformer: (@Sendable () -> Void)? = nil
    ) {
        self.type = type
        self.isOptional = isOptional
        self.fits = fits
        self.encode = encode
        self.decode = decode
        self.empty = empty
        self.composite = composite
        self.transformerName = transformerName
        self.offersTransformer = offersTransformer
    }
}

extension AttributeKind {
    /// A value that a model states, such as a default: one that cannot be stored is a mistake of the program.
    func stated(_ value: V, _ property: String) -> Value {
        do {
            return try encode(value)
        } catch {
            preconditionFailure(
                "\(property): the value of type \(V.self) that is stated here cannot be encoded: \(error)"
            )
        }
    }
}

/// How a composite value is taken apart and put together.
struct CompositeKind<V>: Sendable {
    let name: String
    let parts: CompositeParts
    let read: @Sendable (inout CompositeReader) -> V?
    let write: @Sendable (V, inout CompositeWriter) -> Void

    var elements: @Sendable () -> [CompositeElement] { parts.elements }
}

/// What a composite value has in it.
struct CompositeParts: Sendable {
    let elements: @Sendable () -> [CompositeElement]
    /// Their key paths, in the same order.
    let paths: @Sendable () -> [PropertyPaths]

    init<V: CompositeValue>(of type: V.Type) {
        elements = { V._elements }
        paths = { V._paths }
    }
}

/// The destination of a relationship, and its kind. Created by generated code.
public struct RelationshipKind<V>: Sendable {
    let destination: ManagedObject.Type
    let isToMany: Bool
    let isOrdered: Bool

    init(_ destination: ManagedObject.Type, isToMany: Bool, isOrdered: Bool) {
        self.destination = destination
        self.isToMany = isToMany
        self.isOrdered = isOrdered
    }
}
