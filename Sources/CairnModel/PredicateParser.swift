// Reads the text of a predicate: comparisons of a property with values, joined by AND, OR and NOT.
//
//   predicate  = or ;  or = and {("OR"|"||") and} ;  and = not {("AND"|"&&") not}
//   not        = [("NOT"|"!")] primary
//   primary    = "(" predicate ")" | "TRUEPREDICATE" | "FALSEPREDICATE" | comparison
//   comparison = operand operator operand | key ["NOT"] "IN" list | key "BETWEEN" list
//   operand    = key | "SELF" | "objectID" | literal | placeholder
//   list       = "{" [value {"," value}] "}" | "(" … ")" | placeholder
//
// A value on the left side changes places with the property. Two values are compared here and now.
// What the language has beyond this is refused by name and place.
//
// Threads: a parser lives in one call.

/// Reads predicate formats.
public struct PredicateParser {
    /// What takes the place of a placeholder.
    public enum Argument: Sendable, Hashable {
        /// A single value, or for `%K` the text of a key.
        case value(Value)
        /// The members of a list.
        case list([Value])
    }

    private enum Operand {
        case subject(PredicateNode.Comparison.Subject)
        case value(Value)
        case list([Value])
    }

    /// Parentheses and NOTs may not be deeper: a hostile text must not fill the stack.
    private static let depthLimit = 128

    private let format: String
    private let tokens: [PredicateToken]
    private let arguments: [Argument]
    private var position = 0
    private var used = 0
    private var depth = 0

    /// Reads a format and fills in its arguments.
    ///
    /// - Throws: `PredicateFormatError` with the place.
    public static func parse(_ format: String, _ arguments: [Argument] = [])
        throws(PredicateFormatError) -> PredicateNode
    {
        var parser = PredicateParser(
            format: format, tokens: try PredicateLexer.tokens(of: format), arguments: arguments)
        return try parser.whole()
    }

    private init(format: String, tokens: [PredicateToken], arguments: [Argument]) {
        self.format = format
        self.tokens = tokens
        self.arguments = arguments
    }

    // MARK: Tokens

    private var token: PredicateToken { tokens[position] }

    private mutating func advance() { position = min(position + 1, tokens.count - 1) }

    private func isSymbol(_ symbol: String) -> Bool { token.kind == .symbol(symbol) }

    private func isWord(_ word: String) -> Bool {
        if case .word(let text) = token.kind { text.uppercased() == word } else { false }
    }

    private mutating func take(_ symbol: String, or word: String? = nil) -> Bool {
        guard isSymbol(symbol) || word.map(isWord) ?? false else { return false }
        advance()
        return true
    }

    private func error(_ message: String, at place: PredicateToken) -> PredicateFormatError {
        PredicateFormatError(message, scalarOffset: place.offset, format: format)
    }

    private var found: String {
        token.kind == .end ? "the predicate ends" : "\(token.text) stands there"
    }

    // MARK: Logic

    private mutating func whole() throws(PredicateFormatError) -> PredicateNode {
        if token.kind == .end { throw error("the predicate is empty", at: token) }
        let node = try or()
        guard token.kind == .end else {
            throw error("AND, OR or the end is expected, but \(found)", at: token)
        }
        guard used == arguments.count else {
            throw error(
                "\(arguments.count) arguments are given for \(used) placeholders", at: token)
        }
        return node
    }

    private mutating func or() throws(PredicateFormatError) -> PredicateNode {
        let first = try and()
        guard isSymbol("||") || isWord("OR") else { return first }
        var parts = [first]
        while take("||", or: "OR") { parts.append(try and()) }
        return .or(parts)
    }

    private mutating func and() throws(PredicateFormatError) -> PredicateNode {
        let first = try not()
        guard isSymbol("&&") || isWord("AND") else { return first }
        var parts = [first]
        while take("&&", or: "AND") { parts.append(try not()) }
        return .and(parts)
    }

