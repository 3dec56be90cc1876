// The keywords of the predicate language, and the syntax of words.

/// The keywords of the predicate language.
enum PredicateWords {
    /// Words that stand between operands or before a comparison.
    static let operators: Set<String> = [
        "AND", "OR", "NOT", "IN", "BETWEEN", "ALL", "ANY", "SOME", "NONE", "LIKE", "MATCHES",
        "CONTAINS", "BEGINSWITH", "ENDSWITH",
    ]
    /// Words that stand for a value or a whole predicate.
    static let constants: Set<String> = [
        "NULL", "NIL", "SELF", "TRUE", "FALSE", "YES", "NO", "TRUEPREDICATE", "FALSEPREDICATE",
        "ANYKEY",
    ]
    /// Words that are keys where nothing of their own meaning follows, and that other readers reserve.
    static let reservedElsewhere: Set<String> = [
        "FIRST", "LAST", "SIZE", "SUBQUERY", "CAST", "TERNARY", "FETCH", "FUNCTION",
        "CASEINSENSITIVE", "CI",
    ]
    /// Operators that are none of ours.
    static let foreign: Set<String> = ["TOKENMATCHES", "UTI"]

    /// Whether a word can begin with it.
    static func isStart(_ character: Unicode.Scalar) -> Bool {
        character == "_" || character.properties.isXIDStart
    }

    /// Whether it can be inside a word.
    static func isPart(_ character: Unicode.Scalar) -> Bool {
        character == "_" || character.properties.isXIDContinue
    }

    /// Whether a key must, or had better, be written with `#`.
    static func needsEscape(_ word: String) -> Bool {
        let upper = word.uppercased()
        return operators.contains(upper) || constants.contains(upper)
            || reservedElsewhere.contains(upper)
    }
}
