import CairnMoving
public import CairnStore

extension PostgresStore {
    /// Passes the contents of a state, in pieces, as the canonical JSON lines that Format/ defines; a log store with the
    /// same contents gives the same lines.
    ///
    /// - Parameter snapshot: a snapshot of this store; nil: the newest state.
    /// - Throws: `StoreError`, and what the body throws.
    /// - Complexity: O(size of the contents).
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
