import CairnMoving
public import CairnStore

extension PostgresStore {
    /// Gives the content of a state as the canonical JSON lines that Format/ defines, in pieces: those that the same store gives on
    /// the log.
    ///
    /// - Parameter snapshot: a snapshot of this store; without one, the newest state.
    /// - Throws: `StoreError`, and what the body throws.
    /// - Complexity: O(size of the content).
    public func export(
        of snapshot: (any StoreSnapshot)? = nil, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let snapshot = try snapshot ?? self.snapshot()
        guard let snapshot = snapshot as? PostgresSnapshot, snapshot.core === core else {
            throw StoreError(.invalidRequest, "the snapshot belongs to another store")
        }
        try PostgresContent(core, snapshot.reading).export(body)
    }
}
