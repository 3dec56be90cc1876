// Values and numbers for people, on one line.

import CairnFormat
package import CairnModel
import FoundationEssentials

/// Text for people.
package enum PlainText {
    /// Returns a value as text: strings unchanged, with line ends and other control characters made visible;
    /// empty for nil. Longer binary data are shown as their size.
    package static func value(_ value: Value) -> String {
        switch value {
        case .null: ""
        case .string(let text): visible(text)
        case .date, .double, .float: unquoted(JSONValue(value).line)
        case .boolean(let truth): truth ? "true" : "false"
        case .binary(let data) where data.count > mostBytes: "<\(data.count) bytes>"
        case .objectID(let id): "p\(id.reference)"
        default: unquoted(JSONValue(value).line)
        }
    }

    /// The maximum size of binary data whose base 64 text no table truncates, in bytes.
    private static let mostBytes = 30

    /// Returns a text with its control characters as escapes.
    package static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isControl(scalar):
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns the visible text, truncated for an error message.
    package static func short(_ text: String) -> String {
        let text = visible(text)
        return text.count > 60 ? text.prefix(57) + "…" : text
    }

    /// Returns whether a scalar is a control character, of ASCII or beyond it: some terminals also interpret
    /// the latter.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value
    }

    /// Returns a number with its digits in groups of three.
    package static func number(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var result = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return result
    }

    /// Returns a number, followed by a noun.
    package static func count(_ number: some BinaryInteger, _ one: String, _ many: String? = nil)
        -> String
    {
        "\(self.number(number)) \(number == 1 ? one : many ?? one + "s")"
    }

    /// Returns a number of bytes in the appropriate unit.
    package static func bytes(_ count: UInt64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        guard count >= 1024 else { return self.count(count, "byte") }
        var size = Double(count) / 1024
        var unit = 0
        while size >= 1024, unit < units.count - 1 {
            size /= 1024
            unit += 1
        }
        return "\(decimal(size, digits: size < 10 ? 2 : 1)) \(units[unit])"
    }

    /// Returns a number with `digits` digits after the point.
    package static func decimal(_ number: Double, digits: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        guard let scaled = Int64(exactly: (number * Double(scale)).rounded()) else {
            return "\(number)"
        }
        let rest = String(scaled.magnitude % UInt64(scale))
        let whole = self.number(scaled.magnitude / UInt64(scale))
        let sign = scaled < 0 ? "-" : ""
        guard digits > 0 else { return sign + whole }
        return sign + whole + "." + String(repeating: "0", count: digits - rest.count) + rest
    }

    private static func unquoted(_ text: String) -> String {
        text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text
    }
}
