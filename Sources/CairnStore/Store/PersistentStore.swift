// The contract between an object layer and a backend.
//
// Coarse on purpose: requests and batches, never one attribute at a time. A backend is shared by all
// coordinators and contexts of a process, so everything here may be called from any thread. The calls
// block: what they wait for is another thread in a system call, never a task.

public import CairnModel

/// A store: keeps objects, executes queries on snapshots, and writes changes atomically.
public protocol PersistentStore: AnyObject, Sendable {
    /// How the store names its objects.
    var identity: StoreIdentity { get }
    /// The store's model.
    var schema: Schema { get }
    /// Whether the store is read-only.
    var isReadOnly: Bool { get }

    /// A snapshot of the newest published state.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func snapshot() throws(StoreError) -> any StoreSnapshot

    /// A snapshot for a caller that queries it immediately: of the newest state at the time of the call, or of one that is
    /// published before the first query. It saves a round trip in stores that get their snapshots from a server; for others
    /// it is the same as `snapshot`.
    ///
    /// - Throws: `StoreError` if the store was closed.
    func newestState() throws(StoreError) -> any StoreSnapshot

    /// Writes changes atomically.
    ///
    /// - Throws: `StoreError`: `.mergeConflict` or `.constraintConflict` with all conflicts under the error policy,
    ///   `.saveConflicts` with conflicts for the merge policy to resolve, `.missingMandatory` if a merge left a required
    ///   property nil, `.noSpace`, `.inputOutput`.
    func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome

    /// Inserts and updates many rows atomically.
    ///
    /// - Throws: `StoreError` with row and key; in that case nothing was written.
    func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult

    /// Updates many objects atomically.
    ///
    /// - Throws: `StoreError`: `.constraintConflict` with the objects that would share a key, or a validation error for the
    ///   new values; in that case nothing was written.
    func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult

    /// Deletes many objects atomically.
    ///
    /// - Throws: `StoreError`; in that case nothing was deleted.
    func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult

    /// Permanent ids for new objects of these entities, in the same order. They are never reused. The numbers in them,
    /// ``ObjectID/reference``, have 32 bits.
    func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID]

    /// Calls a closure for every commit from now on, as long as the result exists: for saves and batches of any origin in
    /// this process, and for commits of another process that the store has read. It may also be called for a commit that
    /// changed no object.
    ///
    /// The closure is called in the order of the commits, one call at a time, on a thread that has committed and holds no
    /// locks. A snapshot that it takes includes the commit. It can commit too. Usually the closure has been called by the
    /// time the commit returns; exceptions are commits while another thread is delivering, and commits within the closure.
    ///
    /// A snapshot taken after this method returns includes every commit for which the closure is not called.
    func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation

    /// Whether ids of deleted objects can be redirected to others. If false, none is. It never becomes false again.
    var hasRedirects: Bool { get }

    /// Closes the store. Snapshots that still exist stay readable.
    func close() throws(StoreError)
}

/// A fixed state of a store. It stays readable, whatever is written, until it is released.
public protocol StoreSnapshot: AnyObject, Sendable {
    /// The number of the commit that produced this state.
    var commit: UInt64 { get }
    /// The model of the state.
    var schema: Schema { get }
    /// How the store names its objects.
    var identity: StoreIdentity { get }

    /// The objects that match, in order.
    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult

    /// A table of values about the objects that match.
    func table(_ request: StoreTableFetch) throws(StoreError) -> StoreTable

    /// Passes the requested objects in batches, until the closure returns false. Programs usually call `read`.
    func readBatches(_ request: StoreRead, _ body: (borrowing RowBatch) -> Bool) throws(StoreError)

    /// Passes the objects that have the keys in batches, in the order of the keys, until the closure returns false. `keys`
    /// is called until it returns true, and sets the columns of a key each time. Programs usually call `lookUp`.
    func lookUpBatches(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError)

    /// Passes the members of a relationship in batches, owner by owner, until the closure returns false. Programs usually
    /// call `read`.
    func readRelatedBatches(
        _ request: StoreRelated, of owners: [ObjectID], _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError)

    /// Executes a fetch and returns its query plan.
    func explain(_ request: StoreFetch) throws(StoreError) -> QueryPlan

    /// Executes a fetch for a table and returns its query plan.
    func explain(_ request: StoreTableFetch) throws(StoreError) -> QueryPlan

    /// Counts objects and returns the query plan.
    func explainCount(_ request: StoreFetch) throws(StoreError) -> QueryPlan

    /// The number of objects that match. Limit and offset apply.
    func count(_ request: StoreFetch) throws(StoreError) -> Int

    /// The rows of these objects; nil for those that do not exist.
    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?]

    /// The members of a to-many relationship of several objects, by id.
    ///
    /// `relationship` is the index in the entity's relationships.
    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]

    /// The objects whose `relationship` of `entity` (or a descendant) refers to `target`, whether or not the relationship
    /// has an inverse. It must be to-one, or stored as pairs.
    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]

    /// The id of the object into which an object was merged, or which has replaced it since; nil if the object exists, or
    /// has no replacement.
    ///
    /// - Complexity: O(1) for each time that the replacement was merged too. Nothing is read.
    func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID?
}

extension PersistentStore {
    /// The newest published state.
    public func newestState() throws(StoreError) -> any StoreSnapshot { try snapshot() }

    /// False: such a store does not keep redirects.
    public var hasRedirects: Bool { false }

    /// The id of the object into which an object was merged, or which has replaced it since; nil if the object exists, or
    /// has no replacement.
    ///
    /// - Throws: `StoreError` if the store was closed.
    /// - Complexity: O(1) for each time that the replacement was merged too. Nothing is read.
    public func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? {
        hasRedirects ? try snapshot().redirectedObjectID(for: id) : nil
    }
}

extension StoreSnapshot {
    /// Nil: such a store does not keep redirects.
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
