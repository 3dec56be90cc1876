// Values as literals of the predicate language, and back from a CAST.
//
// In the style that parses back into the same tree:
//
//   1. A decimal always has a point, so that it does not come back as an integer.
//   2. A whole double or float has all its digits if its shortest text means another number: it comes back as a decimal, and
//      as an equal one.
//   3. What the language has no literal for is a CAST of a text or number, which the parser turns into the
//      value again: dates, UUIDs, URIs, bytes, object ids, and what is no number.

import FoundationEssentials

extension Value {
    /// The value as a literal of a predicate.
    package var predicateFormat: String { format(.exact) }

    /// The value as a literal of a predicate, written in a style.
    func format(_ style: PredicateStyle) -> String {
        switch self {
        case .null: style == .exact ? "NULL" : "nil"
        case .integer(let value): "\(value)"
        case .decimal(let value):
            value.isNaN
                ? Self.cast("nan", .number, style) : Self.number(text: "\(value)", style)
        case .double(let value): Self.number(value, style)
        case .float(let value):
            value.rounded() == value
                ? Self.number(Double(value), style) : Self.number(value, style)
        case .string(let value): Self.quote(value, style)
        case .boolean(let value):
            switch style {
            case .exact: value ? "TRUE" : "FALSE"
            case .coreData: value ? "1" : "0"
            }
        case .date(let value): Self.date(value, style)
        case .binary(let value): Self.cast(value.base64EncodedString(), .data, style)
        case .uuid(let value): Self.cast(value.uuidString, .uuid, style)
        case .uri(let value): Self.cast(value.absoluteString, .url, style)
        case .objectID(let value):
            Self.cast(value.uriRepresentation.absoluteString, .objectID, style)
        }
    }

    private static func date(_ date: Date, _ style: PredicateStyle) -> String {
        if style == .exact, let text = date.isoText { return cast(text, .date, style) }
        // In Core Data's style, or no year that ISO 8601 has a plain form for.
        let seconds = date.timeIntervalSinceReferenceDate
        let text = style == .coreData ? microseconds(seconds) : nil
        let type = quote(ExpressionNode.CastType.date.rawValue, style)
        return "CAST(\(text ?? number(seconds, style)), \(type))"
    }

    /// Seconds with six digits after the point; nil if they are too many.
    private static func microseconds(_ seconds: Double) -> String? {
        guard let whole = Int64(exactly: (seconds * 1_000_000).rounded()) else { return nil }
        let (seconds, rest) = whole.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
        let digits = "\(rest)"
        return (whole < 0 ? "-" : "") + "\(seconds)."
            + String(repeating: "0", count: 6 - digits.count) + digits
    }

    private static func number(
        _ value: some BinaryFloatingPoint & CustomStringConvertible, _ style: PredicateStyle
    ) -> String {
        guard value.isFinite else {
            return cast(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf", .number, style)
        }
        // From here on a text may say less than the number.
        if style == .exact, value.magnitude >= 0x1p53,
            let whole = UInt128(exactly: value.magnitude)
        {
            return "\(value < 0 ? "-" : "")\(whole).0"
        }
        return number(text: value.description, style)
    }

    private static func cast(
        _ text: String, _ type: ExpressionNode.CastType, _ style: PredicateStyle
    ) -> String {
        "CAST(\(quote(text, style)), \(quote(type.rawValue, style)))"
    }

    /// A number that is no integer.
    private static func number(text: String, _ style: PredicateStyle) -> String {
        switch style {
        case .exact:
            text.contains { $0 == "." || $0 == "e" || $0 == "E" } ? text : text + ".0"
        case .coreData: text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        }
    }

    static func quote(_ text: String, _ style: PredicateStyle) -> String {
        let mark: Unicode.Scalar = style == .exact ? "'" : "\""
        var quoted = String(mark)
        for scalar in text.unicodeScalars {
            switch scalar {
            case mark, "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\0": quoted += "\\0"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        quoted.unicodeScalars.append(mark)
        return quoted
    }

    /// The value that the CAST of this literal is at once; nil if there is none.
    func literalCast(to type: ExpressionNode.CastType) -> Value? {
        switch (type, self) {
        case (.date, .string): return literal(of: .date)
        case (.date, .integer), (.date, .decimal), (.date, .double), (.date, .float):
            guard case .double(let seconds)? = literal(of: .double) else { return nil }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case (.uuid, .string): return literal(of: .uuid)
        case (.url, .string): return literal(of: .uri)
        case (.data, .string): return literal(of: .binary)
        case (.objectID, .string(let text)):
            return URL(string: text).flatMap { ObjectID(uriRepresentation: $0) }
                .map { .objectID($0) }
        case (.number, .string(let text)):
            switch text {
            case "nan": return .double(.nan)
            case "inf": return .double(.infinity)
            case "-inf": return .double(-.infinity)
            default: return nil
            }
        default: return nil
        }
    }
}
