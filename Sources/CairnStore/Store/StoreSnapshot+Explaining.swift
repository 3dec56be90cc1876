extension StoreSnapshot {
    /// The query plan of a fetch, for a store that only reports its access path.
    public func explain(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        let found = try fetch(request)
        return QueryPlan(access: found.plan, results: found.ids.count)
    }

    /// The query plan of a table, for a store that only reports its access path.
    public func explain(_ request: StoreTableFetch) throws(StoreError) -> QueryPlan {
        let table = try table(request)
        return QueryPlan(access: table.plan, results: table.rows.count)
    }

    /// The query plan of a count, for a store that does not report one.
    public func explainCount(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        QueryPlan(access: "count", results: try count(request))
    }
}
