// What contexts save, as an asynchronous sequence of ids.

public import CairnModel
public import CairnStore
public import FoundationEssentials

/// The changes written by one save of a context.
public struct ContextSave: Sendable, Hashable, Numbered {
    /// The number of the save: one more than that of the last one. If numbers are missing, the listener was too slow for so
    /// many saves.
    public internal(set) var number = 0
    /// The number of the commit, which identifies states of the store in `StoreSnapshot.commit`, ``RemoteChange/commits``
    /// and results of batch requests; nil for a save to a parent context. With several stores behind a coordinator it
    /// belongs to the store that was written last: see ``commits``.
    public let commit: UInt64?
    /// The numbers of the commits, by the identifiers of the stores that were written; empty if a parent context was saved to.
    public let commits: [UUID: UInt64]
    /// The name of the context.
    public let contextName: String?
    /// The position in the history after the save, for those written stores that keep one; nil if none does. With several
    /// stores behind a coordinator, your own token has the positions in the others: merge this one into it.
    public let historyToken: PersistentHistoryToken?
    /// The author.
    public let transactionAuthor: String?
    /// New objects, by their permanent ids.
    public let insertedObjectIDs: Set<ObjectID>
    /// Objects that were changed, those among them that took the values of a new object with the same unique key, and those
    /// whose references were redirected.
    public let updatedObjectIDs: Set<ObjectID>
    /// Objects that were deleted.
    public let deletedObjectIDs: Set<ObjectID>

    init(_ saved: SavedObjects, _ context: ManagedObjectContext) {
        commit = saved.commit
        commits = saved.commits(in: context)
        historyToken = context.store.historyToken(behind: commits)
        contextName = context.name
        transactionAuthor = context.transactionAuthor
        insertedObjectIDs = saved.insertedIDs
        updatedObjectIDs = saved.updatedIDs
        deletedObjectIDs = saved.deletedIDs
    }
}

extension ManagedObjectContext {
    /// Tells those who listen to the container of a save that wrote something.
    func feed(_ saved: SavedObjects) {
        guard saved.isWritten, let saveFeed, saveFeed.isListenedTo else { return }
        saveFeed.send(ContextSave(saved, self))
    }
}
