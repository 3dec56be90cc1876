public import CairnStore

extension LogStore {
    /// Reads what another process that writes to the store has made durable since the last time. Snapshots
    /// taken after that include it; older ones do not change.
    ///
    /// A read-only store does this automatically from time to time, unless `LogStoreOptions.followsWriter` is
    /// false. Commits that are not durable yet, such as `relaxed` ones before the next sync, are not visible.
    /// A store that is open for writing has nothing to read.
    ///
    /// ```swift
    /// var options = LogStoreOptions()
    /// options.isReadOnly = true
    /// let store = try LogStore.open(at: "shop.cairn", options: options)
    /// if try store.refresh() { print("something new") }
    /// ```
    ///
    /// - Returns: whether there were new commits.
    /// - Throws: `StoreError`: `.damaged` with the location; `.incompatibleModel` if the writer has changed
    ///   the model; data that was visible before stays readable.
    /// - Complexity: O(new commits); the whole log after its newest checkpoint if the writer has removed
    ///   segments that were not read yet.
    @discardableResult
    public func refresh() throws(StoreError) -> Bool {
        try checkOpen()
        return try engine.refresh()
    }
}
