public import CairnStore

extension LogStore {
    /// Reads what another process that writes to the store has made durable since the last time. Snapshots that
    /// are taken after it show that; older ones stay as they are.
    ///
    /// A store that is opened for reading only does this by itself from time to time, unless
    /// `LogStoreOptions.followsWriter` is off. Commits of a writer that are not durable, `relaxed` ones before the next
    /// sync, are not seen. A store that is opened for writing has nothing to read.
    ///
    /// ```swift
    /// var options = LogStoreOptions()
    /// options.isReadOnly = true
    /// let store = try LogStore.open(at: "shop.cairn", options: options)
    /// if try store.refresh() { print("something new") }
    /// ```
    ///
    /// - Returns: whether there was anything.
    /// - Throws: `StoreError`: `.damaged` with the place; `.incompatibleModel` if the writer has changed the model;
    ///   what was seen before can still be read.
    /// - Complexity: O(what is new); the whole log behind its newest checkpoint if the writer has removed segments
    ///   that were not read yet.
    @discardableResult
    public func refresh() throws(StoreError) -> Bool {
        try checkOpen()
        return try engine.refresh()
    }
}
