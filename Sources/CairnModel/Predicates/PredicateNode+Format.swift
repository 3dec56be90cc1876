// Prints a predicate as a format string that parses back into the same tree.
//
//   1. What is joined by AND or OR stands in parentheses inside another join, so that nesting survives.
//   2. NONE and NOT IN are printed as what they mean, NOT ANY and NOT … IN.
//
// A join of one or of none cannot be written as a join: it is printed as what it means.

extension PredicateNode: CustomStringConvertible {
    /// The predicate as a format string, which parses back into the same predicate.
    ///
    /// Doubles and floats are printed as numbers and parsed as decimals, which are equal to them in every comparison; all
    /// other values stay the same.
    public var predicateFormat: String { format(.exact) }

    /// The predicate as a format string.
    public var description: String { predicateFormat }

    /// The predicate as a format string, written in a style.
    package func format(_ style: PredicateStyle) -> String {
        switch self {
        case .constant(let truth): Self.format(truth)
        case .comparison(let comparison): comparison.format(style)
        case .and(let parts):
            Self.format(.and, parts.map { (text: $0.format(style), isJoin: $0.isJoin(style)) })
        case .or(let parts):
            Self.format(.or, parts.map { (text: $0.format(style), isJoin: $0.isJoin(style)) })
        case .not(let part):
            Self.format(.not, [(text: part.format(style), isJoin: part.isJoin(style))])
        }
    }

    /// Whether it stands in parentheses inside a combination: as several joined by AND or OR, or, as Core Data writes it, as
    /// any other combination.
    private func isJoin(_ style: PredicateStyle) -> Bool {
        switch self {
        case .and(let parts), .or(let parts):
            style == .coreData || (parts.count == 1 ? parts[0].isJoin(style) : !parts.isEmpty)
        case .not: style == .coreData
        default: false
        }
    }

    /// How predicates are combined.
    package enum Combination {
        /// All of them hold.
        case and
        /// One of them holds, or more.
        case or
        /// The one that there is does not hold.
        case not
    }

    /// The format string of a truth value.
    package static func format(_ truth: Bool) -> String {
        truth ? "TRUEPREDICATE" : "FALSEPREDICATE"
    }

    /// The format string of a combination.
    ///
    /// - Parameter parts: how each part is written, and whether it stands in parentheses.
    package static func format(
        _ combination: Combination, _ parts: [(text: String, isJoin: Bool)]
    ) -> String {
        let word = combination == .and ? " AND " : " OR "
        let grouped = parts.map { $0.isJoin ? "(\($0.text))" : $0.text }
        return switch combination {
        case .not: "NOT \(grouped.first ?? format(true))"
        case .and, .or:
            switch parts.count {
            case 0: format(combination == .and)
            case 1: parts[0].text
            default: grouped.joined(separator: word)
            }
        }
    }
}

extension PredicateNode.Comparison {
    fileprivate func format(_ style: PredicateStyle) -> String {
        Self.format(
            left.format(style), `operator`, right.format(style), modifier: modifier,
            options: options)
    }

    /// The format string of a comparison whose sides are written so.
    package static func format(
        _ left: String, _ operator: Operator, _ right: String, modifier: Modifier, options: Options
    ) -> String {
        let modifier = modifier == .direct ? "" : modifier.rawValue + " "
        let options = options.isEmpty ? "" : "[\(options.letters)]"
        return "\(modifier)\(left) \(`operator`.rawValue)\(options) \(right)"
    }
}
