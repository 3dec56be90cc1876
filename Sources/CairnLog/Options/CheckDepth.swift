// How much of a store a check looks at.

/// How much of a store a check looks at. Each depth includes those before it.
public enum CheckDepth: String, Sendable, CaseIterable, Comparable {
    /// The headers of segments and frames: that nothing is missing, out of order or cut off.
    case headers
    /// The checksums and the form of every payload.
    case frames
    /// Every value of every block, large values, and that rows live and die in order.
    case blocks
    /// Indexes, references and checkpoints, compared with what they are derived from.
    case all

    /// Whether it looks at less.
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

/// What a check is doing.
public enum CheckStage: String, Sendable {
    /// Going through the log; units are bytes.
    case log
    /// Decoding blocks; units are blocks.
    case blocks
    /// Comparing rows with indexes; units are blocks.
    case indexes
    /// Comparing a checkpoint; units are parts of the state.
    case checkpoint
}
