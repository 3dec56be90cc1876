// Limits, lengths and patterns of attributes: Core Data archives them as validation predicates.
//
//   SELF >= 3          the least value of a number or a date
//   length <= 50       the greatest number of characters of a text
//   SELF MATCHES "…"   the pattern of a text
//
// Anything else is a condition of the model's author.

import CairnModel

enum ArchivedLimit {
    /// Takes a predicate for a limit of an attribute; false if it is none.
    static func read(_ predicate: ArchivedObject, into attribute: inout AttributeDescription)
        -> Bool
    {
        guard predicate.type == "NSComparisonPredicate",
            let left = predicate.object("NSLeftExpression"),
            let right = predicate.object("NSRightExpression"),
            right.type == "NSConstantValueExpression",
            let operation = predicate.object("NSPredicateOperator"),
            operation.integer("NSModifier") ?? 0 == 0,
            let type = operation.integer("NSOperatorType"),
            let subject = try? ArchivedTree.expression(left)
        else { return false }
        let value = right["NSConstantValue"]
        switch (subject, type) {
        case (.evaluatedObject, 1), (.evaluatedObject, 3):
            guard hasLimits(attribute.type),
                let limit = ArchivedValue.value(value, in: right, as: attribute.type)
            else { return false }
            if type == 1 {
                guard attribute.maximumValue == nil else { return false }
                attribute.maximumValue = limit
            } else {
                guard attribute.minimumValue == nil else { return false }
                attribute.minimumValue = limit
            }
            return true
        case (.keyPath("length"), 1), (.keyPath("length"), 3):
            guard attribute.type == .string, let number = value.integer, number >= 0 else {
                return false
            }
            if type == 1 {
                guard attribute.maximumLength == nil else { return false }
                attribute.maximumLength = Int(number)
            } else {
                guard attribute.minimumLength == nil else { return false }
                attribute.minimumLength = Int(number)
            }
            return true
        case (.evaluatedObject, 6):
            guard attribute.type == .string, attribute.regularExpression == nil,
                let pattern = right.text("NSConstantValue")
            else { return false }
            attribute.regularExpression = pattern
            return true
        default: return false
        }
    }

    private static func hasLimits(_ type: AttributeType) -> Bool {
        switch type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: true
        default: false
        }
    }
}
