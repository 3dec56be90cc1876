// Answers a fetch and says how: the plan that people read.
//
// Threads: one reading.

import CairnModel
import CairnStore

struct QueryExplanation {
    let engine: Engine
    let state: EngineState
    let fetch: StoreFetch

    func plan() throws(StoreError) -> QueryPlan {
        let trace = QueryTrace()
        let clock = ContinuousClock()
        let start = clock.now
        let runner = try FetchRunner.planned(
            engine, state, fetch, wantsOrder: true, trace: trace)
        let (hits, access) = try runner.hits()
        if fetch.includesRows { _ = try runner.rows(hits) }
        let took = start.duration(to: clock.now).components
        let all = runner.family.reduce(0) { $0 + state.counts[$1] }
        return QueryPlan(
            access: access.text,
            condition: trace.asksRows ? runner.fetch.predicate.map { "\($0)" } : nil,
            sort: trace.sorts ? Self.words(fetch.sort) : nil, estimatedRows: trace.estimate,
            allRows: all, rowsLooked: trace.rows, results: hits.count,
            blocksRead: trace.blockCount, blocksSkipped: max(0, blocks(runner) - trace.blockCount),
            seconds: Double(took.seconds) + Double(took.attoseconds) / 1e18)
    }

    private static func words(_ sort: [SortKey]) -> String {
        sort.map { "\($0.isAscending ? "" : "-")\($0.key)" }.joined(separator: ", ")
    }

    /// How many blocks with rows the entities have.
    private func blocks(_ runner: FetchRunner) -> Int {
        var count = 0
        for entity in runner.family {
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
