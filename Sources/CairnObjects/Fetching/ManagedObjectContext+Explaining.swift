// How the store answers what a context asks: the question that a fetch of the same request asks it.

import CairnModel
public import CairnStore

extension ManagedObjectContext {
    /// Has the store answer a request, and says how it did: by which index or by a scan, what it grouped by, whether it had to
    /// sort, how many rows and blocks it looked at, and how long it took. Unsaved changes are left out.
    ///
    /// What is explained is what ``fetch(_:)`` of the request asks: objects with their rows, ids, a number, or rows of values.
    ///
    /// ```swift
    /// print(try context.explain(request))
    /// ```
    ///
    /// - Throws: As ``fetch(_:)``.
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
