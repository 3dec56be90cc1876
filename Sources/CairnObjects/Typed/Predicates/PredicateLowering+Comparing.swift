// Comparisons, membership and what takes the place of nil, of parts that were lowered.

import CairnModel
import CairnStore

extension PredicateLowering {
    typealias Operator = PredicateNode.Comparison.Operator

    /// A comparison of two parts.
    func comparison(
        _ left: LoweredExpression, _ operation: Operator, _ right: LoweredExpression
    ) throws(StoreError) -> LoweredExpression {
        switch (left, right) {
        case (.constant(let one), .constant(let other)):
            return .condition(.constant(Self.holds(one, operation, other)))
        case (.constant, _), (.list, _):
            guard case .list = right else {
                return try comparison(right, Self.turned(operation), left)
            }
        case (.coalesced(let node, let other), .constant(let value)):
            return .condition(
                Self.coalesced(
                    node, operation, value, whenNil: Self.holds(other, operation, value)))
        case (.condition(let condition), .constant(.boolean(let truth))):
            guard operation == .equal || operation == .notEqual else { break }
            return .condition((operation == .equal) == truth ? condition : .not(condition))
        case (.optionalCondition(let condition, let present), .constant(let value)):
            guard operation == .equal || operation == .notEqual else { break }
            let equal: PredicateNode =
                switch value {
                case .null: .not(present)
                case .boolean(let truth): .and([present, truth ? condition : .not(condition)])
                default: .constant(false)
                }
            return .condition(operation == .equal ? equal : .not(equal))
        case (.composite(let node, _), .constant(.null)), (.collection(let node), .constant(.null)):
            guard operation == .equal || operation == .notEqual else { break }
            // The model knows what it has in it; a collection is nil if no way leads to it.
            let whole =
                if case .composite = left { node } else {
                    ExpressionNode.collection(.count, of: node, path: nil)
                }
            return .condition(.compare(whole, operation, .constant(.null)))
        default:
            guard let one = left.node, let other = right.node else { break }
            return .condition(.compare(one, operation, other))
        }
        throw unsupported(
            incomparable(left) ?? incomparable(right)
                ?? "a comparison of parts that are neither property nor constant")
    }

    /// What is wrong with a side that nothing can be compared with.
    private func incomparable(_ part: LoweredExpression) -> String? {
        switch part {
        case .captured(let value): "a constant of type \(type(of: value))"
        case .composite(let node, _):
            "\(node) as a whole, which is composite and can only be compared with nil,"
        default: nil
        }
    }

    /// Whether a value is one of a list.
    func membership(_ element: LoweredExpression, in values: [Value]) throws(StoreError)
        -> LoweredExpression
    {
        let present = values.filter { !$0.isNull }
        switch element {
        case .value(let node), .object(let node):
            let isMember = PredicateNode.compare(node, .in, .list(present))
            if present.count == values.count || node == .evaluatedObject {
                return .condition(isMember)
            }
            return .condition(.or([isMember, .compare(node, .equal, .constant(.null))]))
        case .coalesced(let node, let other):
            let isMember = PredicateNode.compare(node, .in, .list(present))
            let otherIs = values.contains { Self.holds($0, .equal, other) }
            return .condition(
                otherIs
                    ? .or([isMember, .compare(node, .equal, .constant(.null))]) : isMember)
        case .constant(let value):
            return .condition(.constant(values.contains { Self.holds($0, .equal, value) }))
        default: throw unsupported("'contains' with something that is not a property")
        }
    }

    /// A question of two texts.
    func texts(_ whole: LoweredExpression, _ operation: Operator, _ part: LoweredExpression)
        throws(StoreError) -> LoweredExpression
    {
        guard let one = whole.node, let other = part.node else {
            throw unsupported("\(operation.rawValue) of something that is not a string")
        }
        if case .coalesced(let node, .string(let text)) = whole, case .constant(let value) = part {
            return .condition(
                Self.coalesced(
                    node, operation, value,
                    whenNil: Self.matches(.string(text), operation, value)))
        }
        return .condition(.compare(one, operation, other))
    }

    /// What a question of two texts that are known is answered. What is no pattern is an error when the fetch is made ready.
    private static func matches(_ text: Value, _ operation: Operator, _ part: Value) -> Bool {
        let question = PredicateNode.compare(.constant(text), operation, .constant(part))
        return (try? PredicateEvaluator(question))?.matches(.null) ?? false
    }

    static func coalesced(
        _ node: ExpressionNode, _ operation: Operator, _ value: Value, whenNil: Bool
    ) -> PredicateNode {
        let comparison = PredicateNode.compare(node, operation, .constant(value))
        return whenNil
            ? .or([comparison, .compare(node, .equal, .constant(.null))])
            : .and([comparison, .compare(node, .notEqual, .constant(.null))])
    }

    private static func turned(_ operation: Operator) -> Operator {
        switch operation {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: operation
        }
    }

    private static func holds(_ one: Value, _ operation: Operator, _ other: Value) -> Bool {
        ValueComparison(operator: operation).holds(one, other)
    }
}
