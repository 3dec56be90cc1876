/// A position between two frames of the log.
package struct LogEnd: BitwiseCopyable, Sendable, Equatable {
    /// The segment's number.
    package var segment: UInt32
    /// The byte position in the segment.
    package var offset: UInt64
    /// The position over all main segments.
    package var lsn: UInt64
    /// The header checksum of the frame before.
    package var chain: UInt32

    package init(segment: UInt32, offset: UInt64, lsn: UInt64, chain: UInt32) {
        self.segment = segment
        self.offset = offset
        self.lsn = lsn
        self.chain = chain
    }
}
