/// Consecutive frames in a segment.
struct LogChunk: Sendable {
    let segment: Segment
    let start: UInt64
    var bytes: [UInt8]
}
