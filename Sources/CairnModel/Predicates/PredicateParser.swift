// Parses a predicate format into its tree, by recursive descent.
//
//   predicate  = or ;  or = and {("OR"|"||") and} ;  and = not {("AND"|"&&") not}
//   not        = [("NOT"|"!")] primary
//   primary    = "(" predicate ")" | "TRUEPREDICATE" | "FALSEPREDICATE" | comparison
//
// A parenthesis may hold a predicate or the first operand of a comparison. Which one it is shows only at its
// end, so what is in it is read as either, and whoever needs one of them says so. Comparisons and
// expressions are read in the files beside this one; every error has the place of the token that is wrong.
//
// Invariants: `height` is the height of the tree that was read last. Neither the parser's own nesting nor the
// height of a tree can fill the stack: both have a limit.
// Threads: a parser lives in one call.

/// Parses predicate formats.
public struct PredicateParser {
    /// An argument for a placeholder.
    public enum Argument: Sendable, Hashable {
        /// A single value, or a key path as a string for `%K`.
        case value(Value)
        /// The members of a list.
        case list([Value])
        /// An expression, for `%@`.
        case expression(ExpressionNode)
    }

    /// What a parenthesis may hold.
    enum Term {
        case predicate(PredicateNode)
        case expression(ExpressionNode)
    }

    /// Parentheses and NOTs may not be deeper: a hostile text must not fill the stack.
    private static let depthLimit = 128
    /// Nor may the tree, whose height grows by signs and paths as well.
    private static let heightLimit = 400

    private let format: String
    private let tokens: [PredicateToken]
    let arguments: [Argument]
    private var position = 0
    var used = 0
    private var depth = 0
    var height = 0

    /// Parses a format and substitutes its arguments.
    ///
    /// - Throws: `PredicateFormatError` with the offset.
    public static func parse(_ format: String, _ arguments: [Argument] = [])
        throws(PredicateFormatError) -> PredicateNode
    {
        var parser = PredicateParser(
            format: format, tokens: try KnownFormats.tokens(of: format), arguments: arguments)
        if parser.token.kind == .end {
            throw parser.error("the predicate is empty", at: parser.token)
        }
        let term = try parser.or()
        let node = try parser.predicate(term)
        try parser.end(expecting: "AND, OR or the end")
        return node
    }

    /// Parses the format of an expression and substitutes its arguments.
    ///
    /// - Throws: `PredicateFormatError` with the offset.
    public static func parseExpression(_ format: String, _ arguments: [Argument] = [])
        throws(PredicateFormatError) -> ExpressionNode
    {
        var parser = PredicateParser(
            format: format, tokens: try KnownFormats.tokens(of: format), arguments: arguments)
        let node = try parser.expression()
        try parser.end(expecting: "a sign such as + or the end")
        return node
    }

    private init(format: String, tokens: [PredicateToken], arguments: [Argument]) {
        self.format = format
        self.tokens = tokens
        self.arguments = arguments
    }

    private func end(expecting what: String) throws(PredicateFormatError) {
        guard token.kind == .end else { throw expected(what) }
        guard used == arguments.count else {
            throw error(
                "there are \(arguments.count) arguments for \(used) placeholders", at: token)
        }
    }

    // MARK: Tokens

    var token: PredicateToken { tokens[position] }
    var next: PredicateToken { tokens[min(position + 1, tokens.count - 1)] }

    mutating func advance() { position = min(position + 1, tokens.count - 1) }

    func isSymbol(_ symbol: String) -> Bool { token.kind == .symbol(symbol) }

    func isWord(_ word: String) -> Bool {
        if case .word(let text) = token.kind { text.uppercased() == word } else { false }
    }

    mutating func take(_ symbol: String, or word: String? = nil) -> Bool {
        guard isSymbol(symbol) || word.map(isWord) ?? false else { return false }
        advance()
        return true
    }

    /// Takes a sign that must stand here.
    mutating func require(_ symbol: String, _ what: String) throws(PredicateFormatError) {
        guard take(symbol) else { throw expected(what) }
    }

    func error(_ message: String, at place: PredicateToken) -> PredicateFormatError {
        PredicateFormatError(message, scalarOffset: place.offset, format: format)
    }

