extension LogStore {
    /// The effectiveness of the block cache: many misses in work that reads the same data repeatedly mean
    /// that ``LogStoreOptions/cacheBytes`` is too small.
    ///
    /// All users of the store in the process share the cache. Blocks that commits write are cached when they
    /// are read.
    ///
    /// - Complexity: O(1).
    public var blockCache: BlockCacheUse { engine.reader.cache.use }
}
