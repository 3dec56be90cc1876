// What opening a store found out about it.

/// What opening a store found.
public struct RecoveryReport: Sendable, Equatable {
    /// Whether the last writer closed the store.
    public var wasClosed = true
    /// Bytes behind the last whole commit that were left behind: a write that was interrupted.
    public var bytesLeftBehind: UInt64 = 0
    /// The commit of the checkpoint that opening began with; nil if the whole log was read.
    public var checkpoint: UInt64?
    /// Commits that were read, behind the checkpoint.
    public var commits: UInt64 = 0
    /// Frames that were read, behind the checkpoint.
    public var frames: UInt64 = 0
    /// Whether the folder was made anew.
    public var wasCreated = false
    /// When the last commit was made, in seconds since 2001-01-01 UTC.
    public var lastCommitTime: Double?
    /// Who made the last commit.
    public var lastAuthor: String?
}
