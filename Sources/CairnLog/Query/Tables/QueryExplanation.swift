// Executes a query and returns its plan for users.
//
// Threads: one reading.

import CairnModel
import CairnStore

struct QueryExplanation {
    /// The number of rows that are read, and then released, together.
    private static let rowsAtOnce = 1024

    let reader: StoreReader
    let state: EngineState
    private let trace = QueryTrace()
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    init(reader: StoreReader, state: EngineState) {
        self.reader = reader
        self.state = state
        start = clock.now
    }

    /// Returns the plan of a fetch.
    func plan(of fetch: StoreFetch) throws(StoreError) -> QueryPlan {
        let runner = try FetchRunner.planned(
            reader, state, fetch, wantsOrder: true, trace: trace)
        let (hits, access) = try runner.hits()
        if fetch.includesRows {
            for start in stride(from: 0, to: hits.count, by: Self.rowsAtOnce) {
                let end = min(start + Self.rowsAtOnce, hits.count)
                _ = try reader.rows(Array(hits[start..<end]), in: state, trace: trace)
            }
        }
        return plan(access.text, runner.fetch, results: hits.count)
    }

    /// Returns the plan of a count.
    func plan(ofCount fetch: StoreFetch) throws(StoreError) -> QueryPlan {
        let runner = try FetchRunner(reader: reader, state: state, fetch: fetch, trace: trace)
        let (count, access) = try runner.counting()
        return plan(access?.text ?? runner.scanPlan, runner.fetch, results: count)
    }

    /// Returns the plan of a table.
    func plan(of request: StoreTableFetch) throws(StoreError) -> QueryPlan {
        let runner = TableRunner(reader: reader, state: state, request: request, trace: trace)
        let table = try runner.table()
        let fetch = try request.fetch.bound(to: state, reader.identity)
        var plan = plan(table.plan, fetch, results: table.rows.count)
        if trace.groups { plan.groups = request.terms.groupsInWords }
        // Like the predicate: its bound form, however it was written.
        plan.having = try TablePlan(request, in: state.catalog.schema).havingInWords
        plan.isDistinct = request.terms.isDistinct
        return plan
    }

    private func plan(_ access: String, _ fetch: StoreFetch, results: Int) -> QueryPlan {
        let took = start.duration(to: clock.now).components
        let family =
            fetch.includesSubentities ? state.catalog.family(of: fetch.entity) : [fetch.entity]
        let skipped = blocks(of: family) - trace.blockCount(of: family)
        return QueryPlan(
            access: access, condition: trace.asksRows ? fetch.predicate.map { "\($0)" } : nil,
            sort: trace.sorts ? Self.words(fetch.sort) : nil, estimatedRows: trace.estimate,
            allRows: family.reduce(0) { $0 + state.counts[$1] }, rowsLooked: trace.rows,
            results: results, blocksRead: trace.blockCount, blocksSkipped: max(0, skipped),
            seconds: Double(took.seconds) + Double(took.attoseconds) / 1e18)
    }

    private static func words(_ sort: [SortKey]) -> String {
        sort.map(\.outline).joined(separator: ", ")
    }

    /// Returns the number of blocks with rows of some entities.
    private func blocks(of family: [Int]) -> Int {
        var count = 0
        for entity in family {
            var handle = state.blocks.first(ofEntity: entity)
            while handle != .none {
                let entry = state.blocks.entry(handle)
                if entry.live > 0 { count += 1 }
                handle = state.blocks.next(after: entry)
            }
        }
        return count
    }
}