    private mutating func not() throws(PredicateFormatError) -> PredicateNode {
        let start = token
        guard take("!", or: "NOT") else { return try primary() }
        try deeper(start)
        defer { depth -= 1 }
        return .not(try not())
    }

    private mutating func deeper(_ place: PredicateToken) throws(PredicateFormatError) {
        depth += 1
        guard depth <= Self.depthLimit else {
            throw error("it is nested more than \(Self.depthLimit) deep", at: place)
        }
    }

    private mutating func primary() throws(PredicateFormatError) -> PredicateNode {
        let start = token
        if take("(") {
            try deeper(start)
            defer { depth -= 1 }
            let node = try or()
            guard take(")") else {
                throw error("the closing parenthesis is missing, but \(found)", at: token)
            }
            return node
        }
        if case .word(let word) = start.kind {
            switch word.uppercased() {
            case "TRUEPREDICATE":
                advance()
                return .constant(true)
            case "FALSEPREDICATE":
                advance()
                return .constant(false)
            case "ANY", "ALL", "SOME", "NONE":
                throw error("\(word.uppercased()) is not supported", at: start)
            default: break
            }
        }
        return try comparison()
    }

    // MARK: Comparisons

    private mutating func comparison() throws(PredicateFormatError) -> PredicateNode {
        let start = token
        let left = try operand()
        let isNegated = isWord("NOT")
        if isNegated { advance() }
        let place = token
        let relation = try relation()
        if isNegated, relation != .in {
            throw error("NOT can only stand before IN here", at: place)
        }
        if isSymbol("[") { throw error("an option such as [c] is not supported", at: token) }
        let rightPlace = token
        let node: PredicateNode
        if relation == .in || relation == .between {
            guard case .subject(let subject) = left else {
                throw error("a value left of \(relation.rawValue) is not supported", at: start)
            }
            let values = try list(for: relation)
            node = .comparison(PredicateNode.Comparison(subject, relation, values))
        } else {
            let right = try operand()
            node = try compare(left, start, relation, right, rightPlace)
        }
        return isNegated ? .not(node) : node
    }

    private func compare(
        _ left: Operand, _ leftPlace: PredicateToken, _ relation: PredicateNode.Comparison.Operator,
        _ right: Operand, _ rightPlace: PredicateToken
    ) throws(PredicateFormatError) -> PredicateNode {
        switch (left, right) {
        case (.subject(let subject), .value(let value)):
            return .comparison(PredicateNode.Comparison(subject, relation, [value]))
        case (.value(let value), .subject(let subject)):
            return .comparison(PredicateNode.Comparison(subject, relation.swapped, [value]))
        case (.subject, .subject):
            throw error("comparing two properties is not supported", at: rightPlace)
        case (.value(let one), .value(let other)):
            guard let truth = relation.holds(one, other) else {
                throw error("these two values cannot be compared", at: rightPlace)
            }
            return .constant(truth)
        case (.list, _):
            throw error("a list can only stand right of IN or BETWEEN", at: leftPlace)
        case (_, .list):
            throw error("a list can only stand right of IN or BETWEEN", at: rightPlace)
        }
    }

    private mutating func relation() throws(PredicateFormatError)
        -> PredicateNode.Comparison.Operator
    {
        let start = token
        let relation: PredicateNode.Comparison.Operator
        switch start.kind {
        case .symbol("="), .symbol("=="): relation = .equal
        case .symbol("!="), .symbol("<>"): relation = .notEqual
        case .symbol("<"): relation = .less
        case .symbol("<="), .symbol("=<"): relation = .lessOrEqual
        case .symbol(">"): relation = .greater
        case .symbol(">="), .symbol("=>"): relation = .greaterOrEqual
        case .symbol("["): throw error("an index in brackets is not supported", at: start)
        case .symbol(let symbol) where ["+", "-", "*", "/", "**"].contains(symbol):
            throw error("arithmetic is not supported", at: start)
        case .word(let word):
            switch word.uppercased() {
            case "IN": relation = .in
            case "BETWEEN": relation = .between
            case "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES":
                throw error("the operator \(word.uppercased()) is not supported", at: start)
            default: throw error("\(word) is not an operator", at: start)
            }
        default:
            throw error("an operator such as == is expected, but \(found)", at: start)
        }
        advance()
        return relation
    }

