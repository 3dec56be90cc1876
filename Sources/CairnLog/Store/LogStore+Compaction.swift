public import CairnStore

extension LogStore {
    /// Compacts the store: moves live rows out of segments with much dead space, and reclaims their space.
    /// Readers and writers continue during compaction; object ids, row versions and snapshots do not change.
    ///
    /// ```swift
    /// let result = try store.compact()
    /// print(result.bytesBefore, "bytes before,", result.bytesAfter, "bytes after")
    /// ```
    ///
    /// Rows that a migration did not rewrite are rewritten for the current model when they are moved.
    /// Segments in which nearly everything is live are not rewritten, and reading them still converts rows.
    ///
    /// Snapshots and past states keep the files that they need: as long as there are some, the store can take
    /// more space after compaction than before.
    ///
    /// - Parameter progress: called from time to time with the number of bytes written so far. If it closes
    ///   the store, the compaction ends with `.unusable`.
    /// - Throws: `StoreError`: `.readOnly`; `.invalidRequest` if called from its own progress closure;
    ///   `.noSpace`; `.damaged` with the location if a segment cannot be read completely. Rows moved until
    ///   then stay moved, and nothing is lost.
    /// - Complexity: O(live bytes of the affected segments).
    public func compact(progress: ((UInt64) -> Void)? = nil) throws(StoreError) -> CompactionResult
    {
        try checkOpen()
        return try engine.compact(progress: progress)
    }
}
