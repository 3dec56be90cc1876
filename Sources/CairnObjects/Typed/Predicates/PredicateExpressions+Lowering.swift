// How each node of a predicate is lowered; see `PredicateLowering`. Nodes that are not here are refused.

import CairnModel
import CairnStore
public import FoundationEssentials

// MARK: Leaves

extension PredicateExpressions.Variable: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.value(of: key)
    }
}

extension PredicateExpressions.KeyPath: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        if let captured { return PredicateLowering.known(captured.value) }
        let root = try lowering.lower(root)
        switch (root, kind) {
        case (.captured(let whole), _):
            guard let part = whole[keyPath: keyPath as AnyKeyPath] else { break }
            return PredicateLowering.known(part)
        case (.constant(.string(let text)), .collectionCount):
            return .constant(.integer(Int64(text.count)))
        case (.constant(.string(let text)), .collectionIsEmpty):
            return .constant(.boolean(text.isEmpty))
        case (.list(let values), .collectionCount):
            return .constant(.integer(Int64(values.count)))
        case (.list(let values), .collectionIsEmpty): return .constant(.boolean(values.isEmpty))
        case (.collection(let node), .collectionCount):
            return .value(.collection(.count, of: node, path: nil))
        case (.collection(let node), .collectionIsEmpty):
            let count = ExpressionNode.collection(.count, of: node, path: nil)
            return .condition(.compare(count, .equal, .constant(.integer(0))))
        case (.value(let node), .collectionCount):
            return .value(.function(.length, [node]))
        case (.value(let node), .collectionIsEmpty):
            return .condition(.compare(node, .equal, .constant(.string(""))))
        default: break
        }
        return try lowering.property(keyPath, of: root)
    }
}

extension PredicateExpressions.Value: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        PredicateLowering.known(value)
    }
}

extension PredicateExpressions.NilLiteral: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        .constant(.null)
    }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.comparison(lowering.lower(lhs), .equal, lowering.lower(rhs))
    }
}

extension PredicateExpressions.NotEqual: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.comparison(lowering.lower(lhs), .notEqual, lowering.lower(rhs))
    }
}

extension PredicateExpressions.Comparison: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        let operation: PredicateNode.Comparison.Operator =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw lowering.unsupported("an unknown comparison")
            }
        return try lowering.comparison(lowering.lower(lhs), operation, lowering.lower(rhs))
    }
}

// MARK: Logic

extension PredicateExpressions.Conjunction: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        .condition(try lowering.condition(lhs) && lowering.condition(rhs))
    }
}

extension PredicateExpressions.Disjunction: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        .condition(try lowering.condition(lhs) || lowering.condition(rhs))
    }
}

extension PredicateExpressions.Negation: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        .condition(.not(try lowering.condition(wrapped)))
    }
}

extension PredicateExpressions.Conditional: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        let test = try lowering.condition(test)
        // A value that is chosen, unless it is true or false.
        if Output.self != Bool.self {
            guard let one = try lowering.lower(trueBranch).node,
                let other = try lowering.lower(falseBranch).node
            else { throw lowering.unsupported("a choice between parts that are not values") }
            return .value(.conditional(test, one, other))
        }
        return .condition(
            .or([
                .and([test, try lowering.condition(trueBranch)]),
                .and([.not(test), try lowering.condition(falseBranch)]),
            ]))
    }
}

// MARK: Arithmetic

extension PredicateLowering {
    fileprivate mutating func calculation(
        _ function: ExpressionNode.Function, _ left: Any, _ right: Any
    ) throws(StoreError) -> LoweredExpression {
        guard let one = try lower(left).node, let other = try lower(right).node else {
            throw unsupported("arithmetic with something that is not a number")
        }
        return Self.calculated(function, one, other)
    }
}

extension PredicateExpressions.Arithmetic: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        let function: ExpressionNode.Function =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw lowering.unsupported("an unknown operator")
            }
        return try lowering.calculation(function, lhs, rhs)
    }
}

extension PredicateExpressions.FloatDivision: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.calculation(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.IntDivision: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.calculation(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.IntRemainder: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.calculation(.modulus, lhs, rhs)
    }
}

extension PredicateExpressions.UnaryMinus: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        guard let node = try lowering.lower(wrapped).node else {
            throw lowering.unsupported("a minus sign before something that is not a number")
        }
        return PredicateLowering.calculated(.subtract, .constant(.integer(0)), node)
    }
}

// MARK: Optionals

extension PredicateExpressions.ForcedUnwrap: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.lower(inner)
    }
}

