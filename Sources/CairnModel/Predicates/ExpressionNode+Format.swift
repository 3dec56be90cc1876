// Prints an expression as a format string that parses back into the same tree.
//
//   1. An operand that binds less tightly than the sign beside it stands in parentheses; so does one on
//      the right that binds as tightly, since signs are read from the left.
//   2. What a path, an index or a collection operator follows stands in parentheses unless it is whole by
//      itself.

extension ExpressionNode: CustomStringConvertible {
    /// The expression as a format string.
    public var expressionFormat: String { format(.exact) }

    /// The expression as a format string.
    public var description: String { expressionFormat }

    /// The expression as a format string, written in a style.
    package func format(_ style: PredicateStyle) -> String {
        switch self {
        case .constant(let value): value.format(style)
        case .list(let values): Self.braces(values.map { $0.format(style) })
        case .evaluatedObject: "SELF"
        case .keyPath(let path): Self.format(path: path, style)
        case .variable(let name): Self.format(variable: name, style)
        case .anyKey: "ANYKEY"
        case .path(let base, let path):
            "\(base.whole(style)).\(Self.format(segments: path, style))"
        // A program may put it behind another path.
        case .collection(let operation, .evaluatedObject, let path) where style == .coreData:
            "@\(operation.rawValue)" + (path.map { ".\(Self.format(segments: $0, style))" } ?? "")
        case .collection(let operation, let base, let path):
            "\(base.whole(style)).@\(operation.rawValue)"
                + (path.map { ".\(Self.format(segments: $0, style))" } ?? "")
        case .index(let base, let index): "\(base.whole(style))[\(index.format(style))]"
        case .function(let function, let arguments): Self.format(function, arguments, style)
        case .call(let target, let selector, let arguments):
            "FUNCTION(\(([target, .constant(.string(selector))] + arguments).commaFormat(style)))"
        case .cast(let value, let type):
            "CAST(\(value.format(style)), \(Value.quote(type.rawValue, style)))"
        case .conditional(let test, let one, let other):
            "TERNARY(\(test.format(style)), \([one, other].commaFormat(style)))"
        case .subquery(let collection, let variable, let condition):
            "SUBQUERY(\(collection.format(style)), \(Self.format(variable: variable, style)), "
                + "\(condition.format(style)))"
        case .set(let operation, let left, let right):
            "\(left.operand(of: 1, isRight: false, style)) \(operation.rawValue) "
                + right.operand(of: 1, isRight: true, style)
        case .aggregate(let members): Self.braces(members.map { $0.format(style) })
        // Its end would be hard to see.
        case .assignment(let name, let value):
            "(\(Self.format(variable: name, style)) := \(value.format(style)))"
        case .fetch(let request, let context, let countsOnly):
            "FETCH(\([request, context].commaFormat(style)), \(countsOnly ? "TRUE" : "FALSE"))"
        }
    }

    private static func braces(_ members: [String]) -> String {
        "{\(members.joined(separator: ", "))}"
    }

    private static func format(
        _ function: Function, _ arguments: [ExpressionNode], _ style: PredicateStyle
    ) -> String {
        if let sign = function.sign, arguments.count == 2 {
            return
                "\(arguments[0].operand(of: sign.precedence, isRight: false, style)) \(sign.text) "
                + arguments[1].operand(of: sign.precedence, isRight: true, style)
        }
        return "\(function.rawValue)(\(arguments.commaFormat(style)))"
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

    private func operand(of outer: Int, isRight: Bool, _ style: PredicateStyle) -> String {
        guard let precedence, precedence < outer || (precedence == outer && isRight) else {
            return format(style)
        }
        return "(\(format(style)))"
    }

    /// As something that can be followed by a point or a bracket.
    private func whole(_ style: PredicateStyle) -> String {
        precedence == nil ? format(style) : "(\(format(style)))"
    }

    // MARK: Names

    private static func format(variable name: String, _ style: PredicateStyle) -> String {
        isWord(name) ? "$\(name)" : "$#\(Value.quote(name, style))"
    }

    private static func isWord(_ text: some StringProtocol) -> Bool {
        guard let first = text.unicodeScalars.first, PredicateWords.isStart(first) else {
            return false
        }
        return text.unicodeScalars.allSatisfy(PredicateWords.isPart)
    }

    /// A path at the beginning of an operand.
    private static func format(path: String, _ style: PredicateStyle) -> String {
        path == "objectID" ? "#objectID" : format(segments: path, style)
    }

    private static func format(segments path: String, _ style: PredicateStyle) -> String {
        let segments = path.split(separator: ".", omittingEmptySubsequences: false)
        guard segments.allSatisfy(isWord) else { return "#" + Value.quote(path, style) }
        return segments.map { PredicateWords.needsEscape(String($0)) ? "#\($0)" : String($0) }
            .joined(separator: ".")
    }
}

extension [ExpressionNode] {
    fileprivate func commaFormat(_ style: PredicateStyle) -> String {
        map { $0.format(style) }.joined(separator: ", ")
    }
}

extension ExpressionNode.Index {
    fileprivate func format(_ style: PredicateStyle) -> String {
        switch self {
        case .first: "FIRST"
        case .last: "LAST"
        case .size: "SIZE"
        case .at(let index): index.format(style)
        }
    }
}
