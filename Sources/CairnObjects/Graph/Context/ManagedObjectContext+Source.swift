// Which state of the store a context reads: the one place that decides it.
//
// Mostly the newest one: each question takes a snapshot of its own, and the commonest ones are asked without any. A context
// with a query generation reads that state, whatever is written meanwhile:
//
//   1. `.current` stands for the newest state until the context reads for the first time; that state is pinned then.
//   2. A save that writes moves a pinned context on to the state behind it, so that it sees what it has written.
//   3. A child context reads what its parent shows: see ParentSource.
//   4. What a merge policy of one's own reads while it resolves conflicts is the newest state: that is what they are with.
//
// Everything that reads comes here: fetches, counts and tables, faults, members, referrers, what is read ahead, refreshing,
// explaining. What writes goes to the store itself, which works on its newest state.
//
// Threads: the context's.

public import CairnStore

extension ManagedObjectContext {
    /// The state that is read now.
    @inline(__always) func source() throws(StoreError) -> any StoreSnapshot {
        if readsNewest { return try store.newestState() }
        return try otherSource()
    }

    /// The store, if it finds objects by their numbers and keys at once and its newest state is what is read.
    @inline(__always) var keyedSource: (any KeyedStore)? { generation == nil ? keyedStore : nil }

    /// The coordinator, if the newest states of its stores are what is read.
    @inline(__always) var coordinatedSource: PersistentStoreCoordinator? {
        parent == nil && generation == nil ? coordinator : nil
    }

    @inline(never)
    private func otherSource() throws(StoreError) -> any StoreSnapshot {
        if let parentSource { return parentSource }
        if readsNewestState { return try store.newestState() }
        if let snapshot = generation?.snapshot { return snapshot }
        let snapshot = try store.snapshot()
        generation = QueryGenerationToken(snapshot)
        return snapshot
    }

    /// Moves a pinned context on, since it has written.
    func moveGenerationOn() {
        guard generation?.snapshot != nil else { return }
        // A store that was closed just now says so to whoever reads.
        generation = (try? store.snapshot()).map { QueryGenerationToken($0) } ?? .current
        stateChanged()
    }

    /// What was gone in one state may be there in another.
    private func stateChanged() {
        prefetched = nil
        guard hasGoneObjects else { return }
        hasGoneObjects = false
        for object in registry.objects where object.isGone { object.revive() }
    }

    /// Runs a closure that reads the newest state.
    func readingNewestState(_ body: () throws -> Void) rethrows {
        guard generation != nil else { return try body() }
        let outer = readsNewestState
        readsNewestState = true
        prefetched = nil
        defer {
            readsNewestState = outer
            prefetched = nil
        }
        try body()
    }
}

extension ManagedObjectContext {
    /// The state of the store that the context reads; nil if it reads the newest one. ``QueryGenerationToken/current``
    /// is kept until the context first reads.
    public var queryGenerationToken: QueryGenerationToken? { generation }

    /// Pins the context to one state of the store, whatever is written later; nil unpins it.
    ///
    /// ```swift
    /// try context.setQueryGeneration(from: .current)
    /// let all = try context.fetchLazily(request)                                // pins the newest state
    /// try other.setQueryGeneration(from: context.queryGenerationToken)          // the same state
    /// ```
    ///
    /// Fetches, counts, values, faults, members and ``refresh(_:mergeChanges:)`` all see that state, even if rows have
    /// been changed or deleted since. Objects whose values were read before are not affected: ``refreshAllObjects()``
    /// updates them to the state. Unsaved changes are kept on top, as always.
    ///
    /// A save is checked against the newest state: changes made elsewhere since then are conflicts. If it writes
    /// something, the context advances to the state after it. Batch requests work on the newest state, and do not
    /// advance the context.
    ///
    /// A child context reads through its parent, and cannot be pinned itself: pin its parent.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if the token belongs to another store, or if the context has a parent.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws(StoreError) {
        if parent != nil, token != nil {
            throw StoreError(
                .invalidRequest,
                "a child context reads through its parent: set the query generation on the parent"
            )
        }
        if let snapshot = token?.snapshot, snapshot.identity.identifier != identity.identifier {
            throw StoreError(.invalidRequest, "the query generation belongs to another store")
        }
        generation = token
        // Rows that are read from now on may be of an earlier state than the newest one.
        if token != nil {
            knownRows.begin(at: nil)
            inbox?.noteOlderReads()
        }
        if token?.snapshot == nil { inbox?.wakeAgain() }
        // What is read beside the context just now is of another state.
        saves += 1
        stateChanged()
    }

    /// The same under Core Data's name; see ``setQueryGeneration(from:)``.
    ///
    /// - Throws: As ``setQueryGeneration(from:)``.
    public func setQueryGenerationFrom(_ token: QueryGenerationToken?) throws(StoreError) {
        try setQueryGeneration(from: token)
    }
}
