// Which state of the store a context reads: the one place that decides it.
//
// Mostly the newest one: each question takes a snapshot of its own, and the commonest ones are asked without any. A context
// with a query generation reads that state, whatever is written meanwhile:
//
//   1. `.current` stands for the newest state until the context reads for the first time; that state is pinned then.
//   2. A save that writes moves a pinned context on to the state behind it, so that it sees what it has written.
//   3. What a merge policy of one's own reads while it resolves conflicts is the newest state: that is what they are with.
//
// Everything that reads comes here: fetches, counts and tables, faults, members, referrers, what is read ahead, refreshing,
// explaining. What writes goes to the store itself, which works on its newest state.
//
// Threads: the context's.

public import CairnStore

extension ManagedObjectContext {
    /// The state that is read now.
    @inline(__always) func source() throws(StoreError) -> any StoreSnapshot {
        if generation == nil { return try store.snapshot() }
        return try pinnedSource()
    }

    /// The store, if it finds objects by their keys at once and its newest state is what is read.
    @inline(__always) var keyedSource: (any KeyedStore)? { generation == nil ? keyedStore : nil }

    @inline(never)
    private func pinnedSource() throws(StoreError) -> any StoreSnapshot {
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
    }

    /// Runs a closure that reads the newest state.
    func readingNewestState(_ body: () throws -> Void) rethrows {
        let pinned = generation
        generation = nil
        defer { if generation == nil { generation = pinned } }
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
    /// - Throws: `StoreError` with `.invalidRequest` if the token is one of another store.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws(StoreError) {
        if let snapshot = token?.snapshot, snapshot.identity.identifier != identity.identifier {
            throw StoreError(.invalidRequest, "the query generation is one of another store")
        }
        generation = token
        if token?.snapshot == nil { inbox?.wakeAgain() }
        prefetched = nil
        // What is read beside the context just now is of another state.
        saves += 1
    }

    /// The same under Core Data's name; see ``setQueryGeneration(from:)``.
    ///
    /// - Throws: As ``setQueryGeneration(from:)``.
    public func setQueryGenerationFrom(_ token: QueryGenerationToken?) throws(StoreError) {
        try setQueryGeneration(from: token)
    }
}
