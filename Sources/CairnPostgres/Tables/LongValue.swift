// Strings and bytes in indexes: an index entry has a maximum size of about 2,700 bytes, and a value can be longer.
//
//   left("name", 200)                                                  what indexes have of a text
//   CASE WHEN length("name") > 200 THEN md5("name") ELSE '' END        the rest of it, where it must be unique
//
// Whoever looks for a value asks for its beginning as well, so that the index is used, and compares the whole.
//
// Threads: functions of values only.

/// The part of a long value that is indexed.
struct LongValue {
    let type: ColumnType

    /// Nil for types whose values are short.
    init?(_ type: ColumnType) {
        guard type == .text || type == .bytea else { return nil }
        self.type = type
    }

    /// How many characters of a text stand in an index, of up to four bytes each.
    static let characters = 200
    /// How many bytes stand in an index.
    static let bytes = 800
    /// So many long values fit into one index.
    static let most = 3

    /// The beginning of a value.
    func beginning(_ sql: String) -> String {
        type == .text
            ? "left(\(sql), \(Self.characters))" : "substring(\(sql), 1, \(Self.bytes))"
    }

    /// What tells values apart whose beginnings are the same.
    func rest(_ sql: String) -> String {
        let length =
            type == .text
            ? "length(\(sql)) > \(Self.characters)" : "octet_length(\(sql)) > \(Self.bytes)"
        return "(CASE WHEN \(length) THEN md5(\(sql)) ELSE '' END)"
    }

    /// What tells any two values apart.
    static func whole(_ sql: String) -> String { "md5(\(sql))" }

    /// What an index has of a text.
    static func beginning(of text: String) -> String {
        let scalars = text.unicodeScalars
        guard text.utf8.count > characters,
            let end = scalars.index(
                scalars.startIndex, offsetBy: characters, limitedBy: scalars.endIndex)
        else { return text }
        return String(scalars[..<end])
    }

    /// The least text that comes after all that begin with another; nil if there is none.
    static func next(after beginning: String) -> String? {
        var scalars = beginning.unicodeScalars
        while let last = scalars.popLast() {
            if last.value == 0x10FFFF { continue }
            // Between them there are no characters.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { return nil }
            scalars.append(scalar)
            return String(scalars)
        }
        return nil
    }
}
