// Substitutes arguments for placeholders.
//
//   1. %@ takes any value, a list or an expression; it is never read as part of the language.
//   2. %K takes the text of a key path, which may have collection operators.
//   3. %d and its like take whole numbers and truth values, %f and its like numbers, %s a text, %c a
//      character or its number.

extension PredicateParser {
    /// The argument of a placeholder.
    mutating func argument(_ name: String, at place: PredicateToken)
        throws(PredicateFormatError) -> ExpressionNode
    {
        if name == "K" {
            let path = try keyArgument(at: place)
            return path == "SELF" || path == "objectID"
                ? .evaluatedObject : try extend(.evaluatedObject, by: path, at: place)
        }
        let argument = try nextArgument(at: place)
        switch (name.last, argument) {
        case ("@", .value(let value)): return .constant(value)
        case ("@", .list(let values)): return .list(values)
        case ("@", .expression(let node)): return node
        case ("s", .value(.string(let text))), ("S", .value(.string(let text))):
            return .constant(.string(text))
        case ("c", .value(.string(let text))), ("C", .value(.string(let text))):
            if text.count == 1 { return .constant(.string(text)) }
        case (let letter?, .value(let value)) where "diuxXoOcC".contains(letter):
            switch value {
            case .integer, .boolean: return .constant(value)
            default: break
            }
        case (let letter?, .value(let value)) where "fFgGeEaA".contains(letter):
            switch value {
            case .integer, .double, .float, .decimal: return .constant(value)
            default: break
            }
        default: break
        }
        throw error("the argument does not have the type that %\(name) requires", at: place)
    }

    /// The argument of `%K`.
    mutating func keyArgument(at place: PredicateToken) throws(PredicateFormatError) -> String {
        guard case .value(.string(let path)) = try nextArgument(at: place), !path.isEmpty else {
            throw error("%K needs the name of a property", at: place)
        }
        return path
    }

    private mutating func nextArgument(at place: PredicateToken) throws(PredicateFormatError)
        -> Argument
    {
        guard used < arguments.count else {
            throw error(
                "there is no argument for this placeholder, only \(arguments.count) in all",
                at: place)
        }
        used += 1
        return arguments[used - 1]
    }

    /// A path with the collection operators in it.
    mutating func extend(_ base: ExpressionNode, by path: String, at place: PredicateToken)
        throws(PredicateFormatError) -> ExpressionNode
    {
        guard path.contains("@") else { return .path(path, of: base) }
        var node = base
        for segment in path.split(separator: ".", omittingEmptySubsequences: false) {
            guard segment.first == "@" else {
                node = .path(String(segment), of: node)
                continue
            }
            let name = String(segment.dropFirst())
            guard let operation = ExpressionNode.CollectionOperator(rawValue: name) else {
                throw error("the key path \(path) has no collection operator @\(name)", at: place)
            }
            try grow(on: height)
            node = .collection(operation, of: node, path: nil)
        }
        return node
    }
}
