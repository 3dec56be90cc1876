// Values as literals of the predicate language, and back from a CAST.
//
//   1. A decimal always has a point, so that it does not come back as an integer.
//   2. A whole double or float has all its digits if its shortest text means another number: it comes back as a decimal, and
//      as an equal one.
//   3. What the language has no literal for is a CAST of a text or number, which the parser turns into the
//      value again: dates, UUIDs, URIs, bytes, object ids, and what is no number.

import FoundationEssentials

extension Value {
    /// The value as a literal of a predicate.
    package var predicateFormat: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .decimal(let value):
            value.isNaN ? Self.cast("nan", .number) : Self.withPoint("\(value)")
        case .double(let value): Self.number(value)
        case .float(let value):
            value.rounded() == value ? Self.number(Double(value)) : Self.number(value)
        case .string(let value): Self.quote(value)
        case .boolean(let value): value ? "TRUE" : "FALSE"
        case .date(let value):
            if let text = value.isoText {
                Self.cast(text, .date)
            } else {
                // No year that ISO 8601 has a plain form for.
                "CAST(\(Self.number(value.timeIntervalSinceReferenceDate)), 'NSDate')"
            }
        case .binary(let value): Self.cast(value.base64EncodedString(), .data)
        case .uuid(let value): Self.cast(value.uuidString, .uuid)
        case .uri(let value): Self.cast(value.absoluteString, .url)
        case .objectID(let value): Self.cast(value.uriRepresentation.absoluteString, .objectID)
        }
    }

    private static func number(_ value: some BinaryFloatingPoint & CustomStringConvertible)
        -> String
    {
        guard value.isFinite else {
            return cast(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf", .number)
        }
        // From here on a text may say less than the number.
        if value.magnitude >= 0x1p53, let whole = UInt128(exactly: value.magnitude) {
            return "\(value < 0 ? "-" : "")\(whole).0"
        }
        return withPoint(value.description)
    }

    private static func cast(_ text: String, _ type: ExpressionNode.CastType) -> String {
        "CAST(\(quote(text)), '\(type.rawValue)')"
    }

    private static func withPoint(_ text: String) -> String {
        text.contains { $0 == "." || $0 == "e" || $0 == "E" } ? text : text + ".0"
    }

    static func quote(_ text: String) -> String {
        var quoted = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'": quoted += "\\'"
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\0": quoted += "\\0"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "'"
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
