// Prints a predicate as text that reads back as the same tree.
//
//   1. What is joined by AND or OR stands in parentheses inside another join, so that nesting survives.
//   2. A decimal always has a point, so that it does not come back as an integer.
//   3. Doubles, dates, UUIDs, URIs, bytes and object ids are printed as the number or text that
//      `bound(to:)` turns into the same value again.
//
// A join of one or of none cannot be written as a join: it is printed as what it means.

import FoundationEssentials

extension PredicateNode: CustomStringConvertible {
    /// The predicate as a format. A predicate that was read from a format comes back the same; one with
    /// values of other types comes back the same after ``bound(to:)``.
    public var predicateFormat: String {
        switch self {
        case .constant(let truth): truth ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): comparison.format
        case .and(let parts): Self.join(parts, " AND ", empty: "TRUEPREDICATE")
        case .or(let parts): Self.join(parts, " OR ", empty: "FALSEPREDICATE")
        case .not(let part): "NOT \(part.grouped)"
        }
    }

    /// The predicate as a format.
    public var description: String { predicateFormat }

    private static func join(_ parts: [PredicateNode], _ word: String, empty: String) -> String {
        switch parts.count {
        case 0: empty
        case 1: parts[0].predicateFormat
        default: parts.map(\.grouped).joined(separator: word)
        }
    }

    /// In parentheses if it is a join.
    private var grouped: String {
        switch self {
        case .and(let parts), .or(let parts):
            switch parts.count {
            case 0: predicateFormat
            case 1: parts[0].grouped
            default: "(\(predicateFormat))"
            }
        default: predicateFormat
        }
    }
}

extension PredicateNode.Comparison {
    fileprivate var format: String {
        let name =
            switch subject {
            case .objectID: "SELF"
            case .key(let key): Self.format(key: key)
            }
        let right =
            switch `operator` {
            case .in, .between: "{\(values.map(\.predicateFormat).joined(separator: ", "))}"
            default: values.first?.predicateFormat ?? "NULL"
            }
        return "\(name) \(`operator`.rawValue) \(right)"
    }

    private static func format(key: String) -> String {
        let segments = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let areWords = segments.allSatisfy { segment in
            guard let first = segment.unicodeScalars.first, PredicateWords.isStart(first) else {
                return false
            }
            return segment.unicodeScalars.allSatisfy(PredicateWords.isPart)
        }
        guard areWords else { return "#" + Value.quote(key) }
        if key == "objectID" { return "#objectID" }
        return segments.map { PredicateWords.needsEscape($0) ? "#\($0)" : $0 }
            .joined(separator: ".")
    }
}

extension Value {
    /// The value as a literal of a predicate.
    fileprivate var predicateFormat: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .decimal(let value): Self.withPoint("\(value)")
        case .double(let value):
            value.isFinite
                ? Self.withPoint("\(value)") : Self.quote(value.isNaN ? "nan" : "\(value)")
        case .float(let value):
            value.isFinite
                ? Self.withPoint("\(value)") : Self.quote(value.isNaN ? "nan" : "\(value)")
        case .string(let value): Self.quote(value)
        case .boolean(let value): value ? "TRUE" : "FALSE"
        // ISO 8601 has no plain form for such a year: what is printed here is for eyes only.
        case .date(let value):
            Self.quote(value.isoText ?? "\(value.timeIntervalSinceReferenceDate)")
        case .binary(let value): Self.quote(value.base64EncodedString())
        case .uuid(let value): Self.quote(value.uuidString)
        case .uri(let value): Self.quote(value.absoluteString)
        case .objectID(let value): Self.quote(value.uriRepresentation.absoluteString)
        }
    }

    private static func withPoint(_ text: String) -> String {
        text.contains { $0 == "." || $0 == "e" || $0 == "E" } ? text : text + ".0"
    }

    fileprivate static func quote(_ text: String) -> String {
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
}
