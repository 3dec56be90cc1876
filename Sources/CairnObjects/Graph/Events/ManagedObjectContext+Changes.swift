// What changes in a context, as an asynchronous sequence of ids.

public import CairnModel

/// The changes of one run of edits in a context.
///
/// An object is in at most one of the sets. New objects have temporary ids until they are saved or obtain permanent ones.
public struct ContextChange: Sendable, Hashable, Numbered {
    /// The number of the change: one more than that of the last one. If numbers are missing, the listener was too slow for so
    /// many changes.
    public internal(set) var number = 0
    /// New objects.
    public let insertedObjectIDs: Set<ObjectID>
    /// Objects in which a property was set, even to the same value.
    public let updatedObjectIDs: Set<ObjectID>
    /// Objects that were deleted, even if that is not saved yet; new ones that were dropped by a rollback; and objects that
    /// were merged into others because a save found two with the same unique key.
    public let deletedObjectIDs: Set<ObjectID>
    /// Objects that show stored values, or will when they are accessed: after a refresh, a rollback, or a save that
    /// found other values than the context had.
    public let refreshedObjectIDs: Set<ObjectID>
    /// The objects that the context had when it was reset, none of which are still registered; empty if it was not reset.
    public let invalidatedAllObjectIDs: Set<ObjectID>

    init(_ changes: ObjectChanges) {
        func ids(_ objects: [ManagedObject]) -> Set<ObjectID> {
            Set(objects.lazy.map(\.objectID))
        }
        insertedObjectIDs = ids(changes.inserted)
        updatedObjectIDs = ids(changes.updated)
        deletedObjectIDs = ids(changes.deleted)
        refreshedObjectIDs = ids(changes.refreshed)
        invalidatedAllObjectIDs = Set(changes.invalidatedAll)
    }
}

extension ManagedObjectContext {
    /// The context's changes from now on: one element per run of edits.
    ///
    /// ```swift
    /// let changes = await background.changes
    /// Task {
    ///     for await change in changes { print(change.insertedObjectIDs.count, "new objects") }
    /// }
    /// ```
    ///
    /// A run ends when ``processPendingChanges()`` is called, which fetches, saves and the end of a
    /// ``BackgroundContext/perform(_:)`` do automatically; and with ``rollback()`` and ``reset()``. In a container's
    /// ``PersistentContainer/viewContext``, it also ends when the main actor is idle, as long as there are listeners.
    ///
    /// Each access returns a new sequence, for one task, starting now. It ends when the task is cancelled or releases
    /// it, and with the context. Up to 1,024 changes are buffered for a listener; then the oldest are dropped, which
    /// you can tell from ``ContextChange/number``.
    public var changes: some AsyncSequence<ContextChange, Never> & Sendable {
        feedOfChanges().stream()
    }

    private func feedOfChanges() -> Feed<ContextChange> {
        if let changeFeed { return changeFeed }
        let feed = Feed<ContextChange>()
        changeFeed = feed
        observe(
            ContextObserver(.changes) { event, context in
                guard feed.isListenedTo else {
                    context.changeFeed = nil
                    return false
                }
                if case .didChange(let changes) = event { feed.send(ContextChange(changes)) }
                return true
            })
        return feed
    }
}