extension PredicateExpressions.OptionalFlatMap: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        let wrapped = try lowering.lower(wrapped)
        if case .constant(.null) = wrapped { return .constant(.null) }
        lowering.bind(variable.key, to: wrapped)
        return try lowering.optional(lowering.lower(transform), of: wrapped)
    }
}

extension PredicateExpressions.NilCoalesce: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        switch (try lowering.lower(lhs), try lowering.lower(rhs)) {
        case (.value(let node), .constant(let other)): return .coalesced(node, other)
        case (.constant(let value), .constant(let other)):
            return .constant(value.isNull ? other : value)
        case (.constant(let value), let other): return value.isNull ? other : .constant(value)
        case (.optionalCondition(let condition, let present), .constant(.boolean(let other))):
            return .condition(
                other ? .or([.not(present), condition]) : .and([present, condition]))
        case (.optionalCondition(let condition, let present), .condition(let other)):
            return .condition(.or([.and([present, condition]), .and([.not(present), other])]))
        case (.object(let node), .object(let other)):
            return .object(
                .conditional(.compare(node, .notEqual, .constant(.null)), node, other))
        case (.value(let node), let right), (.object(let node), let right):
            guard let other = right.node else { fallthrough }
            return .value(
                .conditional(.compare(node, .notEqual, .constant(.null)), node, other))
        default: throw lowering.unsupported("'??' between parts that are not values")
        }
    }
}

// MARK: Lists

extension PredicateExpressions.SequenceContains: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        switch try lowering.lower(sequence) {
        case .list(let values):
            return try lowering.membership(lowering.lower(element), in: values)
        case .collection(let collection):
            guard let node = try lowering.lower(element).node else {
                throw lowering.unsupported("'contains' with something that is not a value")
            }
            return .condition(.compare(collection, .contains, node))
        default: throw lowering.unsupported("'contains' of something that is not a collection")
        }
    }
}

extension PredicateExpressions.SequenceContainsWhere: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        let members = try lowering.members(sequence, variable.key, test, negated: false)
        return .condition(
            .compare(
                .collection(.count, of: members, path: nil), .greater, .constant(.integer(0))))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        let members = try lowering.members(sequence, variable.key, test, negated: true)
        return .condition(
            .compare(.collection(.count, of: members, path: nil), .equal, .constant(.integer(0))))
    }
}

extension PredicateExpressions.Filter: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        .collection(try lowering.members(sequence, variable.key, filter, negated: false))
    }
}

// MARK: Texts

extension PredicateExpressions.CollectionContainsCollection: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.texts(lowering.lower(base), .contains, lowering.lower(other))
    }
}

extension PredicateExpressions.SequenceStartsWith: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.texts(lowering.lower(base), .beginsWith, lowering.lower(prefix))
    }
}

extension PredicateExpressions.StringContainsRegex: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        guard let value = regex as? PredicateExpressions.Value<PredicateExpressions.PredicateRegex>
        else { throw lowering.unsupported("a regular expression that is not a constant") }
        // MATCHES is of the whole text; around what is found may be anything, line ends, too.
        let pattern = "(?s:.*)(?:\(value.value.stringRepresentation))(?s:.*)"
        return try lowering.texts(
            lowering.lower(subject), .matches, .constant(.string(pattern)))
    }
}

// MARK: Ranges

extension PredicateExpressions.RangeExpressionContains: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        guard case .range(let lower, let upper, let includesUpper) = try lowering.lower(range)
        else { throw lowering.unsupported("'contains' of a range whose ends are not constants") }
        let element = try lowering.lower(element)
        let parts = [
            try lowering.comparison(element, .greaterOrEqual, .constant(lower)),
            try lowering.comparison(
                element, includesUpper ? .lessOrEqual : .less, .constant(upper)),
        ]
        return .condition(
            .and(parts.compactMap { if case .condition(let part) = $0 { part } else { nil } }))
    }
}

extension PredicateExpressions.Range: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.range(lower, upper, includesUpper: false)
    }
}

extension PredicateExpressions.ClosedRange: LowerableExpression {
    func lowered(_ lowering: inout PredicateLowering) throws(StoreError) -> LoweredExpression {
        try lowering.range(lower, upper, includesUpper: true)
    }
}

extension PredicateLowering {
    fileprivate mutating func range(_ lower: Any, _ upper: Any, includesUpper: Bool)
        throws(StoreError) -> LoweredExpression
    {
        guard case .constant(let least) = try self.lower(lower),
            case .constant(let most) = try self.lower(upper)
        else { throw unsupported("a range whose ends are not constants") }
        return .range(least, most, includesUpper: includesUpper)
    }
}
