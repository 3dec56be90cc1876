// The wider types of an attribute's type, and the conversion of its values.
//
//   integers         more bits, then double, decimal, string
//   boolean          integer64 as 0 and 1, then string as true and false
//   float, double    double, decimal by the shortest text, string
//   all others       string; string, bytes, transformable and composite values have no wider type
//
// Strings are those that `cairn query` prints. A value that the wider type cannot distinguish from others is
// not converted.

package import CairnModel
import FoundationEssentials

/// Wider types of attributes.
package enum WiderType {
    /// Returns the types that are wider than a type, narrowest first.
    package static func candidates(for type: AttributeType) -> [AttributeType] {
        switch type {
        case .integer16: [.integer32, .integer64, .double, .decimal, .string]
        case .integer32: [.integer64, .double, .decimal, .string]
        case .integer64: [.double, .decimal, .string]
        case .boolean: [.integer64, .string]
        case .float: [.double, .decimal, .string]
        case .double: [.decimal, .string]
        case .decimal, .date, .uuid, .uri: [.string]
        case .string, .binary, .transformable, .composite, .undefined, .objectID: []
        }
    }

    /// Converts a value to a wider type; returns nil if that cannot represent it.
    package static func value(_ value: Value, as type: AttributeType) -> Value? {
        switch (value, type) {
        case (.null, _): return .null
        case (.integer, .integer32), (.integer, .integer64): return value
        case (.boolean(let truth), .integer64): return .integer(truth ? 1 : 0)
        case (.integer(let number), .double): return Double(exactly: number).map { .double($0) }
        case (.integer(let number), .decimal): return .decimal(Decimal(number))
        case (.float(let number), .double): return .double(Double(number))
        case (.float(let number), .decimal): return decimal(number)
        case (.double(let number), .decimal): return decimal(number)
        case (_, .string): return .string(PlainText.value(value))
        default: return nil
        }
    }

    private static func decimal(_ number: some BinaryFloatingPoint & CustomStringConvertible)
        -> Value?
    {
        // A decimal has neither -0 nor infinities and NaN.
        guard number.isFinite, number != 0 || number.sign == .plus else { return nil }
        return Decimal(exactText: number.description).map { .decimal($0) }
    }
}
