// Prints an expression as text that reads back as the same tree.
//
//   1. An operand that binds less tightly than the sign beside it stands in parentheses; so does one on
//      the right that binds as tightly, since signs are read from the left.
//   2. What a path, an index or a collection operator follows stands in parentheses unless it is whole by
//      itself.

extension ExpressionNode: CustomStringConvertible {
    /// The expression as a format.
    public var expressionFormat: String {
        switch self {
        case .constant(let value): value.predicateFormat
        case .list(let values): Self.braces(values.map(\.predicateFormat))
        case .evaluatedObject: "SELF"
        case .keyPath(let path): Self.format(path: path)
        case .variable(let name): Self.format(variable: name)
        case .anyKey: "ANYKEY"
        case .path(let base, let path): "\(base.whole).\(Self.format(segments: path))"
        case .collection(let operation, let base, let path):
            "\(base.whole).@\(operation.rawValue)"
                + (path.map { ".\(Self.format(segments: $0))" } ?? "")
        case .index(let base, let index): "\(base.whole)[\(index.format)]"
        case .function(let function, let arguments): Self.format(function, arguments)
        case .call(let target, let selector, let arguments):
            "FUNCTION(\(([target, .constant(.string(selector))] + arguments).commaFormat))"
        case .cast(let value, let type): "CAST(\(value.expressionFormat), '\(type.rawValue)')"
        case .conditional(let test, let one, let other):
            "TERNARY(\(test.predicateFormat), \([one, other].commaFormat))"
        case .subquery(let collection, let variable, let condition):
            "SUBQUERY(\(collection.expressionFormat), \(Self.format(variable: variable)), "
                + "\(condition.predicateFormat))"
        case .set(let operation, let left, let right):
            "\(left.operand(of: 1, isRight: false)) \(operation.rawValue) "
                + right.operand(of: 1, isRight: true)
        case .aggregate(let members): Self.braces(members.map(\.expressionFormat))
        // Its end would be hard to see.
        case .assignment(let name, let value):
            "(\(Self.format(variable: name)) := \(value.expressionFormat))"
        case .fetch(let request, let context, let countsOnly):
            "FETCH(\([request, context].commaFormat), \(countsOnly ? "TRUE" : "FALSE"))"
        }
    }

    /// The expression as a format.
    public var description: String { expressionFormat }

    private static func braces(_ members: [String]) -> String {
        "{\(members.joined(separator: ", "))}"
    }

    private static func format(_ function: Function, _ arguments: [ExpressionNode]) -> String {
        if let sign = function.sign, arguments.count == 2 {
            return "\(arguments[0].operand(of: sign.precedence, isRight: false)) \(sign.text) "
                + arguments[1].operand(of: sign.precedence, isRight: true)
        }
        return "\(function.rawValue)(\(arguments.commaFormat))"
    }

    /// How tightly its outermost sign binds; nil if it has none.
    private var precedence: Int? {
        switch self {
        case .set: 1
        case .function(let function, let arguments):
            arguments.count == 2 ? function.sign?.precedence : nil
        default: nil
        }
    }

    private func operand(of outer: Int, isRight: Bool) -> String {
        guard let precedence, precedence < outer || (precedence == outer && isRight) else {
            return expressionFormat
        }
        return "(\(expressionFormat))"
    }

    /// As something that can be followed by a point or a bracket.
    private var whole: String { precedence == nil ? expressionFormat : "(\(expressionFormat))" }

    // MARK: Names

    private static func format(variable name: String) -> String {
        isWord(name) ? "$\(name)" : "$#\(Value.quote(name))"
    }

    private static func isWord(_ text: some StringProtocol) -> Bool {
        guard let first = text.unicodeScalars.first, PredicateWords.isStart(first) else {
            return false
        }
        return text.unicodeScalars.allSatisfy(PredicateWords.isPart)
    }

    /// A path at the beginning of an operand.
    private static func format(path: String) -> String {
        path == "objectID" ? "#objectID" : format(segments: path)
    }

    private static func format(segments path: String) -> String {
        let segments = path.split(separator: ".", omittingEmptySubsequences: false)
        guard segments.allSatisfy(isWord) else { return "#" + Value.quote(path) }
        return segments.map { PredicateWords.needsEscape(String($0)) ? "#\($0)" : String($0) }
            .joined(separator: ".")
    }
}

extension [ExpressionNode] {
    fileprivate var commaFormat: String { map(\.expressionFormat).joined(separator: ", ") }
}

extension ExpressionNode.Index {
    fileprivate var format: String {
        switch self {
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        case .at(let index): index.expressionFormat
        }
    }
}
