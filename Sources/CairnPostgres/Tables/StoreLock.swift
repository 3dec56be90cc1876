// The lock for which commits queue.

extension TableLayout {
    /// Waits for other commits to end, and blocks them until the end of the transaction.
    var storeLock: Statement { Statement("SELECT last_commit FROM \(sql(.store)) FOR UPDATE") }
}
