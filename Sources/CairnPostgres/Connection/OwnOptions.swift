// The library's own options, extracted from both forms of a connection string.
//
// The string is cut as libpq's parser does it (fe-connect.c, `conninfo_parse` and `conninfo_uri_parse_options`):
// 1. "postgresql://user:password@host/database?a=b&c=d": the query begins at the first "?" behind the user, whose
//    part ends at an "@" before any "/"; keys and values are percent-encoded.
// 2. "a=b c='d e'": a backslash makes the next character an ordinary one; spaces may stand around "=".
// What is malformed is left for libpq to refuse.
//
// Threads: any; a value.

struct OwnOptions {
    /// The options by name; the last one of each counts.
    private(set) var values: [String: String] = [:]
    /// The string without them.
    private(set) var rest = ""

    private static let known = ["cairn_schema", "cairn_prepared_statements"]

    init(takingFrom text: String) throws(SQLFailure) {
        if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
            try takeFromURI(Array(text.utf8))
        } else {
            try takeFromWords(Array(text.utf8))
        }
    }

    private mutating func take(_ name: String, _ value: String) throws(SQLFailure) -> Bool {
        guard name.hasPrefix("cairn_") else { return false }
        guard Self.known.contains(name) else {
            throw ConnectionString.failure(
                "the connection string has an unknown option that starts with \"cairn_\"; this version supports \(Self.known.joined(separator: " and "))"
            )
        }
        values[name] = value
        return true
    }

    // MARK: "postgresql://…"

    private mutating func takeFromURI(_ utf8: [UInt8]) throws(SQLFailure) {
        guard let query = Self.queryStart(utf8) else {
            rest = String(decoding: utf8, as: UTF8.self)
            return
        }
        var kept: [ArraySlice<UInt8>] = []
        let pieces = utf8[query...].split(
            separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        for piece in pieces {
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")),
                let name = Self.decoded(piece[..<equals]),
                let value = Self.decoded(piece[(equals + 1)...]),
                try take(name, value)
            else {
                kept.append(piece)
                continue
            }
        }
        var bytes = utf8[..<(query - 1)]
        if kept.contains(where: { !$0.isEmpty }) {
            bytes += [UInt8(ascii: "?")] + kept.joined(separator: [UInt8(ascii: "&")])
        }
        rest = String(decoding: bytes, as: UTF8.self)
    }

    /// Where the options begin, behind the "?".
    private static func queryStart(_ utf8: [UInt8]) -> Int? {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var start = colon + 3
        let userEnd = utf8[start...].firstIndex {
            $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/")
        }
        if let userEnd, utf8[userEnd] == UInt8(ascii: "@") { start = userEnd + 1 }
        return utf8[start...].firstIndex(of: UInt8(ascii: "?")).map { $0 + 1 }
    }

    private static func decoded(_ piece: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = piece
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal),
                let low = rest.popFirst().flatMap(hexadecimal)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    // MARK: "a=b c='d e'"

    private mutating func takeFromWords(_ utf8: [UInt8]) throws(SQLFailure) {
        var kept: [UInt8] = []
        var scanner = WordScanner(utf8)
        while let word = scanner.next() {
            guard let name = String(validating: word.name, as: UTF8.self),
                let value = String(validating: word.value, as: UTF8.self),
                try take(name, value)
            else {
                kept += utf8[word.range] + [UInt8(ascii: " ")]
                continue
            }
        }
        kept += utf8[scanner.position...]
        rest = String(decoding: kept, as: UTF8.self)
    }
}

/// Cuts "a=b c='d e'"; stops at what is malformed, with `position` at its begin.
private struct WordScanner {
    struct Word {
        let range: Range<Int>
        let name: ArraySlice<UInt8>
        let value: [UInt8]
    }

    private let utf8: [UInt8]
    private(set) var position = 0

    init(_ utf8: [UInt8]) { self.utf8 = utf8 }

    mutating func next() -> Word? {
        let start = skipSpaces(position)
        var index = start
        while index < utf8.count, utf8[index] != UInt8(ascii: "="), !isSpace(utf8[index]) {
            index += 1
        }
        let name = utf8[start..<index]
        index = skipSpaces(index)
        guard index < utf8.count, utf8[index] == UInt8(ascii: "=") else { return nil }
        index = skipSpaces(index + 1)
        var value: [UInt8] = []
        let isQuoted = index < utf8.count && utf8[index] == UInt8(ascii: "'")
        if isQuoted { index += 1 }
        while index < utf8.count {
            if isQuoted ? utf8[index] == UInt8(ascii: "'") : isSpace(utf8[index]) { break }
            if utf8[index] == UInt8(ascii: "\\"), index + 1 < utf8.count { index += 1 }
            value.append(utf8[index])
            index += 1
        }
        if isQuoted {
            guard index < utf8.count else { return nil }
            index += 1
        }
        position = index
        return Word(range: start..<index, name: name, value: value)
    }

    private func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (0x09...0x0D).contains(byte)
    }

    private func skipSpaces(_ start: Int) -> Int {
        var index = start
        while index < utf8.count, isSpace(utf8[index]) { index += 1 }
        return index
    }
}
