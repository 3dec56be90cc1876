// Parses the operands of expressions.
//
//   atom     = literal | placeholder | "SELF" | "ANYKEY" | "$" name [":=" expression] | key | "#" word
//            | function | "(" expression ")" | "{" [expression {"," expression}] "}" | "@" operator
//   function = name "(" [arguments] ")" | name ":" {name ":"} "(" arguments ")"
//            | "FUNCTION(" target "," "'selector:'" {"," argument} ")"
//            | "SUBQUERY(" collection "," "$" name "," predicate ")"
//            | "CAST(" expression "," "'type'" ")" | "TERNARY(" predicate "," expression "," expression ")"
//            | "FETCH(" request "," context "," flag ")"

extension PredicateParser {
    /// One operand, without the suffixes that may follow it.
    mutating func atom() throws(PredicateFormatError) -> ExpressionNode {
        let start = token
        height = 1
        switch start.kind {
        case .literal(let value):
            advance()
            return .constant(value)
        case .placeholder(let name):
            advance()
            return try argument(name, at: start)
        case .escapedWord(let word):
            advance()
            return .keyPath(word)
        case .word(let word): return try named(word)
        case .symbol("("):
            guard case .expression(let node) = try parenthesis() else {
                throw error(
                    "expected a value, but found a predicate in parentheses", at: start)
            }
            return node
        case .symbol("{"): return try braces()
        case .symbol("$"): return try variable()
        case .symbol("@"):
            advance()
            return try collection(of: .evaluatedObject)
        case .symbol, .end: throw expected("a property or a value")
        }
    }

    private mutating func braces() throws(PredicateFormatError) -> ExpressionNode {
        try deeper(token)
        defer { up() }
        advance()
        if take("}") { return .list([]) }
        return .braces(try members(until: "}"))
    }

    // MARK: Variables

    private mutating func variable() throws(PredicateFormatError) -> ExpressionNode {
        let start = token
        let name = try variableName()
        height = 1
        guard take(":=") else { return .variable(name) }
        try deeper(start)
        defer { up() }
        let value = try expression()
        try grow(on: height)
        return .assignment(name, value)
    }

    private mutating func variableName() throws(PredicateFormatError) -> String {
        try require("$", "a variable such as $x")
        switch token.kind {
        case .word(let name), .escapedWord(let name):
            advance()
            return name
        default: throw expected("the name of a variable")
        }
    }

    // MARK: Words

    private mutating func named(_ word: String) throws(PredicateFormatError) -> ExpressionNode {
        let start = token
        let upper = word.uppercased()
        if next.kind == .symbol("(") || next.kind == .symbol(":") {
            if let form = try form(upper) { return form }
            if !PredicateWords.operators.contains(upper), !PredicateWords.constants.contains(upper)
            {
                return try function()
            }
        }
        switch upper {
        case "TRUE", "YES":
            advance()
            return .constant(.boolean(true))
        case "FALSE", "NO":
            advance()
            return .constant(.boolean(false))
        case "NULL", "NIL":
            advance()
            return .constant(.null)
        case "SELF":
            advance()
            return .evaluatedObject
        case "ANYKEY":
            advance()
            return .anyKey
        default: break
        }
        guard !PredicateWords.operators.contains(upper), !PredicateWords.constants.contains(upper)
        else {
            throw error(
                "expected a property or a value, but \(word) is a reserved word: write #\(word) for a property with that name",
                at: start)
        }
        advance()
        return word == "objectID" && !isSymbol(".") ? .evaluatedObject : .keyPath(word)
    }

    // MARK: Functions

    /// A form of the language that looks like a function; nil if the word begins none.
    private mutating func form(_ upper: String) throws(PredicateFormatError) -> ExpressionNode? {
        guard next.kind == .symbol("("),
            ["SUBQUERY", "CAST", "TERNARY", "FUNCTION", "FETCH"].contains(upper)
        else { return nil }
        let start = token
        advance()
        advance()
        try deeper(start)
        defer { up() }
        let node: ExpressionNode
        switch upper {
        case "SUBQUERY": node = try subquery()
        case "CAST": node = try cast()
        case "TERNARY": node = try ternary()
        case "FUNCTION": node = try call()
        default: node = try fetch()
        }
        try require(")", "a closing parenthesis")
        try grow(on: height)
        return node
    }

    private mutating func comma() throws(PredicateFormatError) { try require(",", "a comma") }

    private mutating func subquery() throws(PredicateFormatError) -> ExpressionNode {
        let collection = try expression()
        let collectionHeight = height
        try comma()
        let name = try variableName()
        try comma()
        let term = try or()
        let condition = try predicate(term)
        try grow(on: max(collectionHeight, height))
        return .subquery(collection, variable: name, condition)
    }

    private mutating func cast() throws(PredicateFormatError) -> ExpressionNode {
        let place = token
        let value = try expression()
        try comma()
        let typePlace = token
        guard case .literal(.string(let name)) = token.kind else {
            throw expected("the name of a type, such as 'NSDate',")
        }
        guard let type = ExpressionNode.CastType(name: name) else {
            let names = ExpressionNode.CastType.allCases.map(\.rawValue)
            throw error(
                "CAST does not support the type \(name); supported types: \(names.joined(separator: ", "))",
                at: typePlace)
        }
        advance()
        guard case .constant(let literal) = value else { return .cast(value, to: type) }
        if let constant = literal.literalCast(to: type) { return .constant(constant) }
        switch (type, literal) {
        case (.date, .string), (.uuid, .string), (.url, .string), (.data, .string),
            (.objectID, .string):
            throw error("\(literal) is not a valid \(type.rawValue)", at: place)
        default: return .cast(value, to: type)
        }
    }

    private mutating func ternary() throws(PredicateFormatError) -> ExpressionNode {
        let term = try or()
        let test = try predicate(term)
        var highest = height
        try comma()
        let one = try expression()
        highest = max(highest, height)
        try comma()
        let other = try expression()
        try grow(on: max(highest, height))
        return .conditional(test, one, other)
    }

    private mutating func call() throws(PredicateFormatError) -> ExpressionNode {
        let target = try expression()
        var highest = height
        try comma()
        guard case .literal(.string(let selector)) = token.kind, !selector.isEmpty else {
            throw expected("the name of a function in quotation marks")
        }
        advance()
        var arguments: [ExpressionNode] = []
        while take(",") {
            arguments.append(try expression())
            highest = max(highest, height)
        }
        try grow(on: highest)
        return .call(of: target, selector: selector, arguments)
    }

    private mutating func fetch() throws(PredicateFormatError) -> ExpressionNode {
        let request = try expression()
        let requestHeight = height
        try comma()
        let context = try expression()
        let highest = max(requestHeight, height)
        try comma()
        let place = token
        guard case .constant(.boolean(let countsOnly)) = try atom() else {
            throw error("expected TRUE or FALSE", at: place)
        }
        try grow(on: highest)
        return .fetch(request: request, context: context, countsOnly: countsOnly)
    }

    /// A function by its name, with or without colons.
    private mutating func function() throws(PredicateFormatError) -> ExpressionNode {
        let start = token
        var name = ""
        while case .word(let part) = token.kind {
            name += part
            advance()
            guard take(":") else { break }
            name += ":"
        }
        guard isSymbol("(") else { throw expected("an opening parenthesis") }
        try deeper(start)
        defer { up() }
        advance()
        var arguments: [ExpressionNode] = []
        if !take(")") { arguments = try members(until: ")") }
        do throws(FunctionError) {
            return try .function(named: name, arguments)
        } catch {
            throw self.error(error.message, at: start)
        }
    }
}
