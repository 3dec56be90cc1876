// Tables: of groups that the server computes, of values that it returns, or of objects that are read here.
//
// Threads: any.

import CairnModel
import CairnStore

extension PostgresSnapshot {
    func table(_ request: StoreTableFetch) throws(StoreError) -> StoreTable {
        try answer(request).table
    }

    /// The table, and the query sent to the server; nil if objects were fetched instead.
    func answer(_ request: StoreTableFetch) throws(StoreError) -> (
        table: StoreTable, statement: Statement?
    ) {
        let plan = try TablePlan(request, in: schema)
        let fetch = request.fetch
        let (evaluation, query) = try asked(request.objects)
        try evaluation.checkCancelled()
        guard query.isFiltered else { return (try tableOfObjects(request), nil) }
        func table(_ rows: [[Value]], _ words: String) -> StoreTable {
            StoreTable(columns: plan.names, rows: rows, plan: words)
        }
        if plan.isGrouped, let groups = GroupQuery(plan, query, fetch),
            let rows = try groups.rows(reading.ask(groups.statement))
        {
            return (table(rows, groups.words), groups.statement)
        }
        // The first question may have joined rows that this one asks nothing of.
        let (_, again) = try asked(request.objects)
        guard let values = ValueQuery(plan, again, fetch) else {
            return (try tableOfObjects(request), nil)
        }
        let rows = try values.rows { body throws(StoreError) in
            try reading.stream(values.statement) { result throws(StoreError) in
                try evaluation.checkCancelled()
                return try body(result)
            }
        }
        return (table(rows, values.words), values.statement)
    }
}

extension StoreTableFetch {
    /// The objects that it is about, all of them and in no order.
    fileprivate var objects: StoreFetch {
        var fetch = fetch
        fetch.sort = []
        fetch.offset = 0
        fetch.limit = nil
        return fetch
    }
}
