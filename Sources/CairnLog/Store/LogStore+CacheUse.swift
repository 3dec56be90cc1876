extension LogStore {
    /// How well the cache of blocks does: many misses in work that reads the same things again mean that
    /// ``LogStoreOptions/cacheBytes`` is too small for it.
    ///
    /// Everybody in the process who has the store open shares the cache. What commits write comes into it when it is read.
    ///
    /// - Complexity: O(1).
    public var blockCache: BlockCacheUse { engine.reader.cache.use }
}
