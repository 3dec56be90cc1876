// The record after the mark in the lock file: the machine that has the store open for writing.  Format 20.7
//
// It exists only if the store is on a disk that other machines may share. Older code ignores it.

/// The machine that has a store open for writing.                                              F-227
package struct HostRecord: Sendable, Hashable {
    package static let size = 128
    /// The offset of the record in the lock file.
    package static let offset = 64
    /// "CAIRNHST" in ASCII.
    package static let magic: UInt64 = 0x5453_484e_5249_4143
    private static let version: UInt32 = 1
    /// The maximum size of a name, in bytes.
    private static let room = 64

    /// The kernel's identifier of the machine's current boot.
    package let high: UInt64
    package let low: UInt64
    /// The host name, for messages.
    package let name: String

    /// - Parameter name: truncated at a character if it is too long.
    package init(high: UInt64, low: UInt64, name: String) {
        self.high = high
        self.low = low
        var cut = name
        while cut.utf8.count > Self.room { cut.removeLast() }
        self.name = cut
    }

    /// Returns whether it is the same machine since the same boot: names do not matter.
    package func isSameHost(as other: HostRecord) -> Bool { high == other.high && low == other.low }

    package func encode(to writer: inout ByteWriter) {
        let start = writer.count
        writer.append(Self.magic)
        writer.append(Self.version)
        writer.append(UInt32(name.utf8.count))
        writer.append(high)
        writer.append(low)
        var text = Array(name.utf8)
        text.append(contentsOf: repeatElement(0, count: Self.size - 4 - 32 - text.count))
        text.withUnsafeBytes { writer.append($0) }
        writer.append(Checksum.crc32c(UnsafeRawBufferPointer(rebasing: writer.bytes[start...])))
    }

    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        guard bytes.count >= Self.size else {
            throw FormatError(
                .truncated, "F-227", "the host record is shorter than 128 bytes", at: bytes.count,
                expected: UInt64(Self.size), found: UInt64(bytes.count))
        }
        let end = Self.size - 4
        var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        let magic = try reader.integer(UInt64.self)
        guard magic == Self.magic else {
            throw FormatError(
                .badMagic, "F-227", "not a host record", expected: Self.magic, found: magic)
        }
        let stated = UInt32(
            littleEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self))
        let computed = Checksum.crc32c(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        guard stated == computed else {
            throw FormatError(
                .badChecksum, "F-227", "the host record is damaged", at: end,
                expected: UInt64(stated), found: UInt64(computed))
        }
        let version = try reader.integer(UInt32.self)
        guard version == Self.version else {
            throw FormatError(
                .unsupportedVersion, "F-227", "the host record has another version", at: 8,
                expected: UInt64(Self.version), found: UInt64(version))
        }
        let length = try reader.integer(UInt32.self)
        high = try reader.integer()
        low = try reader.integer()
        guard length <= UInt32(Self.room) else {
            throw FormatError(
                .malformed, "F-227", "the host record's name is too long", at: 12,
                expected: UInt64(Self.room), found: UInt64(length))
        }
        let text = try reader.take(Int(length))
        guard UTF8Check.isValid(text.bindMemory(to: UInt8.self)) else {
            throw FormatError(.malformed, "F-227", "the host record's name is no text", at: 32)
        }
        name = String(decoding: text, as: UTF8.self)
        try reader.zeros(end - 32 - Int(length))
        try reader.end()
    }
}
