// Patterns of LIKE, translated to the server's LIKE.
//
// Ours is about characters, the server's about scalars: what is like ours is like this one, but not the other way round.
//
// Threads: a plain value.

struct SQLPattern {
    /// The server's pattern.
    private(set) var sql = ""
    /// Whether it is a text without signs: what is like it is equal to it.
    private(set) var isText = true

    init(_ pattern: String) {
        var isEscaped = false
        for character in pattern {
            if isEscaped {
                sql += Self.escaped(String(character))
                isEscaped = false
                continue
            }
            switch character {
            case "\\": isEscaped = true
            case "*": sql += "%"
            // One scalar or more.
            case "?": sql += "_%"
            default:
                sql += Self.escaped(String(character))
                continue
            }
            isText = false
        }
        if isEscaped { sql += "\\\\" }
    }

    /// A text that stands for itself in a pattern.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if scalar == "\\" || scalar == "%" || scalar == "_" { escaped += "\\" }
            escaped.unicodeScalars.append(scalar)
        }
        return escaped
    }
}
