// Statistics of the block cache.

/// Statistics of the block cache since the store was opened, and its current size.
public struct BlockCacheUse: Sendable, Hashable {
    /// The number of cache hits.
    public let hits: Int
    /// The number of cache misses: the block had to be read from its file.
    public let misses: Int
    /// The number of cached blocks.
    public let blocks: Int
    /// The approximate number of bytes of memory that they use; bytes in mapped files do not count.
    public let bytes: Int
}
