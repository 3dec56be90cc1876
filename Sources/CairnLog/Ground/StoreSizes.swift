import CairnFormat

/// Sizes that tests reduce, so that rare paths become common.
package struct StoreSizes: Sendable {
    /// The maximum number of rows in a block. At most 1,024: a slot has ten bits.
    package var rowsPerBlock = 1024
    /// The plain bytes of a block's values above which it is split. Encoding at least halves most of them.
    package var bytesPerBlock = 128 << 10
    /// The number of small blocks of an entity that are merged into one.
    package var mergedBlocks = 32
    /// The bytes of a segment above which the next commit starts a new one, if they are also more than a
    /// sixty-fourth of the store: about a hundred files at any size.
    package var segmentBytes: UInt64 = 32 << 20
    /// The upper limit of that size.
    package var largestSegmentBytes: UInt64 = 1 << 30
    /// The bytes of a value above which it gets its own frames.
    package var largeValueBytes = 4 << 10
    /// The bytes of frames that are collected before they are written.
    package var writeBufferBytes = 4 << 20
    /// The bytes of rows that a batch stages before it takes the write lock.
    package var stagingBytes = 64 << 20

    /// The zero bytes by which the last segment is first extended before small commits; 0 = never. A sync of
    /// bytes inside the file is about twice as fast as one that extends it.
    package var fillBytes: UInt64 = 256 << 10
    /// The upper limit of these bytes: they double each time.
    package var mostFillBytes: UInt64 = 4 << 20
    /// The bytes of log since the last checkpoint above which the next one is taken, if they are also more
    /// than twice its size.
    package var checkpointBytes: UInt64 = 64 << 20
    /// The same at close, if they are also more than an eighth of its size.
    package var closingCheckpointBytes: UInt64 = 1 << 20
    /// The size of a checkpoint's table of contents, above which the store gets none: the most that a part may have.
    package var checkpointContentsBytes = CheckpointUnit.maximumLength
    /// The number of blocks that compaction moves in one commit.
    package var compactionBlocks = 32
    /// The bytes per second that background compaction moves.
    package var compactionRate: Double = 33_554_432
    /// The dead bytes below which background compaction leaves a store alone, and a segment too, unless a quarter of
    /// its size is less.
    package var compactionFloor: UInt64 = 8 << 20
    /// The same for a requested compaction.
    package var askedCompactionFloor: UInt64 = 64 << 10
    /// The seconds without a commit after which background compaction also does work that is not urgent;
    /// infinite = never.
    package var idleSeconds = 0.5
    /// The bytes after which opening reports progress.
    package var recoveryStepBytes: UInt64 = 4 << 20
    /// The seconds after which a reader checks for new commits again.
    package var followSeconds = 0.05
    /// The seconds between two checks whether another process waits for the lease, which is how long a
    /// process that commits keeps it then; infinite: never checked. Passing it on costs about as much as a
    /// sync.
    package var leaseSeconds = 0.004
    /// The seconds after which a grouped commit is synced.
    package var groupSeconds = 0.05
    /// Whether stores are created, or upgraded when they are opened, with properties for the order of ordered
    /// relationships. Older stores have none.
    package var keepsOrder = true
    /// Whether new segments declare that columns may be packed. Older ones do not.
    package var packsColumns = true
    /// The number of bits that are kept of the hash of every key of a state that is built without a
    /// checkpoint, so that keys that share one are common, as are values of groups and lists that do; 32 =
    /// all that are stored. A checkpoint preserves it.
    package var hashBits = 32

    /// The sizes of a real store.
    package init() {}

    /// The encoded size of a block in bytes at which it should get no more rows.
    var fullRawBytes: Int { max(1, bytesPerBlock / 2) }

    /// Returns how full a block is. One with few wide rows may be full by its bytes.
    func level(rows: Int, rawLength: Int) -> BlockLevel {
        let parts = max(rows * 64 / rowsPerBlock, rawLength * 64 / fullRawBytes)
        return parts >= 32 ? .full : parts >= 2 ? .partial : .tiny
    }
}
