// What happened when a store was opened.

/// What happened when a store was opened.
public struct RecoveryReport: Sendable, Equatable {
    /// Whether the last writer closed the store.
    public var wasClosed = true
    /// Bytes after the last complete commit that were ignored: an interrupted write.
    public var bytesLeftBehind: UInt64 = 0
    /// The commit of the checkpoint from which the store was opened; nil if the whole log was read.
    public var checkpoint: UInt64?
    /// The number of commits read after the checkpoint.
    public var commits: UInt64 = 0
    /// The number of frames read after the checkpoint.
    public var frames: UInt64 = 0
    /// Whether the store was created.
    public var wasCreated = false
    /// When the last commit was made, in seconds since 2001-01-01 UTC.
    public var lastCommitTime: Double?
    /// The author of the last commit.
    public var lastAuthor: String?
}