    /// The error that something else stands here.
    func expected(_ what: String) -> PredicateFormatError {
        let found =
            token.kind == .end ? "reached the end" : "found \(token.text)"
        return error("expected \(what), but \(found)", at: token)
    }

    // MARK: Depth

    /// Goes one level deeper in the text; whoever calls goes back up.
    mutating func deeper(_ place: PredicateToken) throws(PredicateFormatError) {
        depth += 1
        guard depth <= Self.depthLimit else {
            throw error("it is nested more than \(Self.depthLimit) deep", at: place)
        }
    }

    mutating func up() { depth -= 1 }

    /// Notes that a tree stands on others of this height.
    mutating func grow(on height: Int) throws(PredicateFormatError) {
        self.height = height + 1
        guard self.height <= Self.heightLimit else {
            throw error("it is nested more than \(Self.heightLimit) deep", at: token)
        }
    }

    // MARK: Logic

    /// A whole predicate, or an expression without an operator after it.
    mutating func or() throws(PredicateFormatError) -> Term {
        let first = try and()
        guard isSymbol("||") || isWord("OR") else { return first }
        var parts = [try predicate(first)]
        var highest = height
        while take("||", or: "OR") {
            let part = try and()
            parts.append(try predicate(part))
            highest = max(highest, height)
        }
        try grow(on: highest)
        return .predicate(.or(parts))
    }

    private mutating func and() throws(PredicateFormatError) -> Term {
        let first = try not()
        guard isSymbol("&&") || isWord("AND") else { return first }
        var parts = [try predicate(first)]
        var highest = height
        while take("&&", or: "AND") {
            let part = try not()
            parts.append(try predicate(part))
            highest = max(highest, height)
        }
        try grow(on: highest)
        return .predicate(.and(parts))
    }

    private mutating func not() throws(PredicateFormatError) -> Term {
        let start = token
        guard take("!", or: "NOT") else { return try primary() }
        try deeper(start)
        defer { up() }
        let part = try not()
        let node = try predicate(part)
        try grow(on: height)
        return .predicate(.not(node))
    }

    private mutating func primary() throws(PredicateFormatError) -> Term {
        if isSymbol("(") {
            switch try parenthesis() {
            case .predicate(let node): return .predicate(node)
            case .expression(let first): return try comparison(from: first)
            }
        }
        if isWord("TRUEPREDICATE") || isWord("FALSEPREDICATE") {
            let truth = isWord("TRUEPREDICATE")
            advance()
            height = 1
            return .predicate(.constant(truth))
        }
        return try comparison(from: nil)
    }

    /// What stands in parentheses.
    mutating func parenthesis() throws(PredicateFormatError) -> Term {
        let start = token
        advance()
        try deeper(start)
        defer { up() }
        let term = try or()
        guard take(")") else {
            if case .expression = term {
                throw expected("an operator such as == or a closing parenthesis")
            }
            throw expected("a closing parenthesis")
        }
        return term
    }

    /// A term that must be a predicate.
    func predicate(_ term: Term) throws(PredicateFormatError) -> PredicateNode {
        switch term {
        case .predicate(let node): return node
        case .expression: throw expected("an operator such as ==")
        }
    }
}

extension PredicateNode {
    /// Parses a predicate format. Values replace `%@` and its like, and a key path as a string replaces `%K`.
    ///
    /// The types of literals do not depend on any entity: whole numbers are integers, other numbers decimals.
    /// ``bound(to:)`` converts them to the columns' types.
    ///
    /// - Throws: `PredicateFormatError` with the offset.
    public init(format: String, _ arguments: [Value] = []) throws(PredicateFormatError) {
        self = try PredicateParser.parse(format, arguments.map { .value($0) })
    }

    /// Parses a predicate format. Arguments can also be lists, for IN and BETWEEN.
    ///
    /// - Throws: `PredicateFormatError` with the offset.
    public init(format: String, arguments: [PredicateParser.Argument]) throws(PredicateFormatError)
    {
        self = try PredicateParser.parse(format, arguments)
    }
}

extension ExpressionNode {
    /// Parses the format of an expression, such as `price * 2` or `items.@sum.price`.
    ///
    /// - Throws: `PredicateFormatError` with the offset.
    public init(format: String, _ arguments: [Value] = []) throws(PredicateFormatError) {
        self = try PredicateParser.parseExpression(format, arguments.map { .value($0) })
    }
}
