// Parses comparisons.
//
//   comparison = [modifier] expression operator [ "[" letters "]" ] expression
//   modifier   = "ANY" | "SOME" | "ALL" | "NONE"          (NONE = NOT ANY)
//   operator   = "="|"=="|"!="|"<>"|"<"|">"|"<="|"=<"|">="|"=>" | "BETWEEN" | ["NOT"] "IN" | "CONTAINS"
//              | "BEGINSWITH" | "ENDSWITH" | "LIKE" | "MATCHES"
//   letters    = any of c d n l
//
// Right of IN and BETWEEN a list may stand in parentheses as well as in braces.

extension PredicateParser {
    private typealias Comparison = PredicateNode.Comparison

    /// A comparison, or only its left side if no operator follows.
    mutating func comparison(from first: ExpressionNode?) throws(PredicateFormatError) -> Term {
        var modifier = Comparison.Modifier.direct
        var isNegated = false
        if first == nil, case .word(let word) = token.kind {
            switch word.uppercased() {
            case "ANY", "SOME": modifier = .any
            case "ALL": modifier = .all
            case "NONE":
                modifier = .any
                isNegated = true
            default: break
            }
            if modifier != .direct { advance() }
        }
        let left = try expression(from: first)
        let leftHeight = height
        if isWord("NOT") {
            advance()
            guard isWord("IN") else { throw error("here, NOT can only precede IN", at: token) }
            isNegated.toggle()
        }
        guard let relation = try relation() else {
            if modifier != .direct { throw expected("an operator such as ==") }
            return .expression(left)
        }
        let options = try options()
        let right: ExpressionNode
        if relation == .in || relation == .between {
            right = try list(for: relation)
        } else {
            right = try expression()
        }
        try grow(on: max(leftHeight, height))
        let node = PredicateNode.compare(
            left, relation, right, modifier: modifier, options: options)
        guard isNegated else { return .predicate(node) }
        try grow(on: height)
        return .predicate(.not(node))
    }

    /// The operator that stands here; nil for what can follow a whole expression.
    private mutating func relation() throws(PredicateFormatError)
        -> PredicateNode.Comparison.Operator?
    {
        let relation: PredicateNode.Comparison.Operator
        switch token.kind {
        case .symbol("="), .symbol("=="): relation = .equal
        case .symbol("!="), .symbol("<>"): relation = .notEqual
        case .symbol("<"): relation = .less
        case .symbol("<="), .symbol("=<"): relation = .lessOrEqual
        case .symbol(">"): relation = .greater
        case .symbol(">="), .symbol("=>"): relation = .greaterOrEqual
        case .word(let word):
            let upper = word.uppercased()
            if let known = PredicateNode.Comparison.Operator(rawValue: upper) {
                relation = known
            } else if upper == "AND" || upper == "OR" {
                return nil
            } else if PredicateWords.foreign.contains(upper) {
                let place = token
                let name = foreign(upper)
                throw error("the operator \(name) is not supported", at: place)
            } else {
                throw error("\(word) is not an operator; expected one such as ==", at: token)
            }
        default: return nil
        }
        advance()
        return relation
    }

    /// The whole name of an operator that is none of ours: it may have hyphens.
    private mutating func foreign(_ beginning: String) -> String {
        var name = beginning
        advance()
        while isSymbol("-"), case .word(let word) = next.kind {
            name += "-\(word.uppercased())"
            advance()
            advance()
        }
        return name
    }

    /// The letters in brackets after an operator.
    private mutating func options() throws(PredicateFormatError)
        -> PredicateNode.Comparison.Options
    {
        guard take("[") else { return [] }
        let place = token
        guard case .word(let letters) = token.kind else {
            throw expected("an option such as [c]")
        }
        advance()
        var options: PredicateNode.Comparison.Options = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default:
                throw error("\(letter) is not an option: the options are c, d, n and l", at: place)
            }
        }
        try require("]", "a closing ]")
        return options
    }

    // MARK: Lists

    /// The right side of IN or BETWEEN.
    private mutating func list(for relation: PredicateNode.Comparison.Operator)
        throws(PredicateFormatError) -> ExpressionNode
    {
        let start = token
        var list: ExpressionNode
        if isSymbol("(") {
            list = try parenthesizedList()
            list = try expression(from: list)
        } else {
            list = try expression()
        }
        switch list {
        case .constant(.string) where relation == .in: break
        // Nothing is in nil: that is an answer.
        case .constant(.null): break
        case .constant:
            throw error("expected a list after \(relation.rawValue)", at: start)
        case .list(let values) where relation == .between && values.count != 2:
            throw error("BETWEEN needs two values, but there are \(values.count)", at: start)
        case .aggregate(let members) where relation == .between && members.count != 2:
            throw error("BETWEEN needs two values, but there are \(members.count)", at: start)
        default: break
        }
        return list
    }

    /// Members in parentheses. `IN (%@)` with a list says the same as `IN %@`, and one expression that is no
    /// constant is only grouped.
    private mutating func parenthesizedList() throws(PredicateFormatError) -> ExpressionNode {
        try deeper(token)
        defer { up() }
        advance()
        if take(")") {
            height = 1
            return .list([])
        }
        let members = try self.members(until: ")")
        if members.count == 1 {
            switch members[0] {
            case .constant: break
            default: return members[0]
            }
        }
        // A list among others adds its members.
        var flat: [ExpressionNode] = []
        for member in members {
            if case .list(let values) = member {
                flat += values.map { .constant($0) }
            } else {
                flat.append(member)
            }
        }
        try grow(on: height)
        return .braces(flat)
    }

    /// Expressions between commas, and what closes them.
    mutating func members(until closing: String) throws(PredicateFormatError) -> [ExpressionNode] {
        var members: [ExpressionNode] = []
        var highest = 0
        repeat {
            members.append(try expression())
            highest = max(highest, height)
        } while take(",")
        try require(
            closing,
            closing == ")" ? "a comma or a closing parenthesis" : "a comma or a closing \(closing)")
        try grow(on: highest)
        return members
    }
}
