// How a request for objects reads: when, how much at once, and what else along with them.

extension FetchRequest {
    /// The relationships whose objects are read together with the results, as (dotted) key paths.
    ///
    /// For each step of a path all objects are read at once: one reading of the store for a to-one relationship, two for a
    /// to-many (its members, then their rows). The context keeps what was read, not as objects, until the next request that
    /// reads ahead, a save, a rollback, a reset or ``ManagedObjectContext/refreshAllObjects()``. A lazy fetch reads ahead for
    /// each batch.
    ///
    /// ```swift
    /// var request = FetchRequest<Product>()
    /// request.relationshipKeyPathsForPrefetching = ["shop", "tags"]
    /// ```
    public var relationshipKeyPathsForPrefetching: [String] {
        get { terms.rarer.relationshipKeyPathsForPrefetching }
        set { terms.rarer.relationshipKeyPathsForPrefetching = newValue }
    }

    /// How many rows are read at once; 0 = all.
    ///
    /// If set, a plain fetch returns an array of faults. The rows of the first batch are read with it, those of another
    /// when one of its objects is accessed. If the entity has descendants, and ``includesSubentities`` is true, all rows
    /// are read once to determine the entities, and those after the first batch are not kept. The context keeps track of
    /// the batches of the last four such fetches: objects of earlier ones are read one by one.
    /// ``ManagedObjectContext/fetchLazily(_:)`` only creates the objects of batches that are accessed.
    public var fetchBatchSize: Int {
        get { terms.rarer.fetchBatchSize }
        set { terms.rarer.fetchBatchSize = newValue }
    }

    /// Whether rows are read. False: only the ids are read, and each object reads its row when it is accessed. If the
    /// entity has descendants, and ``includesSubentities`` is true, rows are read anyway to determine the entities.
    public var includesPropertyValues: Bool {
        get { terms.rarer.includesPropertyValues }
        set { terms.rarer.includesPropertyValues = newValue }
    }

    /// Whether objects that are already in the context are refreshed with the stored values. Unsaved changes stay on top,
    /// as in ``ManagedObjectContext/refresh(_:mergeChanges:)``.
    public var shouldRefreshRefetchedObjects: Bool {
        get { terms.rarer.shouldRefreshRefetchedObjects }
        set { terms.rarer.shouldRefreshRefetchedObjects = newValue }
    }
}
