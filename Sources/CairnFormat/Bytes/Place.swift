// The location of a frame: segment and offset.                                 Format 20, F-221

/// The place of a frame's header in the store.
package struct Place: Sendable, Hashable, Comparable {
    /// The number of the segment; 0 for no place.
    package let segment: UInt32
    /// The offset of the frame header in the file, divided by 8.
    package let offset8: UInt32

    /// No place.
    package static let none = Place(segment: 0, offset8: 0)

    package init(segment: UInt32, offset8: UInt32) {
        self.segment = segment
        self.offset8 = offset8
    }

    /// Creates the place of a frame at a byte offset, which must be a multiple of 8 and below 32 GiB.
    package init(segment: UInt32, byteOffset: Int) {
        precondition(
            byteOffset >= 0 && byteOffset & 7 == 0 && byteOffset >> 3 <= Int(UInt32.max),
            "a frame begins at a multiple of 8 below 32 GiB")
        self.init(segment: segment, offset8: UInt32(byteOffset >> 3))
    }

    package var byteOffset: Int { Int(offset8) << 3 }

    package var isNone: Bool { segment == 0 }

    /// Hashes in one step of the hasher, not two.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(UInt64(segment) << 32 | UInt64(offset8))
    }

    package static func < (a: Place, b: Place) -> Bool {
        (a.segment, a.offset8) < (b.segment, b.offset8)
    }
}

extension ByteReader {
    mutating func place() throws(FormatError) -> Place {
        Place(segment: try integer(), offset8: try integer())
    }
}

extension ByteWriter {
    package mutating func append(_ place: Place) {
        append(place.segment)
        append(place.offset8)
    }
}
