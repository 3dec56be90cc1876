// How the store answers what a context asks.

public import CairnStore

extension ManagedObjectContext {
    /// Has the store answer a request, and says how it did: by which index or by a scan, whether it had to sort, how many
    /// rows and blocks it looked at, and how long it took. Unsaved changes are left out.
    ///
    /// ```swift
    /// print(try context.explain(request))
    /// ```
    ///
    /// - Throws: As ``fetch(_:)``.
    /// - Complexity: That of the fetch, and O(n) in the blocks of the entity.
    public func explain<Result>(_ request: FetchRequest<Result>) throws(StoreError) -> QueryPlan {
        try throwReadError()
        return try store.snapshot().explain(storeFetch(request))
    }
}
