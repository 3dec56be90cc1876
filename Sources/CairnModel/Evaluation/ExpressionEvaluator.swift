// Evaluates one expression for many objects, as a predicate does with both sides of a comparison, for callers that need the
// values themselves: sort keys, properties of dictionaries, groups and aggregates.
//
// Threads: immutable, so any; one evaluation in one thread.

package import FoundationEssentials

/// An expression, ready for evaluation.
package struct ExpressionEvaluator: Sendable {
    /// The expression.
    package let expression: ExpressionNode
    private let evaluator: PredicateEvaluator

    /// Makes an expression ready.
    ///
    /// - Parameter now: what `now()` gives.
    /// - Throws: `PredicateFormatError` naming a regular expression that is none.
    package init(_ expression: ExpressionNode, now: Date = Date()) throws(PredicateFormatError) {
        self.expression = expression
        // A comparison with it finds all patterns inside.
        evaluator = try PredicateEvaluator(.compare(expression, .equal, expression), now: now)
    }

    /// What the expression gives for an object.
    package func value(for object: any EvaluatedObject) -> EvaluatedValue {
        value(for: .object(object))
    }

    /// What the expression gives for an object, a value or a collection, and with values for variables.
    package func value(
        for value: EvaluatedValue, variables: [String: EvaluatedValue] = [:],
        calls: FunctionCalls? = nil
    ) -> EvaluatedValue {
        var scope = EvaluationScope(object: value, variables: variables, calls: calls)
        return evaluator.evaluate(expression, &scope)
    }
}

extension PredicateEvaluator {
    /// Whether an object or a value matches, with values for variables.
    package func matches(_ value: EvaluatedValue, variables: [String: EvaluatedValue]) -> Bool {
        var scope = EvaluationScope(object: value, variables: variables)
        return holds(predicate, &scope)
    }
}
