// Fetching beside the caller: the store is read on another thread, and the objects are made in the context at the end.
//
//   1. The request is checked, and a snapshot taken.
//   2. Elsewhere: ids first, so that it is known how many there are, then rows, a block of them at a time. The store asks
//      between blocks whether anybody wants the answer still.
//   3. Here: what is changed by then is laid over it. If so much has changed meanwhile that more would have had to be asked
//      for, or if the context has saved, all is asked again: what was saved is neither in the old snapshot nor a change.
//   4. What a child context reads belongs to its parent, which works where the child does: that is read here too.
//   5. Who saves again and again would be waited for without end: after some readings elsewhere there is one here, beside
//      which nothing can happen.

public import CairnModel
public import CairnStore
import Synchronization

extension ManagedObjectContext {
    /// The objects that match a request, read without blocking the caller's actor.
    ///
    /// The result is that of ``fetch(_:)->[Result]``: what was stored when it was called, or when the context last saved since,
    /// with the context's changes when it returns. Cancelling the task or the progress ends it early, even in the
    /// middle of a scan.
    ///
    /// ```swift
    /// let all = try await context.fetchAsynchronously(FetchRequest<Product>())
    /// ```
    ///
    /// - Throws: As ``fetch(_:)->[Result]``, and `StoreError` with `.cancelled`.
    /// - Complexity: that of ``fetch(_:)->[Result]``; only creating the objects runs on the caller's actor.
    public func fetchAsynchronously<Result: ManagedObject>(
        _ request: FetchRequest<Result>, progress: FetchProgress = FetchProgress()
    ) async throws(StoreError) -> [Result] {
        let start = board.wants(.fetches) ? Self.now() : nil
        do throws(StoreError) {
            return try await answer(request, progress, since: start)
        } catch {
            tellOfFailure(.objects, request.terms, since: start, error)
            throw error
        }
    }

    /// Fetches, and tells of it if there is a moment since when it is measured.
    private func answer<Result: ManagedObject>(
        _ request: FetchRequest<Result>, _ progress: FetchProgress,
        since start: ContinuousClock.Instant?
    ) async throws(StoreError) -> [Result] {
        let terms = request.terms
        let rarer = terms.rarer
        let paths = try prefetchPaths(rarer.relationshipKeyPathsForPrefetching, terms)
        let isBatched = isBatched(terms)
        let readsRows = !isBatched && readsRows(terms)
        let origin = origin(of: terms, readsRows: readsRows || isBatched)
        let (entries, snapshot) = try await entries(terms, readsRows: readsRows, progress)
        if rarer.shouldRefreshRefetchedObjects { try refresh(entries) }
        let objects: [Result]
        if isBatched {
            objects = try batched(entries.map { ($0.id, $0.object) }, request, paths, origin)
        } else if readsRows {
            objects = self.objects(entries, request)
        } else {
            objects = faults(with: entries.map(\.id), of: try entity(of: terms))
                .map { result($0, of: request) }
        }
        if !paths.isEmpty, !isBatched { try prefetch(paths, of: objects, terms, origin) }
        if let start {
            tell(.objects, terms, objects.count, since: start, snapshot, isAsynchronous: true)
        }
        enter(objects, origin)
        return objects
    }

    /// The ids of the objects that match a request, found while the caller's actor does other things; of new objects the
    /// temporary ones.
    ///
    /// - Throws: As ``fetchObjectIDs(_:)``, and `StoreError` with `.cancelled`.
    @_disfavoredOverload
    public func fetchAsynchronously(
        _ request: FetchRequest<ObjectID>, progress: FetchProgress = FetchProgress()
    ) async throws(StoreError) -> [ObjectID] {
        let start = board.wants(.fetches) ? Self.now() : nil
        do throws(StoreError) {
            let (entries, snapshot) = try await entries(request.terms, readsRows: false, progress)
            if let start {
                tell(
                    .objectIDs, request.terms, entries.count, since: start, snapshot,
                    isAsynchronous: true)
            }
            return entries.map(\.id)
        } catch {
            tellOfFailure(.objectIDs, request.terms, since: start, error)
            throw error
        }
    }

    /// The values of a request, fetched while the caller's actor does other things.
    ///
    /// - Throws: As ``fetch(_:)->[Result]`` of the same request, and `StoreError` with `.cancelled`.
    @_disfavoredOverload
    public func fetchAsynchronously(
        _ request: FetchRequest<DictionaryResult>, progress: FetchProgress = FetchProgress()
    ) async throws(StoreError) -> [DictionaryResult] {
        let start = board.wants(.fetches) ? Self.now() : nil
        do throws(StoreError) {
            try throwReadError()
            processPendingChanges()
            let table = try table(request.terms)
            let snapshot = try source()
            let found =
                parent == nil
                ? try await Self.readElsewhere(table.request, snapshot, progress)
                : try Self.read(table.request, snapshot, progress) { progress.isCancelled }
            let rows = try results(found, table)
            if let start {
                tell(
                    .values, request.terms, rows.count, since: start, snapshot,
                    isAsynchronous: true)
            }
            return rows
        } catch {
            tellOfFailure(.values, request.terms, since: start, error)
            throw error
        }
    }

