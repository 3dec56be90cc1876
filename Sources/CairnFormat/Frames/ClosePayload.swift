// The frame that ends a store closed cleanly.                                  Format 60, F-607

/// The payload of a close frame.
package struct ClosePayload: Sendable, Hashable {
    /// The time of the close, in seconds since 2001-01-01 UTC.
    package var time: Double
    /// The next numbers of the trees whose counters have advanced since the last commit, by tree.
    package var counters: [TreeCounter]

    package init(time: Double, counters: [TreeCounter] = []) {
        self.time = time
        self.counters = counters
    }

    package func encode(to writer: inout ByteWriter) {
        writer.append(double: time)
        writer.append(UInt32(counters.count))
        writer.append(UInt32(0))
        writer.append(counters)
    }

    package init(decoding payload: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(payload)
        time = try reader.double()
        let count = try reader.integer(UInt32.self)
        try reader.zeros(4)
        counters = try reader.counters(count)
        try reader.end()
    }
}
