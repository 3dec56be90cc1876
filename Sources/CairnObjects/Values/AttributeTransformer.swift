// How values of a type of one's own become the bytes of a transformable attribute, and come back.

import CairnModel
public import FoundationEssentials

/// A way to store the values of a type as bytes.
///
/// ```swift
/// enum ColorTransformer: AttributeTransformer {
///     static func data(from color: Color) -> Data { Data([color.red, color.green, color.blue]) }
///     static func value(from data: Data) throws -> Color {
///         guard data.count == 3 else { throw BadColor() }
///         return Color(red: data[0], green: data[1], blue: data[2])
///     }
/// }
///
/// @Entity final class Pencil: ManagedObject {
///     @Attribute(.transformable(by: ColorTransformer.self)) var color: Color?
/// }
/// ```
///
/// Objects whose model comes from a file read and set the values by key, after the transformer named by the model was
/// registered: see ``AttributeTransformers``. A `Codable` type needs none: it is stored as JSON.
///
/// Equal values should have equal bytes; otherwise setting an equal value is a change. A value is created each time it is
/// read: changing something inside it does not change the object. Stores only see bytes, so predicates cannot use the
/// contents.
public protocol AttributeTransformer: SendableMetatype {
    /// The type of the values.
    associatedtype Transformed
    /// The name by which models know the transformer. The type's own unless it says otherwise.
    static var transformerName: String { get }
    /// The bytes of a value. A value that has none stays what the property reads as, and the object cannot be saved with it: its
    /// validation, and a batch, throw `.validation` with entity and key, and this error as the cause.
    static func data(from value: Transformed) throws -> Data
    /// The value of bytes. What cannot be read reads as the property's default or nil, and the context's next fetch or save
    /// throws `.invalidRequest`. So a property that is not optional needs a default; a class that was written without the
    /// macro, and gives it none, ends the program.
    static func value(from data: Data) throws -> Transformed
}

extension AttributeTransformer {
    /// The type's own name.
    public static var transformerName: String { "\(Self.self)" }
}

/// Stores values of a `Codable` type as JSON; this is what `@Attribute(.codable)` means.
public enum JSONTransformer<Transformed: Codable & SendableMetatype>: AttributeTransformer {
    /// The name of all JSON in models.
    public static var transformerName: String { JSONValue.transformerName }

    /// The JSON of a value, its keys sorted.
    public static func data(from value: Transformed) throws -> Data {
        if case .binary(let data) = try JSONValue.encode(value) { return data }
        return Data("null".utf8)
    }

    /// The value of JSON.
    public static func value(from data: Data) throws -> Transformed {
        guard let value: Transformed = JSONValue.decode(.binary(data)) else {
            throw NoSuchValue()
        }
        return value
    }

    private struct NoSuchValue: Error {}
}
