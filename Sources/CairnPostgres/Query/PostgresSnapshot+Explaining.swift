// Query plans: what the server did and what was done here, the SQL, and the server's own plan.
//
//   1. The question is answered as ever.
//   2. The server is asked how it carries out the same statement (EXPLAIN, which does not carry it out), and how many objects there
//      are.
//
// The values of a question are parameters, and the statement does not show them; the server's plan is the one for these values.
//
// Threads: any.

import CairnModel
import CairnStore

extension PostgresSnapshot {
    func explain(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        let start = ContinuousClock.now
        let found = try fetch(request)
        let (evaluation, query) = try asked(request)
        let selection = core.selection(core.layout.table(of: request.entity))
        let name = ConditionTranslator.rootName
        let list =
            query.isWhole && !request.includesRows
            ? selection.identities(name) : selection.list(name)
        var plan = try plan(
            found.plan, query.rows(list), request, since: start, results: found.ids.count)
        if !query.isFiltered { plan.condition = evaluation.condition.map { "\($0)" } }
        if !query.isWhole, !request.sort.isEmpty {
            plan.sort = request.sort.map(\.outline).joined(separator: ", ")
        }
        return plan
    }

    func explainCount(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        let start = ContinuousClock.now
        let count = try count(request)
        let (evaluation, query) = try asked(request)
        let list = core.selection(core.layout.table(of: request.entity))
            .list(ConditionTranslator.rootName)
        var plan = try plan(
            query.plan, query.isFiltered ? query.count : query.rows(list), request, since: start,
            results: count)
        if !query.isFiltered { plan.condition = evaluation.condition.map { "\($0)" } }
        return plan
    }

    func explain(_ request: StoreTableFetch) throws(StoreError) -> QueryPlan {
        let start = ContinuousClock.now
        let (table, statement) = try answer(request)
        let terms = try TablePlan(request, in: schema)
        var fetch = request.fetch
        fetch.sort = []
        fetch.offset = 0
        fetch.limit = nil
        let (evaluation, query) = try asked(fetch)
        let list = core.selection(core.layout.table(of: fetch.entity))
            .list(ConditionTranslator.rootName)
        var plan = try plan(
            table.plan, statement ?? query.rows(list), request.fetch, since: start,
            results: table.rows.count)
        if !query.isFiltered { plan.condition = evaluation.condition.map { "\($0)" } }
        if terms.isGrouped { plan.groups = request.terms.groupsInWords }
        plan.having = terms.havingInWords
        plan.isDistinct = request.terms.isDistinct
        if !request.fetch.sort.isEmpty {
            plan.sort = request.fetch.sort.map(\.outline).joined(separator: ", ")
        }
        return plan
    }

    private func plan(
        _ access: String, _ statement: Statement, _ request: StoreFetch,
        since start: ContinuousClock.Instant, results: Int
    ) throws(StoreError) -> QueryPlan {
        let took = start.duration(to: .now).components
        var all = StoreFetch(entity: request.entity)
        all.includesSubentities = request.includesSubentities
        let (_, whole) = try asked(all)
        let answers = try reading.ask([
            Statement("EXPLAIN " + statement.sql, statement.parameters, .once), whole.count,
        ])
        return try StoreCore.sql { () throws(SQLFailure) in
            var lines: [String] = []
            for row in 0..<answers[0].rowCount { lines.append(try answers[0].string(row, 0)) }
            return QueryPlan(
                access: access, estimatedRows: lines.first.map(Self.rows) ?? 0,
                allRows: Int(try answers[1].int64(0, 0)), results: results,
                seconds: Double(took.seconds) + Double(took.attoseconds) / 1e18,
                statement: statement.sql, serverPlan: lines.joined(separator: "\n"))
        }
    }

    /// The row estimate in a line of a server's plan: "(cost=0.00..1.05 rows=5 width=4)".
    private static func rows(_ line: String) -> Int {
        guard let start = line.firstRange(of: "rows=") else { return 0 }
        return Int(line[start.upperBound...].prefix { $0.isASCII && $0.isNumber }) ?? 0
    }
}
