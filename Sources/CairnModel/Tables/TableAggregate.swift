// A figure of all objects of a group.
//
// Threads: a value.

/// What is made of the values of an expression in all objects of a group.
package struct TableAggregate: Sendable, Hashable {
    /// A statistical function.
    package let function: ExpressionNode.Function
    /// The values; nil to count the objects.
    package let argument: ExpressionNode?

    package init(_ function: ExpressionNode.Function, _ argument: ExpressionNode?) {
        self.function = function
        self.argument = argument
    }

    /// What it makes of values that were collected.
    package static func value(
        of function: ExpressionNode.Function, _ values: [EvaluatedValue]
    ) -> EvaluatedValue {
        PredicateEvaluator.statistics(function, values)
    }
}

extension ExpressionNode.Function {
    /// Whether it makes one value of many.
    var isStatistical: Bool {
        switch self {
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation: true
        default: false
        }
    }
}

extension ExpressionNode.CollectionOperator {
    /// The function that does the same.
    var function: ExpressionNode.Function? {
        switch self {
        case .count: .count
        case .sum: .sum
        case .average: .average
        case .minimum: .minimum
        case .maximum: .maximum
        default: nil
        }
    }
}
