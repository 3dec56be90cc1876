// The bytes of a list, one window at a time, with the position of each.
//
//   1. The window is refilled when its last byte was consumed; a token may span several windows, so its
//      reader copies it.
//   2. Text is checked as it is copied: invalid UTF-8 is an error with its position.
//
// Invariants: position <= limit <= capacity; only `takeLineFeed` consumes a line feed.
// Threads: one reader.

/// Reads bytes from a stream and tracks their positions.
package struct ListBytes: ~Copyable {
    /// Large enough that one system call per window costs nothing, small enough for any machine.
    package static let usualCapacity = 256 << 10
    /// The maximum size of one record in bytes: an unclosed quote must not fill the memory.
    package static let longestRecord = 64 << 20

    /// The error for bytes that are not text, and the advice.
    private static let noText =
        "these bytes are not UTF-8: specify the encoding with --encoding, such as windows-1252"

    private var stream: any ByteStream
    private let base: UnsafeMutablePointer<UInt8>
    private let capacity: Int
    private var position = 0
    private var limit = 0
    /// The number of bytes before the window.
    private var before = 0
    private var lineStart = 0
    /// The line of the next byte, from 1.
    package private(set) var line = 1

    /// Reads a stream from its beginning.
    package init(_ stream: any ByteStream, capacity: Int = usualCapacity) {
        precondition(capacity > 0, "a window has at least one byte")
        self.stream = stream
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    /// The number of consumed bytes.
    package var count: Int { before + position }

    /// The column of the next byte in bytes, from 1.
    package var column: Int { count - lineStart + 1 }

    /// Returns the next byte without consuming it; nil at the end.
    package mutating func peek() throws(ListError) -> UInt8? {
        if position == limit {
            guard try fill() else { return nil }
        }
        return base[position]
    }

    /// Returns the next byte that is not white space of JSON, without consuming it; nil at the end.
    @inline(__always)
    mutating func peekBehindSpace() throws(ListError) -> UInt8? {
        while let byte = try peek() {
            switch byte {
            case 0x20, 0x09, 0x0D: advance()
            case 0x0A: takeLineFeed()
            default: return byte
            }
        }
        return nil
    }

    /// Consumes the byte that `peek` returned; it must not be a line feed.
    package mutating func advance() {
        position += 1
    }

    /// Consumes a line feed that `peek` returned.
    package mutating func takeLineFeed() {
        position += 1
        line += 1
        lineStart = count
    }

    /// Consumes a byte if it is the next one, and returns whether it was.
    package mutating func take(_ byte: UInt8) throws(ListError) -> Bool {
        guard try peek() == byte else { return false }
        position += 1
        return true
    }

    /// Returns an error at the next byte.
    package func error(_ message: String) -> ListError {
        ListError(message, line: line, column: column)
    }

    /// Consumes the byte order mark that some programs write, and rejects other encodings.
    package mutating func takeByteOrderMark() throws(ListError) {
        guard let first = try peek() else { return }
        if first == 0xFE || first == 0xFF {
            throw error("it seems to be UTF-16, not UTF-8: use --encoding utf-16")
        }
        guard first == 0xEF else { return }
        for byte: UInt8 in [0xEF, 0xBB, 0xBF] {
            guard try take(byte) else { throw error(Self.noText) }
        }
        lineStart = count
    }

    /// Copies bytes up to the first one in `stops`, which it does not consume, and checks that they are
    /// UTF-8.
    ///
    /// Line feeds and carriage returns always stop.
    package mutating func copyText(
        into text: inout [UInt8], until stops: borrowing ByteSet
    ) throws(ListError) {
        while try peek() != nil {
            var end = position
            while end < limit, !stops.contains(base[end]), base[end] < 0x80 { end += 1 }
            text.append(
                contentsOf: UnsafeBufferPointer(start: base + position, count: end - position))
            position = end
            guard text.count <= Self.longestRecord else {
                throw error("the record has more than \(Self.longestRecord >> 20) MiB")
            }
            guard let byte = try peek() else { return }
            if stops.contains(byte) { return }
            if byte >= 0x80 { try copySequence(into: &text, first: byte) }
        }
    }

    /// Copies one multi-byte character.
    private mutating func copySequence(into text: inout [UInt8], first: UInt8) throws(ListError) {
        let start = error(Self.noText)
        // The valid range of the second byte; the others are 80 to BF.
        let (length, second): (Int, ClosedRange<UInt8>)
        switch first {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xE1...0xEC, 0xEE, 0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw start
        }
        text.append(first)
        position += 1
        for index in 1..<length {
            guard let byte = try peek(), (index == 1 ? second : 0x80...0xBF).contains(byte) else {
                throw start
            }
            text.append(byte)
            position += 1
        }
    }

    private mutating func fill() throws(ListError) -> Bool {
        before += limit
        position = 0
        limit = 0
        let count = try stream.read(
            into: UnsafeMutableRawBufferPointer(start: base, count: capacity))
        limit = count
        return count > 0
    }
}

/// A set of ASCII bytes.
package struct ByteSet: Sendable {
    private let low: UInt64
    private let high: UInt64

    /// Creates a set of the control characters and these characters.
    package init(controlsAnd characters: Unicode.Scalar...) {
        self.init(characters, and: 0xFFFF_FFFF)
    }

    /// Creates a set of line feed, carriage return and these characters.
    package init(lineEndsAnd characters: Unicode.Scalar...) {
        self.init(characters, and: 1 << 10 | 1 << 13)
    }

    private init(_ characters: [Unicode.Scalar], and others: UInt64) {
        var low = others
        var high: UInt64 = 0
        for byte in characters.map({ UInt8(ascii: $0) }) {
            if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte - 64) }
        }
        self.low = low
        self.high = high
    }

    /// Returns whether a byte is in the set.
    package func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? low & (1 << byte) != 0 : byte < 128 && high & (1 << (byte - 64)) != 0
    }
}
