// Values and numbers as people read them, on one line.

import CairnFormat
package import CairnModel
import FoundationEssentials

/// Text for people.
package enum PlainText {
    /// A value: text as it is, with line ends and other control characters made visible; nothing for nil. More bytes than one
    /// reads on a line are counted.
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

    /// So many bytes have a text in base 64 that no table cuts.
    private static let mostBytes = 30

    /// A text whose control characters are written as escapes.
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

    /// The same, cut to what an error message has room for.
    package static func short(_ text: String) -> String {
        let text = visible(text)
        return text.count > 60 ? text.prefix(57) + "…" : text
    }

    /// Those of ASCII, and those beyond it, which some terminals obey as well.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value
    }

    /// A number with its digits in groups of three.
    package static func number(_ number: some BinaryInteger) -> String {
        let digits = String(number.magnitude)
        var result = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { result += "," }
            result.append(digit)
        }
        return result
    }

    /// A number with a noun behind it.
    package static func count(_ number: some BinaryInteger, _ one: String, _ many: String? = nil)
        -> String
    {
        "\(self.number(number)) \(number == 1 ? one : many ?? one + "s")"
    }

    /// A number of bytes in the unit that suits it.
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

    /// A number with that many digits behind the point.
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
