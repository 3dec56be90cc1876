// A trial run of a batch insert.

/// Ends the trial run of a batch insert, before anything is written.
package struct BatchTrial: Error {
    /// What would have come of it.
    package let result: BatchInsertResult

    package init(result: BatchInsertResult) { self.result = result }

    /// The error that it travels in.
    package var error: StoreError {
        StoreError(.cancelled, "the batch was a trial: nothing is written", cause: self)
    }
}
