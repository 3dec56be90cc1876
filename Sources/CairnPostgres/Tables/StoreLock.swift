// What commits stand in line for.

extension TableLayout {
    /// Waits until whoever commits has done so, and has others wait until the end of the transaction.
    var storeLock: Statement { Statement("SELECT last_commit FROM \(sql(.store)) FOR UPDATE") }
}