    // MARK: Operands

    private mutating func operand() throws(PredicateFormatError) -> Operand {
        let operand = try atom()
        if case .symbol(let symbol) = token.kind {
            switch symbol {
            case "+", "-", "*", "/", "**": throw error("arithmetic is not supported", at: token)
            case "[": throw error("an index in brackets is not supported", at: token)
            default: break
            }
        }
        return operand
    }

    private mutating func atom() throws(PredicateFormatError) -> Operand {
        let start = token
        switch start.kind {
        case .literal(let value):
            advance()
            return .value(value)
        case .placeholder(let name):
            advance()
            return try argument(name, at: start)
        case .escapedWord(let word):
            advance()
            return .subject(.key(try path(from: word)))
        case .word(let word):
            advance()
            return try named(word, at: start)
        case .symbol("{"):
            return .list(try list(for: .in))
        case .symbol("$"):
            throw error("a variable is not supported", at: start)
        case .symbol("@"):
            throw error("a collection operator is not supported", at: start)
        case .symbol("-"), .symbol("+"):
            throw error("arithmetic is not supported", at: start)
        case .symbol, .end:
            throw error("a property or a value is expected, but \(found)", at: start)
        }
    }

    private mutating func named(_ word: String, at start: PredicateToken)
        throws(PredicateFormatError)
        -> Operand
    {
        if isSymbol("(") || isSymbol(":") {
            throw error("the function \(word) is not supported", at: start)
        }
        let upper = word.uppercased()
        switch upper {
        case "TRUE", "YES": return .value(.boolean(true))
        case "FALSE", "NO": return .value(.boolean(false))
        case "NULL", "NIL": return .value(.null)
        case "SELF":
            guard take(".") else { return .subject(.objectID) }
            let key = try path(from: try segment())
            return .subject(key == "objectID" ? .objectID : .key(key))
        default: break
        }
        guard !PredicateWords.operators.contains(upper), !PredicateWords.constants.contains(upper)
        else {
            throw error(
                "a property or a value is expected, but \(word) is a reserved word: write #\(word) for a property of that name",
                at: start)
        }
        let key = try path(from: word)
        return .subject(key == "objectID" ? .objectID : .key(key))
    }

    /// The rest of a key path after its first name.
    private mutating func path(from first: String) throws(PredicateFormatError) -> String {
        var path = first
        while take(".") { path += "." + (try segment()) }
        return path
    }

    private mutating func segment() throws(PredicateFormatError) -> String {
        let start = token
        switch start.kind {
        case .word(let word), .escapedWord(let word):
            advance()
            return word
        case .symbol("@"):
            throw error("a collection operator is not supported", at: start)
        default:
            throw error("a property's name is expected, but \(found)", at: start)
        }
    }

    // MARK: Lists

    /// The right side of IN or BETWEEN.
    private mutating func list(for relation: PredicateNode.Comparison.Operator)
        throws(PredicateFormatError) -> [Value]
    {
        let start = token
        try deeper(start)
        defer { depth -= 1 }
        let closing: String
        if take("{") {
            closing = "}"
        } else if take("(") {
            closing = ")"
        } else {
            guard case .list(let values) = try operand() else {
                throw error("a list is expected right of \(relation.rawValue)", at: start)
            }
            return try checked(values, for: relation, at: start)
        }
        var values: [Value] = []
        if !isSymbol(closing) {
            repeat {
                let place = token
                switch try operand() {
                case .value(let value): values.append(value)
                // `IN (%@)` with a list says the same as `IN %@`.
                case .list(let members): values += members
                case .subject: throw error("a property in a list is not supported", at: place)
                }
            } while take(",")
        }
        guard take(closing) else {
            throw error("the closing \(closing) is missing, but \(found)", at: token)
        }
        return try checked(values, for: relation, at: start)
    }

