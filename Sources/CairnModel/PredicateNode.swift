// The tree of a predicate: which objects are meant.

/// A condition on objects.
///
/// Logic is two-valued: a comparison with nil is true or false, never unknown. `x == nil` and `x != nil`
/// are exact tests; `x != value` is true where x is nil; every other comparison with nil is false.
public indirect enum PredicateNode: Sendable, Hashable {
    /// Always the same.
    case constant(Bool)
    /// A property compared with a value.
    case comparison(Comparison)
    /// All of them; true if there are none.
    case and([PredicateNode])
    /// Any of them; false if there are none.
    case or([PredicateNode])
    /// Not it.
    case not(PredicateNode)

    /// The comparison of a property with a value or a list of values.
    public struct Comparison: Sendable, Hashable {
        /// How the two are compared.
        public enum Operator: String, Sendable, Hashable, CaseIterable {
            /// Equal.
            case equal = "=="
            /// Not equal.
            case notEqual = "!="
            /// Less.
            case less = "<"
            /// Less or equal.
            case lessOrEqual = "<="
            /// Greater.
            case greater = ">"
            /// Greater or equal.
            case greaterOrEqual = ">="
            /// One of a list.
            case `in` = "IN"
            /// Between two values, both included.
            case between = "BETWEEN"
        }
        /// What is compared: a column by its (dotted) name, or the object itself.
        public enum Subject: Sendable, Hashable {
            /// The column of that name.
            case key(String)
            /// The object's id.
            case objectID
        }
        /// What is compared.
        public var subject: Subject
        /// How.
        public var `operator`: Operator
        /// With what: one value, or the members of a list.
        public var values: [Value]

        /// Compares a property with values.
        public init(_ subject: Subject, _ operator: Operator, _ values: [Value]) {
            self.subject = subject
            self.operator = `operator`
            self.values = values
        }
    }

    /// Compares a property with one value.
    public static func compare(_ key: String, _ operator: Comparison.Operator, _ value: Value)
        -> PredicateNode
    {
        .comparison(Comparison(.key(key), `operator`, [value]))
    }
}

/// One key of a sort order.
public struct SortKey: Sendable, Hashable {
    /// The column, by its (dotted) name.
    public var key: String
    /// Whether small values come first; nil counts as smallest.
    public var isAscending: Bool

    /// Sorts by a column.
    public init(_ key: String, ascending: Bool = true) {
        self.key = key
        self.isAscending = ascending
    }
}
