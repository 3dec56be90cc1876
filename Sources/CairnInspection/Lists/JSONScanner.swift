// Scans JSON, token by token.                                                          RFC 8259
//
//   1. The caller requests what it expects; anything else is an error with line and column.
//   2. Numbers keep their text, so that nothing is lost before the type is known.
//   3. Nested values can be copied as compact text, or skipped.
//
// Invariants: `depth` is the number of open objects and arrays; the keys of one object are distinct.
// Threads: one reader.

/// Reads JSON from bytes, in bounded memory.
package struct JSONScanner: ~Copyable {
    /// The kinds of JSON values.
    package enum Kind: Sendable {
        case object, array, string, number, boolean, null
    }

    /// The maximum nesting depth of objects and arrays.
    package static let deepest = 128

    package var bytes: ListBytes
    private var depth = 0

    private static let stringStops = ByteSet(controlsAnd: "\"", "\\")

    /// Reads a text from its beginning, after a byte order mark if there is one.
    package init(_ stream: any ByteStream, capacity: Int = ListBytes.usualCapacity)
        throws(ListError)
    {
        bytes = ListBytes(stream, capacity: capacity)
        try bytes.takeByteOrderMark()
    }

    /// Returns an error at the next byte.
    package func error(_ message: String) -> ListError { bytes.error(message) }

    // MARK: Structure

    /// Returns the next byte that is not white space; nil at the end.
    package mutating func peek() throws(ListError) -> UInt8? { try bytes.peekBehindSpace() }

    /// Returns the kind of the next value.
    package mutating func kind() throws(ListError) -> Kind {
        guard let byte = try peek() else { throw error("the text ends where a value should be") }
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), 0x30...0x39: return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        default: throw try unexpected("a value")
        }
    }

    /// Consumes the start of an object.
    package mutating func enterObject() throws(ListError) {
        try open("{", "an object")
    }

    /// Consumes the start of an array.
    package mutating func enterArray() throws(ListError) {
        try open("[", "an array")
    }

    /// Reads the next key and its colon; returns false at the end of the object. `isFirst` is true on the
    /// first call for an object.
    package mutating func nextKey(into key: inout [UInt8], isFirst: inout Bool) throws(ListError)
        -> Bool
    {
        guard try next("}", isFirst: &isFirst) else { return false }
        guard try peek() == UInt8(ascii: "\"") else { throw try unexpected("a key in quotes") }
        key.removeAll(keepingCapacity: true)
        try takeString(into: &key)
        guard try peek() == UInt8(ascii: ":") else { throw try unexpected("a colon") }
        bytes.advance()
        return true
    }

    /// Advances to the next element; returns false at the end of the array. `isFirst` is true on the first
    /// call for an array.
    package mutating func nextElement(isFirst: inout Bool) throws(ListError) -> Bool {
        try next("]", isFirst: &isFirst)
    }

    private mutating func open(_ character: Unicode.Scalar, _ what: String) throws(ListError) {
        guard try peek() == UInt8(ascii: character) else { throw try unexpected(what) }
        guard depth < Self.deepest else {
            throw error("objects and arrays are nested more than \(Self.deepest) deep")
        }
        bytes.advance()
        depth += 1
    }

    private mutating func next(_ end: Unicode.Scalar, isFirst: inout Bool) throws(ListError) -> Bool
    {
        let byte = try peek()
        if byte == UInt8(ascii: end) {
            bytes.advance()
            depth -= 1
            return false
        }
        if isFirst {
            isFirst = false
            return true
        }
        guard byte == UInt8(ascii: ",") else { throw try unexpected("a comma or \(end)") }
        bytes.advance()
        if try peek() == UInt8(ascii: end) { throw error("a comma before \(end): remove it") }
        return true
    }

    /// Returns an error about what was found instead.
    package mutating func unexpected(_ wanted: String) throws(ListError) -> ListError {
        guard let byte = try bytes.peek() else {
            return error("the text ends where \(wanted) should be")
        }
        let found =
            byte < 0x20 || byte >= 0x7F
            ? "the byte \(String(byte, radix: 16))" : "\(Character(Unicode.Scalar(byte)))"
        return error("expected \(wanted), but found \(found)")
    }

    // MARK: Values

    /// Reads a string and appends its text.
    package mutating func takeString(into text: inout [UInt8]) throws(ListError) {
        bytes.advance()
        while true {
            try bytes.copyText(into: &text, until: Self.stringStops)
            guard let byte = try bytes.peek() else { throw error("the text ends inside a string") }
            switch byte {
            case UInt8(ascii: "\""):
                bytes.advance()
                return
            case UInt8(ascii: "\\"): try takeEscape(into: &text)
            default: throw error("a control character in a string: it must be escaped")
            }
        }
    }

    private mutating func takeEscape(into text: inout [UInt8]) throws(ListError) {
        let start = error("an unknown escape sequence")
        bytes.advance()
        guard let byte = try bytes.peek() else { throw error("the text ends inside a string") }
        bytes.advance()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = UInt32(try takeHexadecimal())
            if 0xD800...0xDBFF ~= code {
                let half = ListError(
                    "half of a surrogate pair", line: start.line, column: start.column)
                guard try bytes.take(UInt8(ascii: "\\")), try bytes.take(UInt8(ascii: "u")) else {
                    throw half
                }
                let low = UInt32(try takeHexadecimal())
                guard 0xDC00...0xDFFF ~= low else { throw half }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else {
                throw ListError("half of a surrogate pair", line: start.line, column: start.column)
            }
            text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        default: throw start
        }
    }

    private mutating func takeHexadecimal() throws(ListError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = try bytes.peek(),
                let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else { throw error("\\u needs four hexadecimal digits") }
            value = value << 4 | UInt16(digit)
            bytes.advance()
        }
        return value
    }

    /// Reads a number and appends its text unchanged.
    package mutating func takeNumber(into text: inout [UInt8]) throws(ListError) {
        if try bytes.take(UInt8(ascii: "-")) { text.append(UInt8(ascii: "-")) }
        if try bytes.take(UInt8(ascii: "0")) {
            text.append(UInt8(ascii: "0"))
            if let byte = try bytes.peek(), 0x30...0x39 ~= byte {
                throw error("a number must not begin with a zero")
            }
        } else {
            try takeDigits(into: &text)
        }
        if try bytes.take(UInt8(ascii: ".")) {
            text.append(UInt8(ascii: "."))
            try takeDigits(into: &text)
        }
        if let byte = try bytes.peek(), byte | 0x20 == UInt8(ascii: "e") {
            text.append(byte)
            bytes.advance()
            if let sign = try bytes.peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                text.append(sign)
                bytes.advance()
            }
            try takeDigits(into: &text)
        }
    }

    private mutating func takeDigits(into text: inout [UInt8]) throws(ListError) {
        var count = 0
        while let byte = try bytes.peek(), 0x30...0x39 ~= byte {
            text.append(byte)
            bytes.advance()
            count += 1
            guard count <= 4096 else { throw error("a number of more than 4,096 digits") }
        }
        if count == 0 { throw try unexpected("a digit") }
    }

    /// Reads `true` or `false`.
    package mutating func takeBoolean() throws(ListError) -> Bool {
        let truth = try bytes.peek() == UInt8(ascii: "t")
        try takeWord(truth ? "true" : "false")
        return truth
    }

    /// Reads `null`.
    package mutating func takeNull() throws(ListError) {
        try takeWord("null")
    }

    private mutating func takeWord(_ word: StaticString) throws(ListError) {
        let start = error("expected \(word)")
        for index in 0..<word.utf8CodeUnitCount {
            guard try bytes.take(word.utf8Start[index]) else { throw start }
        }
    }

    // MARK: Nested values

    /// Skips a value, but checks it.
    package mutating func skipValue() throws(ListError) {
        var scratch: [UInt8] = []
        try copyValue(into: &scratch, isKept: false)
    }

    /// Reads a value and appends it as compact JSON, with the keys of each object sorted: the order of keys
    /// does not matter.
    package mutating func takeCompact(into text: inout [UInt8]) throws(ListError) {
        try copyValue(into: &text, isKept: true)
    }

    private mutating func copyValue(into text: inout [UInt8], isKept: Bool) throws(ListError) {
        if !isKept { text.removeAll(keepingCapacity: true) }
        guard text.count <= ListBytes.longestRecord else {
            throw error("the record has more than \(ListBytes.longestRecord >> 20) MiB")
        }
        switch try kind() {
        case .object: try copyObject(into: &text, isKept: isKept)
        case .array:
            try enterArray()
            text.append(UInt8(ascii: "["))
            var isFirst = true
            var hasElements = false
            while try nextElement(isFirst: &isFirst) {
                if hasElements { text.append(UInt8(ascii: ",")) }
                hasElements = true
                try copyValue(into: &text, isKept: isKept)
            }
            text.append(UInt8(ascii: "]"))
        case .string:
            var string: [UInt8] = []
            try takeString(into: &string)
            Self.append(string, to: &text)
        case .number: try takeNumber(into: &text)
        case .boolean: text.append(contentsOf: try takeBoolean() ? "true".utf8 : "false".utf8)
        case .null:
            try takeNull()
            text.append(contentsOf: "null".utf8)
        }
    }

    private mutating func copyObject(into text: inout [UInt8], isKept: Bool) throws(ListError) {
        try enterObject()
        text.append(UInt8(ascii: "{"))
        let start = text.count
        var keys: Set<[UInt8]> = []
        var key: [UInt8] = []
        var isFirst = true
        var last: [UInt8] = []
        var isSorted = true
        /// The ranges of the members after the start, if they are kept.
        var members: [(key: [UInt8], range: Range<Int>)] = []
        while try nextKey(into: &key, isFirst: &isFirst) {
            if !keys.isEmpty { text.append(UInt8(ascii: ",")) }
            guard keys.insert(key).inserted else { throw duplicate(key) }
            isSorted = isSorted && !key.lexicographicallyPrecedes(last)
            last = key
            let begin = text.count
            Self.append(key, to: &text)
            text.append(UInt8(ascii: ":"))
            try copyValue(into: &text, isKept: isKept)
            if isKept { members.append((last, begin - start..<text.count - start)) }
        }
        if isKept, !isSorted {
            let content = Array(text[start...])
            text.removeSubrange(start...)
            members.sort { $0.key.lexicographicallyPrecedes($1.key) }
            for member in members {
                if text.count > start { text.append(UInt8(ascii: ",")) }
                text.append(contentsOf: content[member.range])
            }
        }
        text.append(UInt8(ascii: "}"))
    }

    /// Returns an error about a duplicate key of an object.
    package func duplicate(_ key: [UInt8]) -> ListError {
        error("the object has the key \(String(decoding: key, as: UTF8.self)) twice")
    }

    /// Appends text as a JSON string.
    private static func append(_ string: [UInt8], to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0x0A: text.append(contentsOf: "\\n".utf8)
            case 0x0D: text.append(contentsOf: "\\r".utf8)
            case 0x09: text.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                text.append(contentsOf: (byte < 16 ? "\\u000" : "\\u00").utf8)
                text.append(contentsOf: String(byte, radix: 16).utf8)
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
