// What changes in a context, as an asynchronous sequence of ids.

public import CairnModel

/// What changed in a context by one run of edits.
///
/// An object is in one of the sets at most. New objects have temporary ids until they are saved or are given others.
public struct ContextChange: Sendable, Hashable, Numbered {
    /// The number of the change: one more than that of the last one. If numbers are missing, the listener was too slow for so
    /// many changes.
    public internal(set) var number = 0
    /// New objects.
    public let insertedObjectIDs: Set<ObjectID>
    /// Objects in which a property was set, be it to the value that it had.
    public let updatedObjectIDs: Set<ObjectID>
    /// Objects that were deleted, be it that this is not saved yet; new ones that were dropped by a rollback; and objects that
    /// gave way to others when a save found two with one unique key.
    public let deletedObjectIDs: Set<ObjectID>
    /// Objects that show, or will show when they are touched, what is stored: by refreshing, by a rollback, or because a save
    /// has found other values than the context had.
    public let refreshedObjectIDs: Set<ObjectID>
    /// The objects that the context had when it was reset, none of which it knows any more; empty if it was not.
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
    /// What changes in the context from now on: one element for a run of edits.
    ///
    /// ```swift
    /// let changes = await background.changes
    /// Task {
    ///     for await change in changes { print(change.insertedObjectIDs.count, "new objects") }
    /// }
    /// ```
    ///
    /// A run ends when ``processPendingChanges()`` is called, which fetches, saves and the end of a
    /// ``BackgroundContext/perform(_:)`` do by themselves; by ``rollback()`` and by ``reset()``. In a container's
    /// ``PersistentContainer/viewContext`` it ends also when the main actor comes to other work, as long as somebody listens.
    ///
    /// Each access gives a sequence of its own, for one task, beginning now. It ends when that task is cancelled or lets go of
    /// it, and with the context. Up to 1,024 changes wait for a listener; then the oldest are dropped, as
    /// ``ContextChange/number`` tells.
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
