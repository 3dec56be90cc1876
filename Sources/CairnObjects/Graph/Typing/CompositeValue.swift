// Structs whose parts are leaves of a composite attribute.
//
// Leaves are numbered depth first in the order of the struct's properties. A reader and a writer go through
// them in that order, so that a nested struct needs no numbers of its own.

import CairnModel
import CairnStore

/// A struct whose stored properties are the elements of a composite attribute. `@Composite` generates the conformance.
///
/// ```swift
/// @Composite struct Address {
///     var street: String = ""
///     var city: String?
/// }
///
/// @Entity final class Person: ManagedObject {
///     var home: Address?      // columns home.street and home.city
/// }
/// ```
public protocol CompositeValue: SendableMetatype {
    /// The name of the composite in the model.
    static var _compositeName: String { get }
    /// The elements, in order.
    static var _elements: [CompositeElement] { get }
    /// The key paths of the elements, in order.
    static var _paths: [PropertyPaths] { get }
    /// Takes a value from its leaves; nil if one of them is missing or none of the type.
    init?(_from reader: inout CompositeReader)
    /// Gives the leaves.
    func _write(to writer: inout CompositeWriter)
    /// The name of the element that a key path of the struct leads to.
    static func _key(for path: AnyKeyPath) -> String?
}

extension CompositeValue {
    /// None: key paths into a value with a handwritten conformance must be written as strings.
    public static var _paths: [PropertyPaths] { [] }
}

/// One element of a composite. Created by generated code.
public struct CompositeElement: Sendable {
    /// The element in the model.
    let description: AttributeDescription
    /// Whether a column of a type can hold the leaf; of a composite element, those of its leaves.
    let leaves: [@Sendable (AttributeType) -> Bool]
    /// The parts of a composite element.
    let parts: CompositeParts?

    /// Creates an element. A computed default is not part of the model.
    public init<V>(
        _ name: String, _ kind: AttributeKind<V>, default: (@Sendable () -> V)? = nil,
        computed: Bool = false
    ) {
        var description = AttributeDescription(name, kind.type, optional: kind.isOptional)
        parts = kind.composite?.parts
        if let composite = kind.composite {
            let elements = composite.elements()
            description.compositeName = composite.name
            description.elements = elements.map { $0.description(inOptional: kind.isOptional) }
            leaves = elements.flatMap(\.leaves)
        } else {
            description.valueTransformerName = kind.transformerName
            if !computed {
                description.defaultValue = `default`.map { kind.stated($0(), name) } ?? .null
            }
            leaves = [kind.fits]
        }
        self.description = description
    }

    /// The element in the model; leaves of a value that may be nil have no defaults, or it never would be.
    func description(inOptional: Bool) -> AttributeDescription {
        inOptional ? Self.withoutDefaults(description) : description
    }

    private static func withoutDefaults(_ description: AttributeDescription)
        -> AttributeDescription
    {
        var description = description
        description.defaultValue = .null
        description.elements = description.elements.map(withoutDefaults)
        return description
    }
}

/// Reads the leaves of a composite value one after the other.
public struct CompositeReader {
    private let values: [Value]
    private var position = 0

    init(_ values: [Value]) { self.values = values }

    /// The next element; nil if it is missing, or does not have the type, and there is no default.
    public mutating func next<V>(_ kind: AttributeKind<V>, default: (@Sendable () -> V)? = nil)
        -> V?
    {
        if let composite = kind.composite {
            // However far it reads if a leaf is missing.
            let end = position + composite.elements().reduce(0) { $0 + $1.leaves.count }
            defer { position = end }
            return composite.read(&self) ?? `default`?() ?? kind.empty()
        }
        let value = values[position]
        position += 1
        let decoded = value.isNull ? nil : kind.decode(value)
        return decoded ?? `default`?() ?? kind.empty()
    }

    /// A composite value that is nil if all of its leaves are.
    mutating func readOptional<V: CompositeValue>(_ type: V.Type) -> V?? {
        let count = V._elements.reduce(0) { $0 + $1.leaves.count }
        guard values[position..<position + count].contains(where: { !$0.isNull }) else {
            return .some(nil)
        }
        return V(_from: &self).map { $0 }
    }
}

/// Collects the leaves of a composite value one after the other.
public struct CompositeWriter {
    private(set) var values: [Value] = []
    /// Why an element could not be encoded, if one could not.
    private(set) var failure: (any Error)?

    init() {}

    /// Adds an element.
    public mutating func put<V>(_ kind: AttributeKind<V>, _ value: V) {
        if let composite = kind.composite {
            composite.write(value, &self)
        } else {
            do {
                values.append(try kind.encode(value))
            } catch {
                values.append(.null)
                failure = failure ?? error
            }
        }
    }

    mutating func writeOptional<V: CompositeValue>(_ value: V?) {
        if let value {
            value._write(to: &self)
        } else {
            let count = V._elements.reduce(0) { $0 + $1.leaves.count }
            values.append(contentsOf: repeatElement(.null, count: count))
        }
    }
}
