// How thoroughly to check a store.

/// How thoroughly to check a store. Each depth includes the previous ones.
public enum CheckDepth: String, Sendable, CaseIterable, Comparable {
    /// The headers of segments and frames: nothing is missing, out of order or truncated.
    case headers
    /// The checksums and the structure of every payload.
    case frames
    /// Every value of every block, large values, and the order in which rows are written and deleted.
    case blocks
    /// Indexes, references and checkpoints, compared with what they are derived from.
    case all

    /// Whether the left depth checks less.
    public static func < (a: CheckDepth, b: CheckDepth) -> Bool { a.rank < b.rank }

    private var rank: Int {
        switch self {
        case .headers: 0
        case .frames: 1
        case .blocks: 2
        case .all: 3
        }
    }
}

/// The current stage of a check.
public enum CheckStage: String, Sendable {
    /// Reading the log; the units are bytes.
    case log
    /// Decoding blocks; the units are blocks.
    case blocks
    /// Comparing rows with indexes; the units are blocks.
    case indexes
    /// Comparing a checkpoint; the units are parts of the state.
    case checkpoint
}
