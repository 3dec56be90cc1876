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
    /// The state of the store that the context reads; nil if it reads the newest one. Until it has read something,
    /// ``QueryGenerationToken/current`` stays what it is.
    public var queryGenerationToken: QueryGenerationToken? { generation }

    /// Has the context read one state of the store from now on, whatever is written meanwhile, or with nil the newest one
    /// again.
    ///
    /// ```swift
    /// try context.setQueryGeneration(from: .current)
    /// let all = try context.fetchLazily(request)                                // pins the newest state
    /// try other.setQueryGeneration(from: context.queryGenerationToken)          // the same state
    /// ```
    ///
    /// Fetches, counts, values, faults, members and ``refresh(_:mergeChanges:)`` all see the state as it was, be it that rows
    /// have been changed or deleted since. Objects whose values were read before stay as they are: ``refreshAllObjects()``
    /// brings them to the state. Unsaved changes are laid over it, as always.
    ///
    /// A save is checked against what is stored by then: what somebody else has changed since is a conflict. If it writes
    /// something, the context goes on with the state behind it. Batch requests work on the newest state, and do not move
    /// the context on.
    ///
    /// A child context reads what its parent shows, and is given no generation: its parent is.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` if the token is one of another store, or if the context has a parent.
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
