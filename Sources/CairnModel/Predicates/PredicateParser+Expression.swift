// Parses expressions: operators between operands, and suffixes of operands.
//
//   expression = operand {sign operand}, by precedence, from the left:
//                UNION INTERSECT MINUS < | < ^ < & < << >> < + - < * / < **
//   operand    = ["-" | "~"] postfix
//   postfix    = atom { "." key | "." "@" operator ["." path] | "[" index "]" }
//   index      = expression | "FIRST" | "LAST" | "SIZE"

import FoundationEssentials

extension PredicateParser {
    /// An expression.
    ///
    /// - Parameters:
    ///   - first: its first operand, if it has been parsed already.
    ///   - least: the lowest precedence of an operator that still belongs to it.
    mutating func expression(from first: ExpressionNode? = nil, least: Int = 1)
        throws(PredicateFormatError) -> ExpressionNode
    {
        var left: ExpressionNode
        if let first {
            left = try postfix(first)
        } else {
            left = try operand()
        }
        while let (sign, precedence) = sign(), precedence >= least {
            advance()
            let leftHeight = height
            try deeper(token)
            let right = try expression(least: precedence + 1)
            up()
            try grow(on: max(leftHeight, height))
            switch sign {
            case .function(let function): left = .function(function, [left, right])
            case .set(let operation): left = .set(operation, left, right)
            }
        }
        return left
    }

    private enum Sign {
        case function(ExpressionNode.Function)
        case set(ExpressionNode.SetOperator)
    }

    /// The sign that stands here, and its precedence.
    private func sign() -> (Sign, Int)? {
        switch token.kind {
        case .symbol(let symbol):
            guard let function = ExpressionNode.Function(sign: symbol),
                let precedence = function.sign?.precedence
            else { return nil }
            return (.function(function), precedence)
        case .word(let word):
            return ExpressionNode.SetOperator(rawValue: word.uppercased()).map { (.set($0), 1) }
        default: return nil
        }
    }

    // MARK: Operands

    private mutating func operand() throws(PredicateFormatError) -> ExpressionNode {
        let start = token
        if take("-") {
            if case .literal(let value) = token.kind, let negative = negated(value) {
                advance()
                height = 1
                return try postfix(.constant(negative))
            }
            try deeper(start)
            defer { up() }
            let operand = try operand()
            try grow(on: height)
            return .function(.subtract, [.constant(.integer(0)), operand])
        }
        if take("~") {
            try deeper(start)
            defer { up() }
            let operand = try operand()
            try grow(on: height)
            return .function(.onesComplement, [operand])
        }
        return try postfix(try atom())
    }

    /// A literal number with a minus sign; nil for what has one already, or is no number.
    private func negated(_ value: Value) -> Value? {
        guard let first = token.text.first, first.isNumber || first == "." else { return nil }
        switch value {
        case .integer(let number): return .integer(-number)
        case .decimal(let number):
            return Int64("-\(token.text)").map { .integer($0) }
                ?? (number == 0 ? .double(-0.0) : .decimal(-number))
        case .double(let number): return .double(-number)
        default: return nil
        }
    }

    // MARK: Paths and indexes

    /// What follows an operand.
    private mutating func postfix(_ atom: ExpressionNode) throws(PredicateFormatError)
        -> ExpressionNode
    {
        var node = atom
        while true {
            if take(".") {
                node = try step(from: node)
            } else if isSymbol("[") {
                let start = token
                advance()
                let base = height
                try deeper(start)
                let index = try index()
                up()
                try require("]", "a closing ]")
                try grow(on: max(base, height))
                node = .index(of: node, index)
            } else {
                return node
            }
        }
    }

    /// What follows a point.
    private mutating func step(from base: ExpressionNode) throws(PredicateFormatError)
        -> ExpressionNode
    {
        let baseHeight = height
        if take("@") { return try collection(of: base) }
        let place = token
        if case .placeholder(let name) = token.kind, name == "K" {
            advance()
            let path = try keyArgument(at: place)
            try grow(on: baseHeight)
            return try extend(base, by: path, at: place)
        }
        var key = try segment()
        // The whole path at once: piece by piece, a long one would be copied again and again.
        while isSymbol("."), isName(next) {
            advance()
            key += try ".\(segment())"
        }
        try grow(on: isPath(base) ? baseHeight - 1 : baseHeight)
        if base == .evaluatedObject, key == "objectID", !isEscaped(place) { return base }
        return .path(key, of: base)
    }

    /// Whether another key makes the base only longer.
    private func isPath(_ base: ExpressionNode) -> Bool {
        switch base {
        case .evaluatedObject, .keyPath, .path, .collection: true
        default: false
        }
    }

    private func isName(_ token: PredicateToken) -> Bool {
        switch token.kind {
        case .word, .escapedWord: true
        default: false
        }
    }

    private func isEscaped(_ token: PredicateToken) -> Bool {
        if case .escapedWord = token.kind { true } else { false }
    }

    /// One key of a path.
    private mutating func segment() throws(PredicateFormatError) -> String {
        switch token.kind {
        case .word(let word), .escapedWord(let word):
            advance()
            return word
        case .symbol("$"):
            throw error(
                "variables inside a key path are not supported: pass the key with %K", at: token)
        default: throw expected("a property's name")
        }
    }

    /// The collection operator after `@`.
    mutating func collection(of base: ExpressionNode) throws(PredicateFormatError)
        -> ExpressionNode
    {
        let place = token
        guard case .word(let word) = token.kind else { throw expected("a collection operator") }
        guard let operation = ExpressionNode.CollectionOperator(rawValue: word) else {
            let names = ExpressionNode.CollectionOperator.allCases.map { "@\($0.rawValue)" }
            throw error(
                "@\(word) is not a collection operator; the operators are \(names.joined(separator: ", "))",
                at: place)
        }
        advance()
        try grow(on: height)
        return .collection(operation, of: base, path: nil)
    }

    private mutating func index() throws(PredicateFormatError) -> ExpressionNode.Index {
        if case .word(let word) = token.kind, next.kind == .symbol("]") {
            let index: ExpressionNode.Index? =
                switch word.uppercased() {
                case "FIRST": .first
                case "LAST": .last
                case "SIZE": .size
                default: nil
                }
            if let index {
                advance()
                height = 1
                return index
            }
        }
        return .at(try expression())
    }
}
