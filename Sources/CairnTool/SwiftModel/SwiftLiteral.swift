// The values of a model as Swift expressions.
//
// `@Entity` accepts every such expression as a constant, so that a default stays part of the model: literals,
// names, and calls that are known to depend only on their arguments. Bytes have no such form.

import CairnModel
import FoundationEssentials

/// Formats values as Swift code.
enum SwiftLiteral {
    /// Returns a value's expression for a known type; nil if it has none.
    static func text(_ value: Value) -> String? {
        switch value {
        case .null, .objectID: nil
        case .integer(let number): "\(number)"
        case .decimal(let number): text(number)
        case .double(let number): text(number)
        case .float(let number): text(number)
        case .string(let string): text(string)
        case .boolean(let truth): truth ? "true" : "false"
        case .date(let date):
            "Date(timeIntervalSinceReferenceDate: \(seconds(date.timeIntervalSinceReferenceDate)))"
        case .binary(let data):
            data.isEmpty ? "Data()" : "Data(base64Encoded: \"\(data.base64EncodedString())\")!"
        case .uuid(let uuid): "UUID(uuidString: \"\(uuid.uuidString)\")!"
        case .uri(let url): "URL(string: \(text(url.absoluteString)))!"
        }
    }

    private static func text<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ number: Number
    ) -> String {
        if number.isNaN { return "\(Number.self).nan" }
        if number.isInfinite { return (number < 0 ? "-" : "") + "\(Number.self).infinity" }
        return "\(number)"
    }

    /// Returns a decimal's expression; its own literals are converted through a double, which would round.
    private static func text(_ number: Decimal) -> String? {
        if number.isNaN { return nil }
        let digits = "\(number)"
        return Int64(digits) == nil ? "Decimal(string: \"\(digits)\")!" : digits
    }

    private static func seconds(_ number: Double) -> String {
        Int64(exactly: number).map { "\($0)" } ?? text(number)
    }

    // MARK: Strings

    /// Returns a string literal, raw if that avoids escapes.
    static func text(_ string: String) -> String {
        let isVisible = string.unicodeScalars.allSatisfy { escape($0) == nil || isMarked($0) }
        guard isVisible, string.unicodeScalars.contains(where: isMarked),
            string.unicodeScalars.first != "\""
        else {
            return "\"" + string.unicodeScalars.map { escape($0) ?? String($0) }.joined() + "\""
        }
        let pounds = String(repeating: "#", count: longestRunOfPounds(in: string) + 1)
        return "\(pounds)\"\(string)\"\(pounds)"
    }

    /// Returns the maximum number of consecutive number signs after a quote or a backslash.
    private static func longestRunOfPounds(in string: String) -> Int {
        var longest = 0
        var current: Int?
        for scalar in string.unicodeScalars {
            if isMarked(scalar) {
                current = 0
            } else if scalar == "#", let count = current {
                current = count + 1
                longest = max(longest, count + 1)
            } else {
                current = nil
            }
        }
        return longest
    }

    /// Returns whether a raw literal can contain the scalar unchanged, while a plain one must escape it.
    private static func isMarked(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\\" || scalar == "\""
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\\": return "\\\\"
        case "\"": return "\\\""
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
            .unassigned:
            return "\\u{\(String(scalar.value, radix: 16))}"
        default: return nil
        }
    }
}
