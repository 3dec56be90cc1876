/// Sizes that tests reduce, so that rare paths become common.
package struct StoreSizes: Sendable {
    /// Rows of a block. At most 1,024: a slot has ten bits.
    package var rowsPerBlock = 1024
    /// Plain bytes of a block's values, above which it is cut. Encoding at least halves most of them.
    package var bytesPerBlock = 128 << 10
    /// How many small blocks of an entity are merged into one.
    package var mergedBlocks = 32
    /// Bytes of a segment, above which the next commit begins a new one, if they are also more than a sixty-fourth
    /// of the store: about a hundred files at any size.
    package var segmentBytes: UInt64 = 32 << 20
    /// The same at most.
    package var largestSegmentBytes: UInt64 = 1 << 30
    /// Bytes of a value, above which it gets frames of its own.
    package var largeValueBytes = 4 << 10
    /// Bytes of frames that are collected before they are written.
    package var writeBufferBytes = 4 << 20
    /// Bytes of rows that a batch stages before it takes the turn.
    package var stagingBytes = 64 << 20

    /// Zero bytes that the last segment is lengthened by ahead of small commits, at first; 0 = never. A sync
    /// of bytes inside the file is about twice as fast as one that makes it longer.
    package var fillBytes: UInt64 = 256 << 10
    /// The same at most: it doubles each time.
    package var mostFillBytes: UInt64 = 4 << 20
    /// Bytes of log since the last checkpoint, above which the next one is taken, if they are also more than
    /// twice its size.
    package var checkpointBytes: UInt64 = 64 << 20
    /// The same at close, if they are also more than an eighth of its size.
    package var closingCheckpointBytes: UInt64 = 1 << 20
    /// Blocks that compaction moves in one commit.
    package var compactionBlocks = 32
    /// Bytes that compaction in the background moves a second.
    package var compactionRate: Double = 33_554_432
    /// Dead bytes below which compaction in the background leaves a store alone, and a segment too.
    package var compactionFloor: UInt64 = 8 << 20
    /// The same when it is asked for.
    package var askedCompactionFloor: UInt64 = 64 << 10
    /// Seconds without a commit after which compaction in the background also does what is not urgent; infinite = never.
    package var idleSeconds = 0.5
    /// Bytes after which opening tells how far it is.
    package var recoveryStepBytes: UInt64 = 4 << 20
    /// Seconds after which a reader looks for new commits again.
    package var followSeconds = 0.05
    /// Seconds between two looks whether another process waits for the lease, which is for how long a process that commits
    /// keeps it then; infinite: nobody looks. To pass it on costs about as much as a sync.
    package var leaseSeconds = 0.004
    /// Seconds after which a grouped commit is synced.
    package var groupSeconds = 0.05
    /// Whether stores are made, or made anew when they are opened, with places for the order of ordered relationships.
    /// Those of earlier times have none.
    package var keepsOrder = true
    /// Whether segments that are begun say that columns may be packed. Those of earlier times do not.
    package var packsColumns = true
    /// How many bits are left of the hash of every key of a state that is made without a checkpoint, so that keys that share one
    /// are common, and values of groups and lists that do; 32 = all that are stored. A checkpoint keeps it.
    package var hashBits = 32

    /// The sizes of a real store.
    package init() {}

    /// Encoded bytes of a block that should have no more rows.
    var fullRawBytes: Int { max(1, bytesPerBlock / 2) }

    /// How full a block is. One of few wide rows may be full by its bytes.
    func level(rows: Int, rawLength: Int) -> BlockLevel {
        let parts = max(rows * 64 / rowsPerBlock, rawLength * 64 / fullRawBytes)
        return parts >= 32 ? .full : parts >= 2 ? .partial : .tiny
    }
}