    private func checked(
        _ values: [Value], for relation: PredicateNode.Comparison.Operator, at place: PredicateToken
    ) throws(PredicateFormatError) -> [Value] {
        guard relation != .between || values.count == 2 else {
            throw error("BETWEEN needs two values, but there are \(values.count)", at: place)
        }
        return values
    }

    // MARK: Arguments

    private mutating func argument(_ name: String, at place: PredicateToken)
        throws(PredicateFormatError)
        -> Operand
    {
        guard used < arguments.count else {
            throw error(
                "there is no argument for this placeholder: \(arguments.count) are given", at: place
            )
        }
        let argument = arguments[used]
        used += 1
        switch (name.last, argument) {
        case ("K", .value(.string(let key))) where !key.isEmpty:
            let path = try path(from: key)
            return .subject(path == "objectID" || path == "SELF" ? .objectID : .key(path))
        case ("K", _):
            throw error("%K needs the name of a property", at: place)
        case ("@", .value(let value)):
            return .value(value)
        case ("@", .list(let values)):
            return .list(values)
        case ("s", .value(.string(let text))), ("S", .value(.string(let text))):
            return .value(.string(text))
        case (let letter?, .value(let value)) where "diuxXocC".contains(letter):
            if case .integer = value { return .value(value) }
        case (let letter?, .value(let value)) where "fFgGeEaA".contains(letter):
            switch value {
            case .integer, .double, .float, .decimal: return .value(value)
            default: break
            }
        default: break
        }
        throw error("the argument is not of the kind that %\(name) needs", at: place)
    }
}

extension PredicateNode {
    /// Reads a predicate format; `%@` and its like are filled with values, `%K` with the text of a key.
    ///
    /// Literals become values without regard to any entity: whole numbers are integers, other numbers
    /// decimals. ``bound(to:)`` turns them into values of the columns' types.
    ///
    /// - Throws: `PredicateFormatError` with the place.
    public init(format: String, _ arguments: [Value] = []) throws(PredicateFormatError) {
        self = try PredicateParser.parse(format, arguments.map { .value($0) })
    }

    /// Reads a predicate format; arguments may be lists as well, for IN and BETWEEN.
    ///
    /// - Throws: `PredicateFormatError` with the place.
    public init(format: String, arguments: [PredicateParser.Argument]) throws(PredicateFormatError)
    {
        self = try PredicateParser.parse(format, arguments)
    }
}

extension PredicateNode.Comparison.Operator {
    /// The operator that says the same with the sides changed.
    var swapped: Self {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .equal, .notEqual, .in, .between: self
        }
    }

    /// Whether it holds between two literals; nil if they cannot be compared.
    func holds(_ one: Value, _ other: Value) -> Bool? {
        if one.isNull || other.isNull {
            switch self {
            case .equal: return one.isNull && other.isNull
            case .notEqual: return one.isNull != other.isNull
            default: return false
            }
        }
        if case .boolean(let a) = one, case .boolean(let b) = other {
            switch self {
            case .equal: return a == b
            case .notEqual: return a != b
            default: return nil
            }
        }
        guard let order = one.asNumber.compare(to: other.asNumber) else {
            switch self {
            case .equal: return one == other
            case .notEqual: return one != other
            default: return nil
            }
        }
        switch self {
        case .equal: return order == .same
        case .notEqual: return order != .same
        case .less: return order == .ascending
        case .lessOrEqual: return order != .descending
        case .greater: return order == .descending
        case .greaterOrEqual: return order != .ascending
        case .in, .between: return nil
        }
    }
}
