// What a predicate captured: values, lists and ranges, and parts of other things that lead to these.

import CairnModel
import CairnStore
import FoundationEssentials

/// A node of a predicate that does not depend on the object that is asked about.
protocol CapturedExpression {
    /// What was captured; nil if it is not known.
    var captured: CapturedValue? { get }
}

/// A value of any type, which may be an optional.
struct CapturedValue {
    let value: Any
}

extension PredicateExpressions.Value: CapturedExpression {
    var captured: CapturedValue? { CapturedValue(value: value) }
}

extension PredicateExpressions.KeyPath: CapturedExpression {
    var captured: CapturedValue? {
        guard let whole = (root as? any CapturedExpression)?.captured?.value as? Root.Output else {
            return nil
        }
        return CapturedValue(value: whole[keyPath: keyPath])
    }
}

extension PredicateLowering {
    /// What was captured, as far as a store can take it.
    static func known(_ value: Any) -> LoweredExpression {
        if let constant = Value(typed: value) { return .constant(constant) }
        if let range = value as? any LowerableRange, let lowered = range.lowered { return lowered }
        if let list = value as? any Sequence, let values = values(of: list) {
            return .list(values)
        }
        return .captured((value as? any SomeOptional)?.wrapped ?? value)
    }

    private static func values(of list: some Sequence) -> [Value]? {
        var values: [Value] = []
        for element in list {
            guard let value = Value(typed: element) else { return nil }
            values.append(value)
        }
        return values
    }
}

/// An optional of any type.
private protocol SomeOptional {
    var wrapped: Any? { get }
}

extension Optional: SomeOptional {
    fileprivate var wrapped: Any? { map { $0 as Any } }
}

/// A range that was captured.
private protocol LowerableRange {
    var lowered: LoweredExpression? { get }
}

extension Range: LowerableRange {
    fileprivate var lowered: LoweredExpression? {
        guard let lower = Value(typed: lowerBound), let upper = Value(typed: upperBound) else {
            return nil
        }
        return .range(lower, upper, includesUpper: false)
    }
}

extension ClosedRange: LowerableRange {
    fileprivate var lowered: LoweredExpression? {
        guard let lower = Value(typed: lowerBound), let upper = Value(typed: upperBound) else {
            return nil
        }
        return .range(lower, upper, includesUpper: true)
    }
}
