// Fetches and counts: by the server alone if possible, otherwise with additional filtering here.
//
//   1. The request is checked as every store checks it, whatever will be asked.
//   2. `FetchQuery` says what the server does.
//   3. `FetchEvaluation` does the rest.
//
// Threads: any.

import CairnModel
import CairnStore

extension PostgresSnapshot {
    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        let (evaluation, query) = try asked(request)
        let plan = query.plan
        if request.limit == 0 { return StoreFetchResult(ids: [], rows: [], plan: plan) }
        try evaluation.checkCancelled()
        if query.isWhole, !request.includesRows {
            return StoreFetchResult(ids: try ids(query, request.entity), rows: [], plan: plan)
        }
        let rows = try rows(evaluation, query, request)
        return StoreFetchResult(
            ids: rows.map(\.id), rows: request.includesRows ? rows : [], plan: plan)
    }

    func count(_ request: StoreFetch) throws(StoreError) -> Int {
        let (evaluation, query) = try asked(request)
        if request.limit == 0 { return 0 }
        try evaluation.checkCancelled()
        guard query.isFiltered else { return try rows(evaluation, query, request).count }
        let result = try reading.ask(query.count)
        let count = try StoreCore.sql { () throws(SQLFailure) in try result.int64(0, 0) }
        return query.rest(of: Int(count))
    }

    /// A checked request, and the part of it that the server executes.
    func asked(_ request: StoreFetch) throws(StoreError) -> (FetchEvaluation, FetchQuery) {
        try identity.checkIsAsked(by: request.affectedStores)
        let request = try redirected(request)
        let evaluation = try FetchEvaluation(request, in: schema)
        return (evaluation, FetchQuery(evaluation, request, core.layout, identity))
    }

    /// The answer of a question that the server answers alone.
    private func ids(_ query: FetchQuery, _ entity: Int) throws(StoreError) -> [ObjectID] {
        let selection = core.selection(core.layout.table(of: entity))
        let name = ConditionTranslator.rootName
        let result = try reading.ask(query.rows(selection.identities(name)))
        return try StoreCore.sql { () throws(SQLFailure) in
            try (0..<result.rowCount).map { row throws(SQLFailure) in try selection.id(result, row)
            }
        }
    }

    private func rows(_ evaluation: FetchEvaluation, _ query: FetchQuery, _ request: StoreFetch)
        throws(StoreError) -> [Row]
    {
        let table = core.layout.table(of: request.entity)
        let list = core.selection(table).list(ConditionTranslator.rootName)
        let rows = try rows(reading.ask(query.rows(list)), table: table)
        if query.isWhole { return rows }
        return try evaluation.answer(rows, isFiltered: query.isFiltered, self)
    }
}
