// Segments leave the live set.                                                    Format 65, F-653

/// The payload of a retire frame.
package struct RetirePayload: Sendable, Hashable {
    /// The numbers of the segments, ascending.
    package var segments: [UInt32]

    package init(segments: [UInt32]) {
        self.segments = segments
    }

    package func encode(to writer: inout ByteWriter) {
        writer.append(UInt32(segments.count))
        for segment in segments { writer.append(segment) }
    }

    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        let count = try reader.integer(UInt32.self)
        guard count > 0, UInt64(count) * 4 == UInt64(reader.remaining) else {
            throw FormatError(
                .malformed, "F-653", "the number of segments is impossible", found: UInt64(count))
        }
        segments = []
        segments.reserveCapacity(Int(count))
        for _ in 0..<count {
            let at = reader.offset
            let segment = try reader.integer(UInt32.self)
            guard segment > segments.last ?? 0 else {
                throw FormatError(
                    .malformed, "F-653", "the segments are not in order", at: at,
                    found: UInt64(segment))
            }
            segments.append(segment)
        }
    }
}
