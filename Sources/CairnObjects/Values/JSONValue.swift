// Values of Codable types, as the bytes of a transformable attribute.
//
// JSON, keys sorted, so that equal values have equal bytes and setting an equal value changes nothing.

import CairnModel
import FoundationEssentials

enum JSONValue {
    /// What the model says of such an attribute.
    static let transformerName = "CairnJSON"

    /// The bytes of a value; nil for nil.
    ///
    /// - Throws: what the value's own `encode(to:)` does, or the encoder.
    static func encode<V: Encodable>(_ value: V) throws -> Value {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let data = try encoder.encode(value)
        return data == null ? .null : .binary(data)
    }

    /// The value; nil if there is none, or if the bytes are not of the type.
    static func decode<V: Decodable>(_ value: Value) -> V? {
        switch value {
        case .null: return nilValue(of: V.self)
        case .binary(let data):
            let decoder = JSONDecoder()
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            return try? decoder.decode(V.self, from: data)
        default: return nil
        }
    }

    /// Nil as a value of the type, if that is optional.
    static func nilValue<V: Decodable>(of type: V.Type) -> V? {
        guard type is any AnyOptionalType.Type else { return nil }
        return try? JSONDecoder().decode(V.self, from: null)
    }

    private static let null = Data("null".utf8)
}

/// Tells optional types by their metatype.
protocol AnyOptionalType {}

extension Optional: AnyOptionalType {}
