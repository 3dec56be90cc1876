// An operand of a comparison, as far as it has an equivalent in SQL.
//
// Threads: plain values, but for the members' scope, which one call owns.

import CairnModel

enum SQLOperand {
    case constant(Value)
    case list([Value])
    /// A value in each row.
    case value(SQLValue)
    /// Several operands.
    case values([SQLOperand])
    case members(SQLMembers)

    var value: SQLValue? {
        if case .value(let value) = self { value } else { nil }
    }

    var isNull: Bool {
        if case .constant(.null) = self { true } else { false }
    }
}

/// A value that the server computes for each row.
struct SQLValue {
    let text: SQLText
    let kind: SQLKind
    let isNullable: Bool
    /// The beginning of a text, where an index has that; see `LongValue`.
    var beginning: SQLText?

    init(text: SQLText, kind: SQLKind, isNullable: Bool, beginning: SQLText? = nil) {
        self.text = text
        self.kind = kind
        self.isNullable = isNullable
        self.beginning = beginning
    }

    var isNull: SQLCondition { isNullable ? .exact("\(text) IS NULL") : .never }
    var isNotNull: SQLCondition { isNullable ? .exact("\(text) IS NOT NULL") : .always }

    /// That it is a number or a moment, or nil: what is none equals itself for the server and is the greatest or the least.
    var isNumber: [SQLCondition] {
        kind.notANumber.map { [.exact("\(text) <> \(raw: $0)")] } ?? []
    }
}

/// What a to-many relationship leads to.
struct SQLMembers {
    let scope: SQLScope
    /// What there is of each member: the member itself, or a value of it.
    let element: SQLValue
    /// The last member itself; nil if a to-one relationship follows, which may be nil.
    let place: SQLPlace?
    /// The reference before the first of the relationships: where it is nil, no way leads to the members.
    let way: String?

    /// How many there are, of those that meet a condition.
    func count(_ condition: SQLText? = nil) -> SQLValue {
        let count: SQLText = "(SELECT count(*) \(scope.sql(condition)))"
        guard let way else { return SQLValue(text: count, kind: .integer, isNullable: false) }
        return SQLValue(
            text: "CASE WHEN \(raw: way) IS NOT NULL THEN \(count) END", kind: .integer,
            isNullable: true)
    }

    /// Whether a condition is true of one of them.
    func contain(_ condition: SQLCondition) -> SQLCondition {
        condition.map { "EXISTS (SELECT 1 \(scope.sql($0)))" }
    }

    /// Whether a condition is true of all of them. One that is true of more says so of all more often: a superset stays one.
    func allMeet(_ condition: SQLCondition) -> SQLCondition {
        condition.map { "NOT EXISTS (SELECT 1 \(scope.sql("(\($0)) IS NOT TRUE")))" }
    }
}

/// An object on a path: what leads to it, and its row, once something is asked of that.
struct SQLPlace {
    let scope: SQLScope
    /// The name of its row; nil: it is not joined yet.
    let alias: String?
    let entity: SchemaEntity
    /// Its number.
    let id: String
    let isNullable: Bool
    /// Whether there may be no row of that number.
    let mayDangle: Bool
}
