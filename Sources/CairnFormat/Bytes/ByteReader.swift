// Reads the fields of a structure in order, never past its end.               Format 10, F-104
//
// Invariants: 0 <= offset <= bytes.count. Loads are unaligned.
// Threads: a value of the one function that decodes.

struct ByteReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var remaining: Int { bytes.count &- offset }

    @inline(__always)
    mutating func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) throws(FormatError) -> T {
        let size = MemoryLayout<T>.size
        guard remaining >= size else { throw truncated(size) }
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: T.self)
        offset &+= size
        return T(littleEndian: value)
    }

    mutating func double() throws(FormatError) -> Double {
        Double(bitPattern: try integer(UInt64.self))
    }

    /// Returns the next bytes, without copying them.
    mutating func take(_ count: Int) throws(FormatError) -> UnsafeRawBufferPointer {
        guard count >= 0, remaining >= count else { throw truncated(count) }
        let part = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset &+ count])
        offset &+= count
        return part
    }

    /// Skips reserved bytes: all must be zero, since a later writer may give them a meaning.      F-103
    mutating func zeros(_ count: Int) throws(FormatError) {
        let start = offset
        for byte in try take(count) where byte != 0 {
            throw FormatError(.malformed, "F-103", "reserved bytes are not zero", at: start)
        }
    }

    /// Checks that the structure ends where its bytes end.
    func end() throws(FormatError) {
        guard remaining == 0 else {
            throw FormatError(
                .malformed, "F-104", "there are bytes after the end of the structure", at: offset,
                expected: 0, found: UInt64(remaining))
        }
    }

    func truncated(_ needed: Int) -> FormatError {
        FormatError(
            .truncated, "F-104", "the structure ends early", at: offset,
            expected: UInt64(clamping: needed), found: UInt64(remaining))
    }
}
