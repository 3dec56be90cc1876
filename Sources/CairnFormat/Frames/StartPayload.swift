// The content of the first frame of a main segment.                            Format 20, F-215

/// The payload of a start frame.
package struct StartPayload: Sendable, Hashable {
    /// A member of the live set.
    package struct LiveSegment: Sendable, Hashable {
        static let size = 24
        package var number: UInt32
        package var kind: SegmentKind
        /// The end of its content; for a side segment the end of its adopted part.
        package var end: UInt64
        /// The chain value at the end.
        package var chain: UInt32

        package init(number: UInt32, kind: SegmentKind, end: UInt64, chain: UInt32) {
            self.number = number
            self.kind = kind
            self.end = end
            self.chain = chain
        }

        func encode(to writer: inout ByteWriter) {
            writer.append(number)
            writer.append(kind.rawValue)
            writer.append(end)
            writer.append(chain)
            writer.append(UInt32(0))
        }
    }

    /// The segments before this one, by number, without this one.
    package var live: [LiveSegment]
    /// The next number of every tree, by tree.
    package var counters: [TreeCounter]
    /// The schema frame in force; `.none` in the first segment of a store.
    package var schema: Place
    /// The version of that schema; 0 without one.
    package var schemaVersion: UInt32

    package init(
        live: [LiveSegment] = [], counters: [TreeCounter] = [], schema: Place = .none,
        schemaVersion: UInt32 = 0
    ) {
        self.live = live
        self.counters = counters
        self.schema = schema
        self.schemaVersion = schemaVersion
    }

    package func encode(to writer: inout ByteWriter) {
        writer.append(UInt32(live.count))
        writer.append(UInt32(counters.count))
        writer.append(schema)
        writer.append(schemaVersion)
        writer.append(UInt32(0))
        for (index, segment) in live.enumerated() {
            precondition(
                index == 0 || live[index - 1].number < segment.number,
                "segments are written in order")
            segment.encode(to: &writer)
        }
        writer.append(counters)
    }

    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        let liveCount = try reader.integer(UInt32.self)
        let counterCount = try reader.integer(UInt32.self)
        schema = try reader.place()
        schemaVersion = try reader.integer()
        try reader.zeros(4)
        guard schema.isNone == (schemaVersion == 0) else {
            throw FormatError(
                .malformed, "F-217", "schema place and schema version contradict each other", at: 8)
        }
        guard UInt64(liveCount) * UInt64(LiveSegment.size) <= UInt64(reader.remaining) else {
            throw reader.truncated(Int(clamping: UInt64(liveCount) * UInt64(LiveSegment.size)))
        }
        live = []
        live.reserveCapacity(Int(liveCount))
        for _ in 0..<liveCount {
            let segment = try reader.liveSegment()
            guard live.last.map({ $0.number < segment.number }) ?? true else {
                throw FormatError(
                    .malformed, "F-215", "the live set is not in order", at: reader.offset,
                    found: UInt64(segment.number))
            }
            live.append(segment)
        }
        counters = try reader.counters(counterCount)
        try reader.end()
    }
}

extension ByteReader {
    mutating func liveSegment() throws(FormatError) -> StartPayload.LiveSegment {
        let start = offset
        let number = try integer(UInt32.self)
        let kind = SegmentKind(rawValue: try integer())
        let end = try integer(UInt64.self)
        let chain = try integer(UInt32.self)
        try zeros(4)
        guard let kind, number != 0, end & 7 == 0, end >= UInt64(SegmentHeader.size),
            end < FormatLimits.maximumLSN
        else {
            throw FormatError(
                .malformed, "F-215", "a member of the live set is impossible", at: start,
                found: UInt64(number))
        }
        return .init(number: number, kind: kind, end: end, chain: chain)
    }
}
