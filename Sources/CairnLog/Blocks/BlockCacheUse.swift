// How well the cache of blocks does.

/// What the cache of blocks was asked for since the store was opened, and what it holds.
public struct BlockCacheUse: Sendable, Hashable {
    /// How often a block was in memory.
    public let hits: Int
    /// How often one had to be read from its file.
    public let misses: Int
    /// How many blocks there are in memory.
    public let blocks: Int
    /// Bytes that they take, about.
    public let bytes: Int
}
