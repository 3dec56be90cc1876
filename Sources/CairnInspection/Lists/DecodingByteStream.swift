// Decodes a list in another encoding to UTF-8.
//
//   1. Bytes are read from the stream below, one window at a time; those that do not fit the caller's buffer
//      are kept.
//   2. Lines are counted, for errors about invalid bytes.
//
// Invariants: `ready` contains whole characters in UTF-8; `taken` of its bytes were already returned.
// Threads: one reader.

/// Provides the bytes of a stream as UTF-8.
struct DecodingByteStream: ByteStream {
    private static let windowSize = 64 << 10

    private var stream: any ByteStream
    private let encoding: ListEncoding
    private var ready: [UInt8] = []
    private var taken = 0
    /// The first byte of a unit whose second byte has not been read yet.
    private var half: UInt8?
    /// The first half of a surrogate pair.
    private var surrogate: UInt16?
    private var line = 1
    private var isAtEnd = false

    /// Decodes a stream; its encoding must include the byte order.
    init(_ stream: any ByteStream, encoding: ListEncoding) {
        precondition(encoding != .utf16, "the byte order is known when reading")
        self.stream = stream
        self.encoding = encoding
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ListError) -> Int {
        while taken == ready.count {
            guard !isAtEnd else { return 0 }
            try decode()
        }
        let count = min(buffer.count, ready.count - taken)
        buffer.copyBytes(from: ready[taken..<taken + count])
        taken += count
        return count
    }

    /// Decodes the next window.
    private mutating func decode() throws(ListError) {
        ready.removeAll(keepingCapacity: true)
        taken = 0
        let window = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.windowSize, alignment: 16)
        defer { window.deallocate() }
        let count = try stream.read(into: window)
        guard count > 0 else {
            isAtEnd = true
            if half != nil || surrogate != nil { throw error("the list ends inside a character") }
            return
        }
        for byte in window[..<count] {
            switch encoding {
            case .utf8, .utf16: ready.append(byte)
            case .latin1: append(UInt32(byte))
            case .windows1252:
                if 0x80...0x9F ~= byte {
                    guard let character = ListEncoding.windowsCharacters[Int(byte) - 0x80] else {
                        throw error(
                            "the byte \(String(byte, radix: 16)) is not a character in windows-1252"
                        )
                    }
                    append(UInt32(character))
                } else {
                    append(UInt32(byte))
                }
            case .utf16LittleEndian, .utf16BigEndian:
                guard let first = half else {
                    half = byte
                    continue
                }
                half = nil
                let isLittle = encoding == .utf16LittleEndian
                try append(
                    unit: isLittle
                        ? UInt16(byte) << 8 | UInt16(first) : UInt16(first) << 8 | UInt16(byte))
            }
        }
    }

    private mutating func append(unit: UInt16) throws(ListError) {
        if let high = surrogate {
            guard 0xDC00...0xDFFF ~= unit else { throw error("half of a surrogate pair") }
            surrogate = nil
            append(0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00))
        } else if 0xD800...0xDBFF ~= unit {
            surrogate = unit
        } else {
            guard !(0xDC00...0xDFFF ~= unit) else { throw error("half of a surrogate pair") }
            append(UInt32(unit))
        }
    }

    /// Appends a character that is not half of a surrogate pair.
    private mutating func append(_ code: UInt32) {
        switch code {
        case 0..<0x80:
            if code == 0x0A { line += 1 }
            ready.append(UInt8(code))
        case 0x80..<0x800:
            ready.append(UInt8(0xC0 | code >> 6))
            ready.append(UInt8(0x80 | code & 0x3F))
        case 0x800..<0x10000:
            ready.append(UInt8(0xE0 | code >> 12))
            ready.append(UInt8(0x80 | code >> 6 & 0x3F))
            ready.append(UInt8(0x80 | code & 0x3F))
        default:
            ready.append(UInt8(0xF0 | code >> 18))
            ready.append(UInt8(0x80 | code >> 12 & 0x3F))
            ready.append(UInt8(0x80 | code >> 6 & 0x3F))
            ready.append(UInt8(0x80 | code & 0x3F))
        }
    }

    private func error(_ message: String) -> ListError {
        ListError("\(message): is the list in another --encoding?", line: line)
    }
}
