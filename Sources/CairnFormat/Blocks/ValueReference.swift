// The 24 bytes in a cell that refer to a large value.                          Format 60, F-631

/// A reference to a large value.
package struct ValueReference: Sendable, Hashable {
    package static let size = 24

    /// The place of its first value frame.
    package var place: Place
    /// The size of the whole value in bytes, at least 1.
    package var length: UInt64
    /// The checksum of the whole value.
    package var checksum: UInt32

    package init(place: Place, length: UInt64, checksum: UInt32) {
        self.place = place
        self.length = length
        self.checksum = checksum
    }

    package func encode(to writer: inout ByteWriter) {
        writer.append(place)
        writer.append(length)
        writer.append(checksum)
        writer.append(UInt32(0))
    }

    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(bytes)
        place = try reader.place()
        length = try reader.integer()
        checksum = try reader.integer()
        try reader.zeros(4)
        try reader.end()
        guard !place.isNone, length > 0 else {
            throw FormatError(
                .malformed, "F-631", "the reference to a large value is impossible", found: length)
        }
    }
}
