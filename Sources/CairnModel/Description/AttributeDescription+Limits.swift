// Limits, lengths and patterns of attributes as conditions: Core Data's models have them among their validation predicates.
//
//   SELF >= 3          the least value of a number or a date
//   length <= 50       the greatest number of characters of a text
//   SELF MATCHES "…"   the pattern of a text
//
// Anything else is a condition of the model's author.

extension AttributeDescription {
    /// The limits as conditions, each with the error that says it does not hold.
    package var limits: [(predicate: PredicateNode, error: ValidationFailure.Code)] {
        var limits: [(PredicateNode, ValidationFailure.Code)] = []
        func add(
            _ subject: ExpressionNode, _ operation: PredicateNode.Comparison.Operator,
            _ value: Value?, _ error: ValidationFailure.Code
        ) {
            guard let value else { return }
            limits.append((.compare(subject, operation, .constant(value)), error))
        }
        let isDate = type == .date
        add(
            .evaluatedObject, .greaterOrEqual, minimumValue, isDate ? .dateTooSoon : .numberTooSmall
        )
        add(.evaluatedObject, .lessOrEqual, maximumValue, isDate ? .dateTooLate : .numberTooLarge)
        let length = ExpressionNode.keyPath("length")
        add(length, .greaterOrEqual, minimumLength.map { .integer(Int64($0)) }, .stringTooShort)
        add(length, .lessOrEqual, maximumLength.map { .integer(Int64($0)) }, .stringTooLong)
        add(
            .evaluatedObject, .matches, regularExpression.map { .string($0) },
            .stringPatternMismatch)
        return limits
    }

    /// Takes a condition for a limit; false if it is none, or the attribute has another one already.
    package mutating func takeLimit(_ condition: PredicateNode) -> Bool {
        guard case .comparison(let comparison) = condition, comparison.modifier == .direct,
            case .constant(let value) = comparison.right
        else { return false }
        switch (comparison.left, comparison.operator) {
        case (.evaluatedObject, .lessOrEqual):
            guard hasLimits, maximumValue == nil, let limit = value.restated(as: type) else {
                return false
            }
            maximumValue = limit
        case (.evaluatedObject, .greaterOrEqual):
            guard hasLimits, minimumValue == nil, let limit = value.restated(as: type) else {
                return false
            }
            minimumValue = limit
        case (.keyPath("length"), .lessOrEqual):
            guard maximumLength == nil, let length = length(value) else { return false }
            maximumLength = length
        case (.keyPath("length"), .greaterOrEqual):
            guard minimumLength == nil, let length = length(value) else { return false }
            minimumLength = length
        case (.evaluatedObject, .matches):
            guard type == .string, regularExpression == nil, comparison.options == [],
                case .string(let pattern) = value
            else { return false }
            regularExpression = pattern
        default: return false
        }
        return true
    }

    private func length(_ value: Value) -> Int? {
        guard type == .string, case .integer(let number) = value, number >= 0 else { return nil }
        return Int(exactly: number)
    }

    private var hasLimits: Bool {
        switch type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: true
        default: false
        }
    }
}
