/// What a compaction did.
public struct CompactionResult: Sendable, Equatable {
    /// Bytes of the store's segments before, those that waited to be removed included, and those not that are kept for past
    /// states (``PastStateBounds/bytes``).
    public internal(set) var bytesBefore: UInt64 = 0
    /// The same after it.
    public internal(set) var bytesAfter: UInt64 = 0
    /// Bytes that were written for it.
    public internal(set) var bytesWritten: UInt64 = 0
    /// Segments that left the store.
    public internal(set) var retiredSegments = 0
}
