// What an optional chain gives: what it says of the value, or nil.
//
//   1. What is made of the value alone is nil where the value is: a property of it, a count of members that it leads to, a
//      calculation with either. It stays as it is, so that whoever plans a fetch sees the path.
//   2. Anything else asks first whether there is a value.

import CairnModel
import CairnStore

extension PredicateLowering {
    /// A part that is made of a value that may be nil.
    func optional(_ result: LoweredExpression, of wrapped: LoweredExpression) throws(StoreError)
        -> LoweredExpression
    {
        let value: ExpressionNode
        switch wrapped {
        case .value(let node), .object(let node), .composite(let node, _): value = node
        // It is there.
        case .constant, .list, .range, .captured: return result
        default:
            guard let node = wrapped.node else {
                throw unsupported("an optional that is neither a property nor a value")
            }
            value = node
        }
        let present = PredicateNode.compare(value, .notEqual, .constant(.null))
        switch result {
        case .condition(let condition): return .optionalCondition(condition, present: present)
        case .optionalCondition(let condition, let inner):
            return .optionalCondition(condition, present: present && inner)
        case .object(let node) where node.isNil(without: value): return result
        case .object(let node): return .object(.conditional(present, node, .constant(.null)))
        case .composite(let node, _) where node.isNil(without: value): return result
        case .collection(let node) where node.isNil(without: value): return result
        default:
            guard let node = result.node else {
                throw unsupported("an optional chain that does not give a value")
            }
            if node.isNil(without: value) { return result }
            return .value(.conditional(present, node, .constant(.null)))
        }
    }

    /// What two values make; of constants a constant.
    static func calculated(
        _ function: ExpressionNode.Function, _ one: ExpressionNode, _ other: ExpressionNode
    ) -> LoweredExpression {
        let node = ExpressionNode.function(function, [one, other])
        guard case .constant = one, case .constant = other,
            let evaluator = try? ExpressionEvaluator(node),
            case .value(let value) = evaluator.value(for: .null), !value.isNull
        else { return .value(node) }
        return .constant(value)
    }
}

extension ExpressionNode {
    /// Whether it is nil wherever another expression is, because it is made of that.
    fileprivate func isNil(without value: ExpressionNode) -> Bool {
        if self == value { return true }
        return switch self {
        case .keyPath(let path):
            if case .keyPath(let start) = value { path.hasPrefix("\(start).") } else { false }
        case .path(let base, let path):
            if case .path(let other, let start) = value, base == other {
                path.hasPrefix("\(start).")
            } else {
                base.isNil(without: value)
            }
        case .collection(_, let base, _), .index(let base, _), .subquery(let base, _, _),
            .cast(let base, _):
            base.isNil(without: value)
        case .function(let function, let parts):
            !function.isStatistical && parts.contains { $0.isNil(without: value) }
        default: false
        }
    }
}
