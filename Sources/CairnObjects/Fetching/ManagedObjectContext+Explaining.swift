// How the store answers what a context asks: the question that a fetch of the same request asks it.

import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// Executes a request and reports the query plan: which index or scan was used, the grouping, whether it had to
    /// sort, how many rows and blocks it examined, and how long it took. Unsaved changes are ignored.
    ///
    /// It explains what ``fetch(_:)->[Result]`` of the request would ask for: objects with their rows, ids, a number, or
    /// dictionary results.
    ///
    /// ```swift
    /// print(try context.explain(request))
    /// ```
    ///
    /// - Throws: As ``fetch(_:)->[Result]``.
    /// - Complexity: That of the fetch, and O(n) in the blocks of the entity.
    public func explain<Result>(_ request: FetchRequest<Result>) throws(StoreError) -> QueryPlan {
        try throwReadError()
        return try storeQuestion(request.terms, request.resultType).plan(of: source())
    }

    /// What a store is asked for results of a kind.
    func storeQuestion(
        _ terms: FetchTerms, _ kind: FetchRequestResultType
    ) throws(StoreError) -> StoreQuestion {
        if kind == .dictionary { return .table(try table(terms).request) }
        try terms.box?.terms.checkForObjects(terms.entityName, in: schema)
        var fetch = try question(terms).fetch
        switch kind {
        case .managedObject: fetch.includesRows = readsRows(terms)
        case .count:
            // Nobody sorts what is counted.
            fetch.sort = []
            return .count(fetch)
        default: break
        }
        return .fetch(fetch)
    }
}
