extension PersistentContainer {
    /// What contexts of the container save from now on: one element for each save that writes something. Batch requests are
    /// not among it.
    ///
    /// ```swift
    /// Task {
    ///     for await save in container.saves { index.update(save.insertedObjectIDs, save.updatedObjectIDs) }
    /// }
    /// ```
    ///
    /// Saves that follow one another come in that order; of saves that contexts make at the same time, it may be either. What
    /// a save wrote can be read when it comes.
    ///
    /// Each access gives a sequence of its own, for one task, beginning now. It ends when that task is cancelled or lets go of
    /// it, and with the container. Up to 1,024 saves wait for a listener; then the oldest are dropped, as
    /// ``ContextSave/number`` tells.
    public var saves: some AsyncSequence<ContextSave, Never> & Sendable {
        saveFeed.stream()
    }
}
