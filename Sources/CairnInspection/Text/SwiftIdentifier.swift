// Spells the names of a model in Swift.
//
//   1. A name that is an identifier is unchanged, a keyword in backticks.
//   2. Backticks allow nearly any other text: blanks, hyphens, a digit at the start. They do not allow
//      backticks, backslashes and control characters, and the macros interpret quotes, points (a path) and a
//      hyphen at the start (a descending key).
//   3. A name that cannot be spelled is built from its words.

/// Spells names in Swift.
package enum SwiftIdentifier {
    /// Returns the spelling of a property's name in code; nil if it has none.
    package static func property(_ name: String) -> String? {
        if isPlain(name) { return keywords.contains(name) ? "`\(name)`" : name }
        guard name.unicodeScalars.contains(where: \.properties.isXIDContinue),
            name.unicodeScalars.allSatisfy(isRaw), !name.hasPrefix("-"), !name.hasPrefix("$"),
            name.first != " ", name.last != " ", name != "_"
        else { return nil }
        return "`\(name)`"
    }

    /// Returns a name from code without backticks.
    package static func plain(_ written: String) -> String { written.filter { $0 != "`" } }

    /// Returns whether a name requires no backticks unless it is a keyword.
    package static func isPlain(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, name != "_" else { return false }
        return (first == "_" || isLetter(first))
            && name.unicodeScalars.dropFirst().allSatisfy { scalar in
                scalar == "_" || isLetter(scalar) || "0"..."9" ~= scalar
                    || (!scalar.isASCII && scalar.properties.isXIDContinue)
            }
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            ? "a"..."z" ~= scalar || "A"..."Z" ~= scalar : scalar.properties.isXIDStart
    }

    /// Returns whether a scalar is valid between backticks and has no meaning to the macros.
    private static func isRaw(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "`", "\\", "\"", ".": return false
        case " ": return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate,
            .privateUse, .unassigned:
            return false
        default: return true
        }
    }

    // MARK: Made names

    /// Returns a type name built from the words of a text: with a capital at the start.
    package static func typeName(madeOf text: String) -> String {
        let name = isPlain(text) ? capitalized(text) : words(of: text).map(capitalized).joined()
        return isPlain(name) ? name : "Entity" + name
    }

    /// Returns a property name built from the words of a text.
    package static func propertyName(madeOf text: String) -> String {
        let words = words(of: text)
        guard let first = words.first else { return "value" }
        let name =
            first.prefix(1).lowercased() + first.dropFirst()
            + words.dropFirst().map(capitalized).joined()
        return isPlain(name) ? name : "_" + name
    }

    package static func capitalized(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Returns the runs of letters and digits in a text.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isPart =
                scalar.isASCII
                ? isLetter(scalar) || "0"..."9" ~= scalar : scalar.properties.isXIDContinue
            if isPart {
                word.append(scalar)
            } else if !word.isEmpty {
                words.append(String(word))
                word = String.UnicodeScalarView()
            }
        }
        if !word.isEmpty { words.append(String(word)) }
        return words
    }

    /// Words that require backticks as names.
    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import",
        "init", "inout", "internal", "let", "operator", "precedencegroup", "private", "protocol",
        "public", "rethrows", "static", "struct", "subscript", "typealias", "var", "break", "case",
        "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if",
        "in", "repeat", "return", "throw", "switch", "where", "while", "Any", "as", "await",
        "false", "is", "nil", "self", "Self", "super", "throws", "true", "try",
    ]
}
