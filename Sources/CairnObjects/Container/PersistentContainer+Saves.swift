extension PersistentContainer {
    /// The saves of the container's contexts from now on: one element for each save that writes something. Batch
    /// requests are not included.
    ///
    /// ```swift
    /// Task {
    ///     for await save in container.saves { index.update(save.insertedObjectIDs, save.updatedObjectIDs) }
    /// }
    /// ```
    ///
    /// Consecutive saves arrive in order; simultaneous saves of several contexts arrive in either order. When an
    /// element arrives, the saved changes can be read.
    ///
    /// Each access returns a new sequence, for one task, starting now. It ends when the task is cancelled or releases
    /// it, and with the container. Up to 1,024 saves are buffered for a listener; then the oldest are dropped, which
    /// you can tell from ``ContextSave/number``.
    public var saves: some AsyncSequence<ContextSave, Never> & Sendable {
        saveFeed.stream()
    }
}
