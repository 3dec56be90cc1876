public import CairnStore

extension LogStore {
    /// Moves what is alive out of segments that hold much that is not, and gives their space back. Readers and
    /// writers go on meanwhile; object ids, row versions and snapshots stay as they are.
    ///
    /// ```swift
    /// let result = try store.compact()
    /// print(result.bytesBefore, "bytes before,", result.bytesAfter, "bytes after")
    /// ```
    ///
    /// What a migration left as it was is written as the model says now when it is moved. Segments in which nearly everything
    /// is alive stay as they are: reading them goes on converting.
    ///
    /// Snapshots and past states keep what they need: as long as there are some, it may be more after than before.
    ///
    /// - Parameter progress: told the bytes written so far, from time to time. If it closes the store, the compaction ends with
    ///   `.unusable`.
    /// - Throws: `StoreError`: `.readOnly`, `.invalidRequest` in its own progress closure, `.noSpace`, `.damaged` with the place
    ///   if a segment cannot be read whole; what was moved until then is moved, and nothing is lost.
    /// - Complexity: O(live bytes of the segments concerned).
    public func compact(progress: ((UInt64) -> Void)? = nil) throws(StoreError) -> CompactionResult
    {
        try checkOpen()
        return try engine.compact(progress: progress)
    }
}
