// What a store has written, by what it was written for.

import Synchronization

/// Bytes that were written since a store was opened, by what for.
public struct WrittenBytes: Sendable, Equatable {
    /// Frames of commits, those of small blocks that were merged included.
    public let commits: UInt64
    /// Of them what merging small blocks wrote again.
    public let merged: UInt64
    /// What compaction wrote again.
    public let compacted: UInt64
    /// Checkpoints.
    public let checkpoints: UInt64
    /// Zeros ahead of the log, in whose place frames come later.
    public let zeros: UInt64

    /// How many bytes were written for each one that a commit had to say; nil as long as there was none.
    public var amplification: Double? {
        let needed = commits - min(merged, commits)
        guard needed > 0 else { return nil }
        return Double(commits + compacted + checkpoints + zeros) / Double(needed)
    }
}

/// Counts what is written.
final class WriteCounter: Sendable {
    private let commits = Atomic<UInt64>(0)
    private let merged = Atomic<UInt64>(0)
    private let checkpoints = Atomic<UInt64>(0)
    private let zeros = Atomic<UInt64>(0)

    func addCommit(_ bytes: UInt64, merged moved: Int) {
        commits.wrappingAdd(bytes, ordering: .relaxed)
        if moved > 0 { merged.wrappingAdd(UInt64(moved), ordering: .relaxed) }
    }

    func addCheckpoint(_ bytes: UInt64) { checkpoints.wrappingAdd(bytes, ordering: .relaxed) }
    func addZeros(_ bytes: UInt64) { zeros.wrappingAdd(bytes, ordering: .relaxed) }

    /// What was written so far.
    func total(compacted: UInt64) -> WrittenBytes {
        WrittenBytes(
            commits: commits.load(ordering: .relaxed), merged: merged.load(ordering: .relaxed),
            compacted: compacted, checkpoints: checkpoints.load(ordering: .relaxed),
            zeros: zeros.load(ordering: .relaxed))
    }
}
