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
            /// One of a list, a member of a collection, or part of a text.
            case `in` = "IN"
            /// Between two values, both included.
            case between = "BETWEEN"
            /// The left side has the right one in it: a text a part, a collection a member.
            case contains = "CONTAINS"
            /// A text begins so.
            case beginsWith = "BEGINSWITH"
            /// A text ends so.
            case endsWith = "ENDSWITH"
            /// A text is like a pattern of `*` (any run) and `?` (one character), from end to end.
            case like = "LIKE"
            /// A text matches a regular expression from end to end.
            case matches = "MATCHES"
        }

        /// For how many members of a collection the comparison must hold.
        public enum Modifier: String, Sendable, Hashable, Codable {
            /// There is no collection, or it is compared as a whole.
            case direct
            /// For all of them; true if there are none.
            case all = "ALL"
            /// For one of them or more. `SOME` says the same, and `NONE` its opposite.
            case any = "ANY"
        }

        /// How texts are compared: without any of these scalar by scalar, so that two ways to write a letter are two texts, as they
        /// are for keys; with `c`, `d` or `l` they are one. The raw values are those that archived predicates have.
        public struct Options: OptionSet, Sendable, Hashable, Codable {
            /// The bits.
            public let rawValue: UInt8

            /// The options of these bits.
            public init(rawValue: UInt8) { self.rawValue = rawValue }

            /// `c`: without regard to case, the same in every locale.
            public static let caseInsensitive = Options(rawValue: 1)
            /// `d`: without regard to accents and the like.
            public static let diacriticInsensitive = Options(rawValue: 2)
            /// `n`: both sides have been normalised already; they are compared by their bytes.
            public static let normalized = Options(rawValue: 4)
            /// `l`: as people read and order texts, not by bytes: two ways to write a letter are one.
            public static let localeSensitive = Options(rawValue: 8)
        }

        /// What is compared.
        public var left: ExpressionNode
        /// With what.
        public var right: ExpressionNode
        /// How.
        public var `operator`: Operator
        /// For how many members of a collection on the left side.
        public var modifier: Modifier
        /// How texts are compared.
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
    /// What a simple comparison is about: a property by its key path, or the object itself.
    public enum Subject: Sendable, Hashable {
        /// The property of that name or path.
        case key(String)
        /// The object's id.
        case objectID
    }

    /// A comparison of one property, or of the object itself, with constants.
    public struct Simple: Sendable, Hashable {
        /// What the subject is compared with.
        public enum Operand: Sendable, Hashable {
            /// One value.
            case value(Value)
            /// The members of a list.
            case list([Value])
        }
        /// What is compared.
        public let subject: Subject
        /// How; turned round if the constant stands on the left side.
        public let `operator`: Operator
        /// With what.
        public let operand: Operand
        /// How texts are compared.
        public let options: Options

        /// The value, or the members of the list.
        public var values: [Value] {
            switch operand {
            case .value(let value): [value]
            case .list(let values): values
            }
        }
    }

    /// Compares a property with values: with one, or with a list for IN and BETWEEN.
    public init(_ subject: Subject, _ operator: Operator, _ values: [Value]) {
        let left: ExpressionNode =
            switch subject {
            case .key(let key): .keyPath(key)
            case .objectID: .evaluatedObject
            }
        let isList = `operator` == .in || `operator` == .between || values.count != 1
        self.init(left, `operator`, isList ? .list(values) : .constant(values[0]))
    }

    /// The comparison as one of a property, or of the object itself, with constants; nil if it says more.
    ///
    /// A constant on the left side changes places with the property where the operator can be turned round.
    ///
    /// - Complexity: O(1); nothing is allocated.
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
