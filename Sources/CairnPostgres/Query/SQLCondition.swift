// A condition in SQL, and how it differs from the original one.
//
//   exact       true for the same rows
//   a superset  true for these and maybe for others: the rows have to be looked at again
//   everything  a superset that says nothing, as there is no SQL for the condition
//
// Invariants: NULL stands for false, which is what WHERE, EXISTS, AND and OR take it for; the only thing that tells them apart
// is NOT, which is written as IS NOT TRUE. Without parentheses round it, a condition binds more tightly than AND.
// Threads: a plain value.

struct SQLCondition: Sendable {
    /// The SQL; nil: everything matches.
    let text: SQLText?
    /// Whether it is true for the same rows.
    let isExact: Bool

    private init(text: SQLText?, isExact: Bool) {
        self.text = text
        self.isExact = isExact
    }

    static func exact(_ text: SQLText) -> SQLCondition { SQLCondition(text: text, isExact: true) }
    static func superset(_ text: SQLText) -> SQLCondition {
        SQLCondition(text: text, isExact: false)
    }
    /// Nothing is known.
    static let everything = SQLCondition(text: nil, isExact: false)
    static let always = exact("TRUE")
    static let never = exact("FALSE")

    static func constant(_ truth: Bool) -> SQLCondition { truth ? always : never }

    /// All of them.
    static func and(_ parts: [SQLCondition]) -> SQLCondition {
        if parts.count == 1 { return parts[0] }
        let isExact = parts.allSatisfy(\.isExact)
        let texts = parts.compactMap(\.text)
        if texts.isEmpty { return isExact ? always : everything }
        return SQLCondition(
            text: texts.count == 1 ? texts[0] : "(\(.joined(texts, " AND ")))", isExact: isExact)
    }

    /// Any of them.
    static func or(_ parts: [SQLCondition]) -> SQLCondition {
        if parts.count == 1 { return parts[0] }
        if parts.isEmpty { return never }
        let texts = parts.compactMap(\.text)
        // What may be true of every row says nothing, whatever stands beside it.
        guard texts.count == parts.count else { return everything }
        return SQLCondition(
            text: "(\(.joined(texts, " OR ")))", isExact: parts.allSatisfy(\.isExact))
    }

    /// The opposite. Of a superset nothing is known then: what it leaves out is right, and more may be.
    static prefix func ! (condition: SQLCondition) -> SQLCondition {
        guard condition.isExact, let text = condition.text else { return everything }
        return exact("(\(text)) IS NOT TRUE")
    }

    /// The same about a larger text, as of members in EXISTS.
    func map(_ wrap: (SQLText) -> SQLText) -> SQLCondition {
        SQLCondition(text: text.map(wrap), isExact: isExact)
    }
}
