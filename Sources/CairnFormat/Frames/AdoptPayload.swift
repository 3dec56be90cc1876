// Side segments' frames become part of the commit that contains this frame.       Format 65, F-651

/// The payload of an adopt frame.
package struct AdoptPayload: Sendable, Hashable {
    /// A run of frames of a side segment.
    package struct Part: Sendable, Hashable {
        static let size = 32
        /// The side segment's number.
        package let segment: UInt32
        /// The start of the run: the header's end, or the end of the part before it.
        package let start: UInt64
        /// The end of the run.
        package let end: UInt64
        /// The chain values at both ends.
        package let startChain: UInt32
        package let endChain: UInt32

        package init(
            segment: UInt32, start: UInt64, end: UInt64, startChain: UInt32, endChain: UInt32
        ) {
            self.segment = segment
            self.start = start
            self.end = end
            self.startChain = startChain
            self.endChain = endChain
        }
    }

    /// The parts, ascending by segment.
    package var parts: [Part]

    package init(parts: [Part]) {
        self.parts = parts
    }

    package func encode(to writer: inout ByteWriter) {
        writer.append(UInt32(parts.count))
        writer.append(UInt32(0))
        for part in parts {
            writer.append(part.segment)
            writer.append(UInt32(0))
            writer.append(part.start)
            writer.append(part.end)
            writer.append(part.startChain)
            writer.append(part.endChain)
        }
    }

    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        let count = try reader.integer(UInt32.self)
        try reader.zeros(4)
        guard count > 0, UInt64(count) * UInt64(Part.size) == UInt64(reader.remaining) else {
            throw FormatError(
                .malformed, "F-651", "the number of parts is impossible", found: UInt64(count))
        }
        parts = []
        parts.reserveCapacity(Int(count))
        for _ in 0..<count {
            let at = reader.offset
            let segment = try reader.integer(UInt32.self)
            try reader.zeros(4)
            let part = Part(
                segment: segment, start: try reader.integer(), end: try reader.integer(),
                startChain: try reader.integer(), endChain: try reader.integer())
            guard segment > parts.last?.segment ?? 0, part.start >= UInt64(SegmentHeader.size),
                part.end > part.start, part.start & 7 == 0, part.end & 7 == 0,
                part.end < FormatLimits.maximumLSN
            else {
                throw FormatError(
                    .malformed, "F-651", "a part of a side segment is impossible", at: at,
                    found: UInt64(segment))
            }
            parts.append(part)
        }
    }
}
