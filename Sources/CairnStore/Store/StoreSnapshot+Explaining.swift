extension StoreSnapshot {
    /// How a store answers a fetch that says no more of it than the way.
    public func explain(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        let found = try fetch(request)
        return QueryPlan(access: found.plan, results: found.ids.count)
    }

    /// How a store answers a question for a table that says no more of it than the way.
    public func explain(_ request: StoreTableFetch) throws(StoreError) -> QueryPlan {
        let table = try table(request)
        return QueryPlan(access: table.plan, results: table.rows.count)
    }

    /// How a store counts that says nothing of it.
    public func explainCount(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        QueryPlan(access: "count", results: try count(request))
    }
}
