// The comparison of two expressions, and the simple form that most of them have.

extension PredicateNode {
    /// The comparison of two expressions.
    public struct Comparison: Sendable, Hashable, Codable {
        /// How the two are compared.
        public enum Operator: String, Sendable, Hashable, CaseIterable, Codable {
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
            /// In a list, a member of a collection, or a substring.
            case `in` = "IN"
            /// Between two values, inclusive.
            case between = "BETWEEN"
            /// The left side contains the right one: a string contains a substring, a collection a member.
            case contains = "CONTAINS"
            /// A string has a prefix.
            case beginsWith = "BEGINSWITH"
            /// A string has a suffix.
            case endsWith = "ENDSWITH"
            /// A whole string matches a pattern of `*` (any characters) and `?` (one character).
            case like = "LIKE"
            /// A whole string matches a regular expression.
            case matches = "MATCHES"
        }

        /// For how many members of a collection the comparison must be true.
        public enum Modifier: String, Sendable, Hashable, Codable {
            /// There is no collection, or it is compared as a whole.
            case direct
            /// For all members; true if there are none.
            case all = "ALL"
            /// For at least one member. `SOME` means the same, and `NONE` the opposite.
            case any = "ANY"
        }

        /// How strings are compared. Without options they are compared scalar by scalar, so that canonically equivalent
        /// strings differ, as they do in keys; with `c`, `d` or `l` they are equal. The raw values are those of archived
        /// predicates.
        public struct Options: OptionSet, Sendable, Hashable, Codable {
            /// The bits.
            public let rawValue: UInt8

            /// The options with these bits.
            public init(rawValue: UInt8) { self.rawValue = rawValue }

            /// `c`: case-insensitive, in the same way in every locale.
            public static let caseInsensitive = Options(rawValue: 1)
            /// `d`: ignoring diacritics.
            public static let diacriticInsensitive = Options(rawValue: 2)
            /// `n`: both sides are already normalized and are compared by their bytes.
            public static let normalized = Options(rawValue: 4)
            /// `l`: as people read and sort strings, not by bytes: canonically equivalent strings are equal.
            public static let localeSensitive = Options(rawValue: 8)
        }

        /// The left side.
        public var left: ExpressionNode
        /// The right side.
        public var right: ExpressionNode
        /// The operator.
        public var `operator`: Operator
        /// For how many members of a collection on the left side the comparison must be true.
        public var modifier: Modifier
        /// How strings are compared.
        public var options: Options

        /// Compares two expressions.
        public init(
            _ left: ExpressionNode, _ operator: Operator, _ right: ExpressionNode,
            modifier: Modifier = .direct, options: Options = []
        ) {
            self.left = left
            self.right = right
            self.operator = `operator`
            self.modifier = modifier
            self.options = options
        }
    }
}

// MARK: The simple form

extension PredicateNode.Comparison {
    /// The left side of a simple comparison: a property by its key path, or the object itself.
    public enum Subject: Sendable, Hashable {
        /// The property with that name or key path.
        case key(String)
        /// The object's id.
        case objectID
    }

    /// A comparison of one property, or of the object itself, with constants.
    public struct Simple: Sendable, Hashable {
        /// The right side of a simple comparison.
        public enum Operand: Sendable, Hashable {
            /// One value.
            case value(Value)
            /// The members of a list.
            case list([Value])
        }
        /// The property or object that is compared.
        public let subject: Subject
        /// The operator; reversed if the constant is on the left side.
        public let `operator`: Operator
        /// The value or list that it is compared with.
        public let operand: Operand
        /// How strings are compared.
        public let options: Options

        /// The value, or the members of the list.
        public var values: [Value] {
            switch operand {
            case .value(let value): [value]
            case .list(let values): values
            }
        }
    }

    /// Compares a property with one value, or with a list for IN and BETWEEN.
    public init(_ subject: Subject, _ operator: Operator, _ values: [Value]) {
        let left: ExpressionNode =
            switch subject {
            case .key(let key): .keyPath(key)
            case .objectID: .evaluatedObject
            }
        let isList = `operator` == .in || `operator` == .between || values.count != 1
        self.init(left, `operator`, isList ? .list(values) : .constant(values[0]))
    }

    /// The comparison as one of a property, or of the object itself, with constants; nil if it is not so simple.
    ///
    /// A constant on the left side is swapped with the property if the operator can be reversed.
    ///
    /// - Complexity: O(1), without allocations.
    public var simple: Simple? {
        guard modifier == .direct else { return nil }
        if let subject = left.subject, let operand = right.operand {
            return Simple(
                subject: subject, operator: `operator`, operand: operand, options: options)
        }
        guard case .constant(let value) = left, let subject = right.subject,
            let turned = `operator`.turned
        else { return nil }
        return Simple(subject: subject, operator: turned, operand: .value(value), options: options)
    }
}

extension ExpressionNode {
    var subject: PredicateNode.Comparison.Subject? {
        switch self {
        case .keyPath(let key): .key(key)
        case .evaluatedObject: .objectID
        default: nil
        }
    }

    var operand: PredicateNode.Comparison.Simple.Operand? {
        switch self {
        case .constant(let value): .value(value)
        case .list(let values): .list(values)
        default: nil
        }
    }
}

extension PredicateNode.Comparison.Operator {
    /// The operator that says the same with the sides changed; nil if there is none.
    package var turned: Self? {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .equal, .notEqual: self
        case .in, .between, .contains, .beginsWith, .endsWith, .like, .matches: nil
        }
    }

    /// Whether it can only be asked of texts.
    package var isOfText: Bool {
        switch self {
        case .beginsWith, .endsWith, .like, .matches: true
        default: false
        }
    }

    /// Whether it asks which of two is less.
    package var isOfOrder: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: true
        default: false
        }
    }
}

extension PredicateNode.Comparison.Options {
    /// The letters in brackets, or nothing.
    package var letters: String {
        var letters = ""
        if contains(.caseInsensitive) { letters += "c" }
        if contains(.diacriticInsensitive) { letters += "d" }
        if contains(.normalized) { letters += "n" }
        if contains(.localeSensitive) { letters += "l" }
        return letters
    }
}
