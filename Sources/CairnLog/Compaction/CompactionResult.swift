/// The result of a compaction.
public struct CompactionResult: Sendable, Equatable {
    /// The size in bytes of the store's segments before the compaction, including those that wait to be removed, but not
    /// those that are kept for past states (``PastStateBounds/bytes``).
    public internal(set) var bytesBefore: UInt64 = 0
    /// The same after the compaction.
    public internal(set) var bytesAfter: UInt64 = 0
    /// The number of bytes written by the compaction.
    public internal(set) var bytesWritten: UInt64 = 0
    /// The number of segments removed from the store.
    public internal(set) var retiredSegments = 0
}
