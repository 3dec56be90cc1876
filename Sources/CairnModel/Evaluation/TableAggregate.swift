// An aggregate over all objects of a group.
//
// Threads: a value.

package import FoundationEssentials

/// An aggregate of the values of an expression over all objects of a group.
package struct TableAggregate: Sendable, Hashable {
    /// A statistical function.
    package let function: ExpressionNode.Function
    /// The values; nil to count the objects.
    package let argument: ExpressionNode?

    package init(_ function: ExpressionNode.Function, _ argument: ExpressionNode?) {
        self.function = function
        self.argument = argument
    }

    /// The sum of integers: an integer if it is one of 64 bits, else a decimal. It does not depend on their order.
    package static func sum(_ whole: Int128) -> Value {
        if let integer = Int64(exactly: whole) { return .integer(integer) }
        return Decimal(string: whole.description).map { .decimal($0) } ?? .null
    }

    /// The average of so many integers.
    package static func average(_ whole: Int128, of count: Int) -> Value {
        guard case .decimal(let sum) = sum(whole) else {
            return .double(Double(whole) / Double(count))
        }
        return average(sum, of: count)
    }

    /// The average of so many numbers whose sum is a decimal.
    package static func average(_ sum: Decimal, of count: Int) -> Value {
        (Number.decimal(sum) / .integer(Int64(count)))?.value ?? .null
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
    package var isStatistical: Bool {
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
