// Names in the database: always quoted, distinct, and short enough.

/// Unique names in one table or one schema of the database.
struct SQLNames {
    /// The bytes that a name can have; what is longer would be cut off by the server, without a word.
    private static let longest = 63
    private var given: Set<String>

    /// - Parameter reserved: names that are given already.
    init(reserved: [String] = []) { given = Set(reserved) }

    /// A name like one that is wanted, or that itself.
    mutating func give(_ wanted: String) -> String {
        var name = Self.cut(wanted, to: Self.longest)
        var count = 1
        while !given.insert(name).inserted {
            count += 1
            let tail = "~\(count)"
            name = Self.cut(wanted, to: Self.longest - tail.utf8.count) + tail
        }
        return name
    }

    /// A beginning of a text of so many bytes at most; whole characters.
    private static func cut(_ text: String, to count: Int) -> String {
        if text.utf8.count <= count { return text }
        var bytes = 0
        return String(
            text.prefix { character in
                bytes += character.utf8.count
                return bytes <= count
            })
    }
}

extension String {
    /// The name as SQL has it, whatever is in it.
    var quoted: String { "\"" + replacing("\"", with: "\"\"") + "\"" }

    /// The text as a constant in SQL, whatever is in it. For statements that take no parameters: values are those else.
    var literal: String {
        "E'" + replacing("\\", with: "\\\\").replacing("'", with: "''") + "'"
    }
}
