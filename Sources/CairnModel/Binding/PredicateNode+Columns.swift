// Describes what in a predicate goes beyond comparing columns with constants.

extension PredicateNode.Comparison {
    /// Names the first part that goes beyond comparing a property with constants; for errors of the form "… is not
    /// supported".
    package var beyondColumns: String {
        if modifier != .direct { return modifier.rawValue }
        if let part = left.beyondColumns ?? right.beyondColumns { return part }
        if !options.isEmpty { return "the option [\(options.letters)]" }
        if simple == nil {
            if left.subject != nil, right.subject != nil { return "comparing two properties" }
            if left.operand != nil, right.operand != nil { return "comparing two constants" }
            return "a constant left of \(`operator`.rawValue)"
        }
        return "the operator \(`operator`.rawValue)"
    }

    /// The answer, if both sides are constant and it is the same for every object.
    package var constantTruth: Bool? {
        guard modifier == .direct, case .constant(let one) = left,
            case .constant(let other) = right
        else { return nil }
        let comparison = ValueComparison(operator: `operator`, options: options)
        switch `operator` {
        case .like: return comparison.isLike(one, other)
        // Whoever is asked has to compile it, or to say that it is no regular expression.
        case .matches: return nil
        default: return comparison.holds(one, other)
        }
    }
}

extension ExpressionNode {
    /// Names the first part that is neither a constant nor a property.
    fileprivate var beyondColumns: String? {
        switch self {
        case .constant, .list, .evaluatedObject, .keyPath: nil
        case .variable(let name): "the variable $\(name)"
        case .anyKey: "ANYKEY"
        case .path: "a path from an expression"
        case .collection(let operation, _, _): "the collection operator @\(operation.rawValue)"
        case .index: "an index in brackets"
        case .function(let function, _):
            function.sign.map { "the operator \($0.text) between values" }
                ?? "the function \(function.rawValue)"
        case .call(_, let selector, _): "the function \(selector)"
        case .cast: "CAST"
        case .conditional: "TERNARY"
        case .subquery: "SUBQUERY"
        case .set(let operation, _, _): operation.rawValue
        case .aggregate: "a property in a list"
        case .assignment: "giving a value a name"
        case .fetch: "FETCH"
        }
    }
}
