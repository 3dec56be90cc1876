// A uniqueness constraint with options, checked and ready for rows.
//
// The predicate asks columns of the row itself, so that whether a row takes part never changes without the row. Texts are
// folded as predicates fold them.
//
// Invariants: the same values give the same answer, on every day and in every process with the same version of Unicode.
// Threads: immutable, so any.

import FoundationEssentials

/// How a uniqueness constraint with options applies to rows.
package final class KeyRule: Sendable {
    /// The description in the model.
    package let rule: UniquenessRule
    /// The columns that the predicate asks; their values are given in this order. Empty without a predicate.
    package let conditionColumns: [Int]
    /// Those of them of which more is asked than whether they are nil.
    package let valueColumns: Set<Int>
    /// The predicate with its constants as values of the attributes' types.
    package let condition: PredicateNode?
    /// By place among the columns of the key: whether texts of the column are folded.
    package let folds: [Bool]
    /// The condition, ready to be asked; nil without one.
    private let rowCondition: (any RowCondition)?

    init(
        _ rule: UniquenessRule, folds: [Bool], conditionColumns: [Int] = [],
        valueColumns: Set<Int> = [], condition: PredicateNode? = nil,
        rowCondition: (any RowCondition)? = nil
    ) {
        self.rule = rule
        self.folds = folds
        self.conditionColumns = conditionColumns
        self.valueColumns = valueColumns
        self.condition = condition
        self.rowCondition = rowCondition
    }

    // MARK: Asking

    /// Whether a row takes part.
    ///
    /// - Parameter values: those of ``conditionColumns``; of a to-one relationship any integer, or nil.
    package func holds(_ values: [Value]) -> Bool {
        rowCondition?.holds(values) ?? true
    }

    /// A text as it stands in a key.
    package func folded(_ text: String) -> String {
        text.folded(case: rule.isCaseInsensitive, diacritics: rule.isDiacriticInsensitive)
    }

    /// What is compared of a row's values, by column; nil if the row takes no part.
    ///
    /// - Parameter keys: the columns of the key.
    package func key(of values: [Value], _ keys: [Int]) -> [Value]? {
        guard holds(conditionColumns.map { Self.asked(values[$0]) }) else { return nil }
        return key(of: keys.map { values[$0] })
    }

    /// What is compared of the values of the key; nil if there is none.
    package func key(of values: [Value]) -> [Value]? {
        var key: [Value] = []
        for (place, value) in values.enumerated() {
            switch value {
            case .null: guard rule.nilsAreEqual else { return nil }
            case _ where value.isNoNumber: return nil
            case .string(let text) where folds[place]:
                key.append(.string(folded(text)))
                continue
            default: break
            }
            key.append(value)
        }
        return key
    }

    /// A value as the condition knows it.
    package static func asked(_ value: Value) -> Value {
        if case .objectID = value { .integer(1) } else { value }
    }

    /// Whether a condition that is joined by AND says at least as much: whoever meets it takes part.
    ///
    /// - Parameter parts: what is joined, with constants as values of the attributes' types.
    package func isImplied(by parts: [PredicateNode]) -> Bool {
        guard let condition else { return true }
        if case .and(let needed) = condition { return needed.allSatisfy(parts.contains) }
        return parts.contains(condition)
    }
}

extension KeyRule: Hashable {
    package static func == (one: KeyRule, other: KeyRule) -> Bool {
        one.rule == other.rule && one.conditionColumns == other.conditionColumns
            && one.folds == other.folds
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(rule) }
}

/// What decides whether a row takes part, by the values that are asked.
protocol RowCondition: AnyObject, Sendable {
    /// - Parameter values: the values of the columns that the predicate uses; for a to-one relationship any integer, or
    ///   nil.
    func holds(_ values: [Value]) -> Bool
}

extension Value {
    /// Whether it is a number that equals nothing.
    package var isNoNumber: Bool {
        switch self {
        case .double(let value): value.isNaN
        case .float(let value): value.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        case .decimal(let value): value.isNaN
        default: false
        }
    }
}
