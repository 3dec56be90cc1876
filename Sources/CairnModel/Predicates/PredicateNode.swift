// The tree of a predicate.
//
// The tree says what the text says, side by side and in its order; what a key means is not known here but to
// whoever holds the tree against a schema. Both a format and `#Predicate` become this tree, and everything
// that answers questions reads it: the evaluator in memory, and the store.
//
// Threads: a value.

/// A condition on objects.
///
/// Logic is two-valued: a comparison with nil is true or false, never unknown. `x == nil` and `x != nil` are exact tests;
/// `x != value` is true if x is nil; every other comparison with nil is false. A request can use SQL's logic instead: see
/// ``NullSemantics``.
public indirect enum PredicateNode: Sendable, Hashable, Codable {
    /// Always true or always false.
    case constant(Bool)
    /// A comparison of two expressions.
    case comparison(Comparison)
    /// All conditions; true if there are none.
    case and([PredicateNode])
    /// Any condition; false if there are none.
    case or([PredicateNode])
    /// The negation of a condition.
    case not(PredicateNode)

    /// Compares a property with one value; for IN, with a list of one value.
    public static func compare(_ key: String, _ operator: Comparison.Operator, _ value: Value)
        -> PredicateNode
    {
        let isList = `operator` == .in || `operator` == .between
        return .comparison(
            Comparison(.keyPath(key), `operator`, isList ? .list([value]) : .constant(value)))
    }

    /// Compares two expressions.
    public static func compare(
        _ left: ExpressionNode, _ operator: Comparison.Operator, _ right: ExpressionNode,
        modifier: Comparison.Modifier = .direct, options: Comparison.Options = []
    ) -> PredicateNode {
        .comparison(
            Comparison(left, `operator`, right, modifier: modifier, options: options))
    }

    /// Both conditions. Operands that are AND conditions are merged into one.
    public static func && (left: PredicateNode, right: PredicateNode) -> PredicateNode {
        .and(left.parts(ofAnd: true) + right.parts(ofAnd: true))
    }

    /// At least one of two conditions. Operands that are OR conditions are merged into one.
    public static func || (left: PredicateNode, right: PredicateNode) -> PredicateNode {
        .or(left.parts(ofAnd: false) + right.parts(ofAnd: false))
    }

    /// The negation.
    public static prefix func ! (node: PredicateNode) -> PredicateNode { .not(node) }

    private func parts(ofAnd isAnd: Bool) -> [PredicateNode] {
        switch self {
        case .and(let parts) where isAnd && !parts.isEmpty: parts
        case .or(let parts) where !isAnd && !parts.isEmpty: parts
        default: [self]
        }
    }
}
