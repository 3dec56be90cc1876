// JSON as the tool prints it: keys in the order given, values as in the canonical export, except for those
// that an import would not accept from there:
//
//   1. A date that is not a whole millisecond is also a string, with all its digits.
//   2. A double or float that is a large whole number has all its digits: the fewest that distinguish it from
//      others are mostly those of another whole number.

import CairnFormat
package import CairnModel
import CairnStore
import FoundationEssentials

/// A JSON value with the order of its keys.
package indirect enum JSONValue: Sendable, Equatable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case float(Float)
    case string(String)
    /// A moment in seconds since 2001, printed as a string.
    case date(Double)
    case array([JSONValue])
    case object([Member])

    /// A key and its value.
    package struct Member: Sendable, Equatable {
        package let key: String
        package let value: JSONValue

        /// Creates a member of an object.
        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Returns an object with these members.
    package static func object(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member(key: $0.key, value: $0.value) })
    }

    /// Returns a count as a value.
    package static func count(_ number: some BinaryInteger) -> JSONValue {
        .integer(Int64(clamping: number))
    }

    /// Returns a string, or null.
    package static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// Converts the value of an attribute or to-one relationship.
    package init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .decimal(let number): self = .string("\(number)")
        case .double(let number): self = .double(number)
        case .float(let number): self = .float(number)
        case .string(let text): self = .string(text)
        case .boolean(let truth): self = .boolean(truth)
        case .date(let date): self = .date(date.timeIntervalSinceReferenceDate)
        case .binary(let data): self = .string(data.base64EncodedString())
        case .uuid(let uuid): self = .string(uuid.uuidString)
        case .uri(let uri): self = .string(uri.absoluteString)
        case .objectID(let id): self = .string("p\(id.reference)")
        }
    }

    /// The value on one line.
    package var line: String {
        var writer = ByteWriter(capacity: 256)
        append(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func append(to writer: inout ByteWriter) {
        switch self {
        case .null: writer.append(utf8: "null")
        case .boolean(let truth): writer.append(utf8: truth ? "true" : "false")
        case .integer(let number): CanonicalNumber.append(integer: number, to: &writer)
        case .double(let number):
            if let digits = Self.digits(number, limit: 0x1p53) {
                writer.append(utf8: digits)
            } else {
                CanonicalNumber.append(double: number, to: &writer)
            }
        case .float(let number):
            if let digits = Self.digits(number, limit: 0x1p24) {
                writer.append(utf8: digits)
            } else {
                CanonicalNumber.append(float: number, to: &writer)
            }
        case .string(let text): CanonicalText.append(text, to: &writer)
        case .date(let seconds):
            if CanonicalDate.isText(seconds) {
                CanonicalDate.append(seconds, to: &writer)
            } else {
                let date = Date(timeIntervalSinceReferenceDate: seconds)
                CanonicalText.append(date.exactText, to: &writer)
            }
        case .array(let values):
            writer.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { writer.append(UInt8(ascii: ",")) }
                value.append(to: &writer)
            }
            writer.append(UInt8(ascii: "]"))
        case .object(let members):
            writer.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { writer.append(UInt8(ascii: ",")) }
                CanonicalText.append(member.key, to: &writer)
                writer.append(UInt8(ascii: ":"))
                member.value.append(to: &writer)
            }
            writer.append(UInt8(ascii: "}"))
        }
    }

    /// Returns all digits of a whole number that its type does not distinguish from its neighbours, up to the
    /// limit where numbers are printed with an exponent; nil for any other number.
    private static func digits<Number: BinaryFloatingPoint>(_ number: Number, limit: Number)
        -> String?
    {
        guard number.magnitude > limit, number.magnitude < 1e21 else { return nil }
        return Int128(exactly: number).map { "\($0)" }
    }
}
