// Lists of expressions on the command line: a,b or total=sum:(price),@count.
//
//   1. Commas separate the list only outside quotes, parentheses, brackets and braces.
//   2. A word followed by = is the name of the rest; == is a comparison and part of the expression.

import CairnModel

/// The parts of a list in an option.
enum TermList {
    /// Returns the parts of a list, without spaces around them.
    ///
    /// - Throws: `Failure` if there is nothing between two commas, or nothing at all.
    static func parts(_ list: String?, option: String) throws -> [String] {
        guard let list else { return [] }
        var parts: [String] = []
        var part = ""
        var depth = 0
        var quote: Character?
        var isEscaped = false
        for character in list {
            if let open = quote {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == open {
                    quote = nil
                }
            } else {
                switch character {
                case "'", "\"": quote = character
                case "(", "[", "{": depth += 1
                case ")", "]", "}": depth -= 1
                case "," where depth <= 0:
                    parts.append(part)
                    part = ""
                    continue
                default: break
                }
            }
            part.append(character)
        }
        parts.append(part)
        return try parts.map { part in
            let trimmed = part.drop { $0 == " " }
            let end = trimmed.lastIndex { $0 != " " }
            guard let end else {
                throw Failure("\(option): a part of \"\(list)\" is empty", code: .usage)
            }
            return String(trimmed[...end])
        }
    }

    /// Parses a part as a column: `name=expression`, or an expression that is its own name.
    static func column(_ part: String, option: String) throws -> TableTerms.Column {
        let named = split(part)
        return TableTerms.Column(
            named?.name ?? part, try expression(named?.expression ?? part, option: option))
    }

    /// Parses a part as an expression.
    static func expression(_ text: String, option: String) throws -> ExpressionNode {
        // The count of a group's objects requires no collection before it.
        if text == "@count" { return .collection(.count, of: .evaluatedObject, path: nil) }
        if text == "objectID" { return .evaluatedObject }
        do {
            return try ExpressionNode(format: text)
        } catch {
            throw Failure("\(option): \(error.explanation)", code: .usage)
        }
    }

    private static func split(_ part: String) -> (name: String, expression: String)? {
        guard let sign = part.firstIndex(of: "="), sign != part.startIndex else { return nil }
        let rest = part[part.index(after: sign)...]
        let name = part[..<sign]
        guard rest.first != "=", name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
        else { return nil }
        return (String(name), String(rest.drop { $0 == " " }))
    }
}