    private func tellOfFailure(
        _ kind: FetchEvent.Kind, _ terms: FetchTerms, since start: ContinuousClock.Instant?,
        _ error: StoreError
    ) {
        guard let start else { return }
        tell(kind, terms, 0, since: start, nil, isAsynchronous: true, error: error)
    }

    // MARK: Reading elsewhere

    /// What matches, overlaid with what is changed here at the end.
    private func entries(
        _ terms: FetchTerms, readsRows: Bool, _ progress: FetchProgress
    ) async throws(StoreError) -> (entries: [FetchedEntry], snapshot: any StoreSnapshot) {
        try throwReadError()
        processPendingChanges()
        try terms.rarer.checkForObjects(terms.entityName, in: schema)
        let question = try question(terms)
        /// What the store is to be asked, as things are now.
        func needed(_ pending: [ManagedObject]) -> StoreFetch {
            var fetch = widened(question.fetch, pending, includesRows: readsRows)
            // Rows say where changed objects belong among the others.
            if pending.isEmpty { fetch.includesRows = readsRows }
            return fetch
        }
        var readings = 0
        while true {
            let fetch = needed(pendingObjects(terms, question))
            let before = saves
            let snapshot = try source()
            readings += 1
            let found =
                readings > Self.mostReadingsElsewhere || parent != nil
                ? try Self.read(fetch, snapshot, progress) { progress.isCancelled }
                : try await Self.readElsewhere(fetch, snapshot, progress)
            processPendingChanges()
            if saves != before { continue }
            let pending = pendingObjects(terms, question)
            let needed = needed(pending)
            if needed.includesRows, !fetch.includesRows { continue }
            if let asked = fetch.limit, let limit = needed.limit, limit > asked,
                found.ids.count == asked
            {
                continue
            }
            return (try overlaid(found, of: snapshot, question, pending), snapshot)
        }
    }

    /// How often all is read elsewhere before it is read here.
    private static let mostReadingsElsewhere = 4
    /// How many rows are read before anybody is told.
    private static let rowsAtOnce = 1024

    @concurrent
    private static func readElsewhere(
        _ fetch: StoreFetch, _ snapshot: any StoreSnapshot, _ progress: FetchProgress
    ) async throws(StoreError) -> StoreFetchResult {
        try await cancellable(progress) { isCancelled throws(StoreError) in
            try read(fetch, snapshot, progress, isCancelled)
        }
    }

    private static func read(
        _ fetch: StoreFetch, _ snapshot: any StoreSnapshot, _ progress: FetchProgress,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> StoreFetchResult {
        var ids = fetch
        ids.includesRows = false
        ids.isCancelled = isCancelled
        var found = try snapshot.fetch(ids)
        progress.begin(found.ids.count)
        guard fetch.includesRows else {
            progress.advance(by: found.ids.count)
            return found
        }
        found.rows.reserveCapacity(found.ids.count)
        var next = 0
        while next < found.ids.count {
            try progress.check()
            let end = min(found.ids.count, next + rowsAtOnce)
            for row in try snapshot.rows(Array(found.ids[next..<end])) {
                guard let row else {
                    throw StoreError(.damaged, "a row that was found in a snapshot is not in it")
                }
                found.rows.append(row)
            }
            progress.advance(by: end - next)
            next = end
        }
        return found
    }

    @concurrent
    private static func readElsewhere(
        _ request: StoreTableFetch, _ snapshot: any StoreSnapshot, _ progress: FetchProgress
    ) async throws(StoreError) -> StoreTable {
        try await cancellable(progress) { isCancelled throws(StoreError) in
            try read(request, snapshot, progress, isCancelled)
        }
    }

    private static func read(
        _ request: StoreTableFetch, _ snapshot: any StoreSnapshot, _ progress: FetchProgress,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(StoreError) -> StoreTable {
        try progress.check()
        var request = request
        request.fetch.isCancelled = isCancelled
        let table = try snapshot.table(request)
        progress.begin(table.rows.count)
        progress.advance(by: table.rows.count)
        return table
    }

    /// Reads with a closure that any thread may ask whether the task or the progress was cancelled: threads of a store know
    /// of no task. Who cancels has no answer, also if all is read by then.
    private static func cancellable<R: Sendable>(
        _ progress: FetchProgress,
        _ body: (@escaping @Sendable () -> Bool) throws(StoreError) -> R
    ) async throws(StoreError) -> R {
        try progress.check()
        let flag = CancellationFlag()
        let result = await withTaskCancellationHandler {
            Swift.Result { () throws(StoreError) in
                try body { flag.isSet.load(ordering: .relaxed) || progress.isCancelled }
            }
        } onCancel: {
            flag.isSet.store(true, ordering: .relaxed)
        }
        let found = try result.get()
        try progress.check()
        return found
    }
}

/// Whether the task of a fetch was cancelled.
private final class CancellationFlag: Sendable {
    let isSet = Atomic(false)
}
