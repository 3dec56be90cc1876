/// A position between two frames of the log.
struct LogEnd: Sendable, Equatable {
    /// The segment's number.
    var segment: UInt32
    /// The byte position in the segment.
    var offset: UInt64
    /// The position over all main segments.
    var lsn: UInt64
    /// The header checksum of the frame before.
    var chain: UInt32
}
