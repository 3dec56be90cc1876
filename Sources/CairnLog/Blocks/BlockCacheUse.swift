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

extension LogStore {
    /// How well the cache of blocks does: many misses in work that reads the same things again mean that
    /// ``LogStoreOptions/cacheBytes`` is too small for it.
    ///
    /// Everybody in the process who has the store open shares the cache. What commits write comes into it when it is read.
    ///
    /// - Complexity: O(1).
    public var blockCache: BlockCacheUse { engine.cache.use }
}
