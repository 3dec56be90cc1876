// Fetching beside the caller: the store is read on another thread, and the objects are made in the context at the end.
//
//   1. The request is checked, and a snapshot taken.
//   2. Elsewhere: ids first, so that it is known how many there are, then rows, a block of them at a time.
//   3. Here: what is changed by then is laid over it. If so much has changed meanwhile that more would have had to be asked
//      for, all is asked again.

import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// The objects that match a request, read while the caller's actor does other things.
    ///
    /// The answer is that of ``fetch(_:)``: what was stored when it was called, and what is changed in the context when it
    /// returns. It ends early if the task or the progress is cancelled.
    ///
    /// ```swift
    /// let all = try await context.fetchAsynchronously(FetchRequest<Product>())
    /// ```
    ///
    /// - Throws: As ``fetch(_:)``, and `StoreError` with `.cancelled`.
    /// - Complexity: that of ``fetch(_:)``, of which only the making of objects runs on the caller's actor.
    public func fetchAsynchronously<Result: ManagedObject>(
        _ request: FetchRequest<Result>, progress: FetchProgress = FetchProgress()
    ) async throws(StoreError) -> [Result] {
        let start = board.wants(.fetches) ? Self.now() : nil
        do throws(StoreError) {
            return try await answer(request, progress, since: start)
        } catch {
            if let start {
                tell(
                    .objects, request.terms, 0, since: start, nil, isAsynchronous: true,
                    error: error)
            }
            throw error
        }
    }

    /// Fetches, and tells of it if there is a moment since when it is measured.
    private func answer<Result: ManagedObject>(
        _ request: FetchRequest<Result>, _ progress: FetchProgress,
        since start: ContinuousClock.Instant?
    ) async throws(StoreError) -> [Result] {
        try throwReadError()
        processPendingChanges()
        let terms = request.terms
        try terms.rarer.checkForObjects(terms.entityName)
        let paths = try prefetchPaths(terms.rarer.relationshipKeyPathsForPrefetching, terms)
        let question = try question(terms)
        let origin = origin(of: terms)
        while true {
            let before = pendingObjects(terms, question)
            let fetch = widened(question.fetch, before, includesRows: true)
            let snapshot = try store.snapshot()
            let found = try await Self.read(fetch, snapshot, progress)
            processPendingChanges()
            let pending = pendingObjects(terms, question)
            let needed = widened(question.fetch, pending, includesRows: true)
            if let asked = fetch.limit, let limit = needed.limit, limit > asked,
                found.ids.count == asked
            {
                continue
            }
            let entries = try overlaid(found, of: snapshot, question, pending)
            if terms.rarer.shouldRefreshRefetchedObjects { try refresh(entries) }
            let objects = objects(entries, request)
            if !paths.isEmpty { try prefetch(paths, of: objects, terms, origin) }
            if let start {
                tell(.objects, terms, objects.count, since: start, snapshot, isAsynchronous: true)
            }
            enter(objects, origin)
            return objects
        }
    }

    /// The values that a request asks for, computed while the caller's actor does other things.
    ///
    /// - Throws: As ``fetch(_:)`` of the same request, and `StoreError` with `.cancelled`.
    @_disfavoredOverload
    public func fetchAsynchronously(
        _ request: FetchRequest<DictionaryResult>, progress: FetchProgress = FetchProgress()
    ) async throws(StoreError) -> [DictionaryResult] {
        let start = board.wants(.fetches) ? Self.now() : nil
        do throws(StoreError) {
            try throwReadError()
            processPendingChanges()
            let table = try table(request.terms)
            let snapshot = try store.snapshot()
            let rows = try results(await Self.read(table.request, snapshot, progress), table)
            if let start {
                tell(
                    .values, request.terms, rows.count, since: start, snapshot,
                    isAsynchronous: true)
            }
            return rows
        } catch {
            if let start {
                tell(
                    .values, request.terms, 0, since: start, nil, isAsynchronous: true, error: error
                )
            }
            throw error
        }
    }

    /// How many rows are read before anybody is told.
    private static let rowsAtOnce = 1024

    @concurrent
    private static func read(
        _ fetch: StoreFetch, _ snapshot: any StoreSnapshot, _ progress: FetchProgress
    ) async throws(StoreError) -> StoreFetchResult {
        try progress.check()
        var fetch = fetch
        fetch.includesRows = false
        var found = try snapshot.fetch(fetch)
        progress.begin(found.ids.count)
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
    private static func read(
        _ request: StoreTableFetch, _ snapshot: any StoreSnapshot, _ progress: FetchProgress
    ) async throws(StoreError) -> StoreTable {
        try progress.check()
        let table = try snapshot.table(request)
        progress.begin(table.rows.count)
        progress.advance(by: table.rows.count)
        try progress.check()
        return table
    }
}
