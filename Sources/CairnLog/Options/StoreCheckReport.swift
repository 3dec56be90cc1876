public import CairnStore

/// What a check went through, and what it found.
public struct StoreCheckReport: Sendable {
    /// Blocks that were read.
    public internal(set) var blocks = 0
    /// Live rows that were read.
    public internal(set) var rows = 0
    /// Index entries that were compared.
    public internal(set) var indexEntries = 0
    /// References that were followed.
    public internal(set) var references = 0
    /// How much was looked at.
    public internal(set) var depth = CheckDepth.all
    /// Redirects that were followed.
    public internal(set) var redirects = 0
    /// Segments that were gone through; 0 if a state was checked that is open.
    public internal(set) var segments = 0
    /// Segments beside them that are kept for past states, and were gone through too.
    public internal(set) var heldSegments = 0
    /// Frames that were gone through, if files were.
    public internal(set) var frames: UInt64 = 0
    /// Commits that were gone through, if files were.
    public internal(set) var commits: UInt64 = 0
    /// Checkpoints that were compared with the log.
    public internal(set) var checkpoints = 0
    /// Bytes behind the end of the log, which mean nothing.
    public internal(set) var bytesLeftBehind: UInt64 = 0
    /// What is worth knowing and no damage.
    public internal(set) var notes: [String] = []
    /// What is wrong; empty if all is well. At most a thousand are listed.
    public internal(set) var findings: [StoreError] = []
    /// How many things are wrong.
    public internal(set) var findingCount = 0

    /// Lists what is wrong.
    mutating func find(_ error: StoreError) {
        findingCount += 1
        if findings.count < 1000 { findings.append(error) }
    }
}
