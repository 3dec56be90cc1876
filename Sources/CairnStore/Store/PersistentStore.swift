// The contract between an object layer and a backend.
//
// Coarse on purpose: requests and batches, never one attribute at a time. A backend is shared by all
// coordinators and contexts of a process, so everything here may be called from any thread. The calls
// block: what they wait for is another thread in a system call, never a task.

public import CairnModel

/// A store: keeps objects, answers questions about a fixed state of them, and takes changes as units.
public protocol PersistentStore: AnyObject, Sendable {
    /// How the store names its objects.
    var identity: StoreIdentity { get }
    /// The model the store holds.
    var schema: Schema { get }
    /// Whether nothing can be written.
    var isReadOnly: Bool { get }

    /// A fixed state: the newest one that is published.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func snapshot() throws(StoreError) -> any StoreSnapshot

    /// A fixed state for whoever asks at once: the newest one when it is made, or one that is published before the first
    /// question. A store that has to ask somebody else for a state saves a question so; for others it is `snapshot`.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func newestState() throws(StoreError) -> any StoreSnapshot

    /// Writes changes, all or nothing.
    ///
    /// - Throws: `StoreError`: `.mergeConflict` or `.constraintConflict` with all conflicts under the
    ///   error policy, `.saveConflicts` with conflicts that the merge policy is to be asked about,
    ///   `.missingMandatory` if a merge left a mandatory property nil, `.noSpace`, `.inputOutput`.
    func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome

    /// Inserts and updates many rows as one unit.
    ///
    /// - Throws: `StoreError` that names row and key; nothing is written then.
    func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult

    /// Updates many objects as one unit.
    ///
    /// - Throws: `StoreError`: `.constraintConflict` with the objects that would share a key, or what the model forbids of the
    ///   new values; nothing is written then.
    func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult

    /// Deletes many objects as one unit.
    ///
    /// - Throws: `StoreError`; nothing is deleted then.
    func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult

    /// Permanent ids for new objects of these entities, in the same order. They are never given again. The numbers in them,
    /// ``ObjectID/reference``, have 32 bits.
    func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID]

    /// Has a closure told of every commit from now on, as long as the result lives: of those of saves and batches, whoever
    /// made them, and of those of another process that the store has read. A commit that changed no object may be told too.
    ///
    /// The closure is called in the order of the commits, one call at a time, by a thread that has committed and has nothing
    /// locked; a snapshot that it takes shows the commit. It may commit itself. Whoever committed has mostly been told of
    /// when that returns: not if another thread is telling just then, nor by a commit made within the closure.
    ///
    /// A snapshot that is taken after this returns lacks no commit that is not told.
    func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation

    /// Whether the id of some object that is gone may lead to another one. False: none does. It never becomes false again.
    var hasRedirects: Bool { get }

    /// Ends the use of the store. Snapshots that are still held stay readable.
    func close() throws(StoreError)
}

/// A fixed state of a store. It stays readable, whatever is written meanwhile, until it is let go.
public protocol StoreSnapshot: AnyObject, Sendable {
    /// The number of the commit whose state this is.
    var commit: UInt64 { get }
    /// The model that the state has.
    var schema: Schema { get }
    /// How the store names its objects.
    var identity: StoreIdentity { get }

    /// The objects that match, in order.
    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult

    /// A table of values about the objects that match.
    func table(_ request: StoreTableFetch) throws(StoreError) -> StoreTable

    /// Hands over the objects that are asked for, some at a time, until the closure returns false. People call
    /// `read`.
    func readBatches(_ request: StoreRead, _ body: (borrowing RowBatch) -> Bool) throws(StoreError)

    /// Hands over the objects that have the keys, in the order of the keys, some at a time, until the closure returns
    /// false. `keys` is called until it returns true, and sets the columns of a key each time. People call `lookUp`.
    func lookUpBatches(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError)

    /// Hands over the objects that a relationship leads to, owner by owner, some at a time, until the closure returns
    /// false. People call `read`.
    func readRelatedBatches(
        _ request: StoreRelated, of owners: [ObjectID], _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError)

    /// Answers a fetch, and says how.
    func explain(_ request: StoreFetch) throws(StoreError) -> QueryPlan

    /// Makes a table, and says how.
    func explain(_ request: StoreTableFetch) throws(StoreError) -> QueryPlan

    /// Counts, and says how.
    func explainCount(_ request: StoreFetch) throws(StoreError) -> QueryPlan

    /// How many objects match; limit and offset are respected.
    func count(_ request: StoreFetch) throws(StoreError) -> Int

    /// The rows of these objects, nil for those that do not exist.
    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?]

    /// The members of a to-many relationship of several objects, by id.
    ///
    /// `relationship` is the index in the entity's relationships.
    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]

    /// The objects whose `relationship` of `entity` (or a descendant) leads to `target`, whether or not the
    /// relationship has an inverse. It is to-one, or kept as pairs.
    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]

    /// The id of the object that one was folded into, or that was in its place later; nil for an object that is there, and if
    /// there is none.
    ///
    /// - Complexity: O(1) for each time that one in its place was folded too. Nothing is read.
    func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID?
}

extension PersistentStore {
    /// The newest state that is published.
    public func newestState() throws(StoreError) -> any StoreSnapshot { try snapshot() }

    /// No: such a store does not remember it.
    public var hasRedirects: Bool { false }

    /// The id of the object that one was folded into, or that is in its place by now; nil for an object that is there, and if
    /// there is none.
    ///
    /// - Throws: `StoreError` if the store was closed.
    /// - Complexity: O(1) for each time that one in its place was folded too. Nothing is read.
    public func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? {
        hasRedirects ? try snapshot().redirectedObjectID(for: id) : nil
    }
}

extension StoreSnapshot {
    /// None: such a store does not remember it.
    public func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? { nil }
}

extension PersistentStore {
    /// Writes changes; conflicts that the store throws are an outcome as those that it gives back.
    package func saving(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
        do throws(StoreError) {
            return try save(request)
        } catch {
            guard error.code == .saveConflicts, !error.conflicts.isEmpty else { throw error }
            return .conflicts(error.conflicts)
        }
    }
}
