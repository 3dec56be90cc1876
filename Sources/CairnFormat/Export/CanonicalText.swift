// Strings, bytes and UUIDs in the canonical export.                     Format 80, F-818 to F-820
//
// Runs of bytes without escapes are appended in one step.

package enum CanonicalText {
    /// Appends UTF-8 bytes as a JSON string.
    ///
    /// - Throws: `FormatError` if the bytes are not UTF-8.                                    F-553
    package static func append(utf8 bytes: UnsafeRawBufferPointer, to writer: inout ByteWriter)
        throws(FormatError)
    {
        let units = bytes.assumingMemoryBound(to: UInt8.self)
        guard UTF8Check.isValid(units) else {
            throw FormatError(.malformed, "F-553", "a string is not UTF-8")
        }
        writer.append(UInt8(ascii: "\""))
        var run = 0
        for index in 0..<units.count {
            let byte = units[index]
            guard byte < 0x20 || byte == 0x22 || byte == 0x5c else { continue }
            writer.append(UnsafeRawBufferPointer(rebasing: bytes[run..<index]))
            appendEscape(byte, to: &writer)
            run = index + 1
        }
        writer.append(UnsafeRawBufferPointer(rebasing: bytes[run...]))
        writer.append(UInt8(ascii: "\""))
    }

    /// Appends text as a JSON string.
    package static func append(_ text: String, to writer: inout ByteWriter) {
        var text = text
        text.withUTF8 { bytes in
            do throws(FormatError) {
                try append(utf8: UnsafeRawBufferPointer(bytes), to: &writer)
            } catch {
                preconditionFailure("a String is UTF-8")
            }
        }
    }

    /// Appends bytes as a JSON string in base64 with padding.
    package static func append(base64 bytes: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        writer.append(UInt8(ascii: "\""))
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let left = bytes.count - start
            let group =
                UInt32(bytes[start]) << 16 | (left > 1 ? UInt32(bytes[start + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[start + 2]) : 0)
            writer.append(sixBits(group >> 18))
            writer.append(sixBits(group >> 12))
            writer.append(left > 1 ? sixBits(group >> 6) : UInt8(ascii: "="))
            writer.append(left > 2 ? sixBits(group) : UInt8(ascii: "="))
        }
        writer.append(UInt8(ascii: "\""))
    }

    /// Appends the 16 bytes of a UUID as a JSON string, in capital letters.
    package static func append(uuid bytes: UnsafeRawBufferPointer, to writer: inout ByteWriter) {
        precondition(bytes.count == 16, "a UUID has 16 bytes")
        writer.append(UInt8(ascii: "\""))
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 {
                writer.append(UInt8(ascii: "-"))
            }
            writer.append(hexadecimal(byte >> 4, letters: UInt8(ascii: "A")))
            writer.append(hexadecimal(byte & 15, letters: UInt8(ascii: "A")))
        }
        writer.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(_ byte: UInt8, to writer: inout ByteWriter) {
        writer.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x22, 0x5c: writer.append(byte)
        case 0x08: writer.append(UInt8(ascii: "b"))
        case 0x09: writer.append(UInt8(ascii: "t"))
        case 0x0a: writer.append(UInt8(ascii: "n"))
        case 0x0c: writer.append(UInt8(ascii: "f"))
        case 0x0d: writer.append(UInt8(ascii: "r"))
        default:
            writer.append(utf8: "u00")
            writer.append(hexadecimal(byte >> 4, letters: UInt8(ascii: "a")))
            writer.append(hexadecimal(byte & 15, letters: UInt8(ascii: "a")))
        }
    }

    private static func hexadecimal(_ digit: UInt8, letters: UInt8) -> UInt8 {
        digit < 10 ? 48 + digit : letters + (digit - 10)
    }

    private static func sixBits(_ value: UInt32) -> UInt8 {
        let bits = UInt8(truncatingIfNeeded: value & 63)
        switch bits {
        case 0..<26: return UInt8(ascii: "A") + bits
        case 26..<52: return UInt8(ascii: "a") + (bits - 26)
        case 52..<62: return UInt8(ascii: "0") + (bits - 52)
        case 62: return UInt8(ascii: "+")
        default: return UInt8(ascii: "/")
        }
    }
}
