// A condition in its text form, and which of the sample's objects it finds.

import CairnModel
import Testing

/// A condition, and what it finds.
struct Condition: Sendable {
    let entity: String
    let format: String
    let arguments: [Value]
    /// What is found, in the order of the names.
    let expected: String
    /// The same with the nil of SQL; nil: that is not asked.
    let expectedBySQL: String?

    /// A condition on items.
    init(
        _ format: String, _ expected: String, sql: String? = nil, of entity: String = "Item",
        _ arguments: Value...
    ) {
        self.entity = entity
        self.format = format
        self.arguments = arguments
        self.expected = expected
        expectedBySQL = sql
    }
}

/// Conditions about one thing: one store answers all of them.
struct ConditionTable: Sendable, CustomTestStringConvertible {
    let title: String
    let conditions: [Condition]

    var testDescription: String { title }

    init(_ title: String, _ conditions: [Condition]) {
        self.title = title
        self.conditions = conditions
    }

    static let all =
        comparisons + texts + nils + relationships + calculations
}
