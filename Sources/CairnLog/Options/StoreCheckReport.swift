public import CairnStore

/// What a check covered, and what it found.
public struct StoreCheckReport: Sendable {
    /// The number of blocks read.
    public internal(set) var blocks = 0
    /// The number of live rows read.
    public internal(set) var rows = 0
    /// The number of index entries compared.
    public internal(set) var indexEntries = 0
    /// The number of references followed.
    public internal(set) var references = 0
    /// The depth of the check.
    public internal(set) var depth = CheckDepth.all
    /// The number of redirects followed.
    public internal(set) var redirects = 0
    /// The number of segments read; 0 if the state of an open store was checked.
    public internal(set) var segments = 0
    /// The number of additional segments read that are kept for past states.
    public internal(set) var heldSegments = 0
    /// The number of frames read, if files were checked.
    public internal(set) var frames: UInt64 = 0
    /// The number of commits read, if files were checked.
    public internal(set) var commits: UInt64 = 0
    /// The number of checkpoints compared with the log.
    public internal(set) var checkpoints = 0
    /// Bytes after the end of the log, which have no meaning.
    public internal(set) var bytesLeftBehind: UInt64 = 0
    /// Remarks that are not damage.
    public internal(set) var notes: [String] = []
    /// The problems; empty if there are none. At most a thousand are listed.
    public internal(set) var findings: [StoreError] = []
    /// The number of problems.
    public internal(set) var findingCount = 0

    /// Adds a problem.
    mutating func find(_ error: StoreError) {
        findingCount += 1
        if findings.count < 1000 { findings.append(error) }
    }
}
