// What a store has written, by purpose.

import Synchronization

/// The bytes written since a store was opened, by purpose.
public struct WrittenBytes: Sendable, Equatable {
    /// Frames of commits, including small blocks that were merged.
    public let commits: UInt64
    /// The part of them that rewrites small blocks.
    public let merged: UInt64
    /// Bytes rewritten by compaction.
    public let compacted: UInt64
    /// Checkpoints.
    public let checkpoints: UInt64
    /// Zeros preallocated at the end of the log, which frames overwrite later.
    public let zeros: UInt64

    /// Write amplification: the bytes written per byte of new content in commits; nil as long as there was none.
    public var amplification: Double? {
        let needed = commits - min(merged, commits)
        guard needed > 0 else { return nil }
        return Double(commits + compacted + checkpoints + zeros) / Double(needed)
    }
}

/// Counts the bytes written.
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

    /// Returns the bytes written so far.
    func total(compacted: UInt64) -> WrittenBytes {
        WrittenBytes(
            commits: commits.load(ordering: .relaxed), merged: merged.load(ordering: .relaxed),
            compacted: compacted, checkpoints: checkpoints.load(ordering: .relaxed),
            zeros: zeros.load(ordering: .relaxed))
    }
}
