// Prints a predicate as text that reads back as the same tree.
//
//   1. What is joined by AND or OR stands in parentheses inside another join, so that nesting survives.
//   2. NONE and NOT IN are printed as what they mean, NOT ANY and NOT … IN.
//
// A join of one or of none cannot be written as a join: it is printed as what it means.

extension PredicateNode: CustomStringConvertible {
    /// The predicate as a format, which reads back as the same predicate.
    ///
    /// Doubles and floats are printed as numbers and come back as decimals, which are equal to them in
    /// every comparison; all other values come back as they are.
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
        let modifier = modifier == .direct ? "" : modifier.rawValue + " "
        let options = options.isEmpty ? "" : "[\(options.letters)]"
        return "\(modifier)\(left.expressionFormat) \(`operator`.rawValue)\(options) "
            + right.expressionFormat
    }
}
