// A store answers a table as it is answered for the same objects in memory.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

@Suite("Tables of a store")
struct StoredTableTests {
    private struct Tally {
        var asked = 0
        var bound = 0
        var rows = 0
    }

    /// Whether two values are the same, but for what adding numbers in another order may change.
    private func isAlike(_ left: Value, _ right: Value) -> Bool {
        if left == right { return true }
        guard let a = number(left), let b = number(right) else { return false }
        return abs(a - b) <= 1e-6 * max(1, abs(a))
    }

    private func number(_ value: Value) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .decimal(let number): Double("\(number)")
        case .double(let number): number
        default: nil
        }
    }

    private func ask(
        _ count: Int, _ graph: Graph, _ store: LogStore, _ tally: inout Tally,
        _ random: inout RandomSource
    ) throws {
        let conditions = RandomCondition(
            schema: graph.schema, ids: graph.objects.map(\.evaluatedID))
        let snapshot = try store.snapshot()
        for _ in 0..<count {
            let entity = RandomValue.pick(graph.schema.entities, &random)
            var maker = RandomTerms(graph.schema, entity)
            let (terms, sort) = maker.terms(&random)
            tally.asked += 1
            guard let plan = try? TablePlan(terms, sort: sort, of: entity, in: graph.schema) else {
                continue
            }
            var parts = maker.bounds
            if random.oneIn(2) { parts.append(conditions.predicate(entity, depth: 1, &random)) }
            guard let condition = try? PredicateNode.and(parts).bound(to: entity, in: graph.schema)
            else { continue }
            tally.bound += 1
            var fetch = StoreFetch(entity: entity.index, predicate: condition)
            fetch.includesSubentities = !random.oneIn(4)
            fetch.sort = sort
            if random.oneIn(4) { fetch.limit = Int.random(in: 0...5, using: &random) }
            if random.oneIn(4) { fetch.offset = Int.random(in: 0...3, using: &random) }
            let objects = graph.matching(
                try PredicateEvaluator(condition), entity, subentities: fetch.includesSubentities)
            let expected = try plan.rows(of: objects, offset: fetch.offset, limit: fetch.limit)
            let found = try snapshot.table(StoreTableFetch(fetch, terms))
            tally.rows += expected.count
            let isEqual =
                found.rows.count == expected.count
                && zip(found.rows, expected).allSatisfy { pair in
                    pair.0.indices.allSatisfy { column in
                        maker.roundedColumns.contains(column)
                            ? isAlike(pair.0[column], pair.1[column])
                            // Which of two zeros is the least depends on which came first.
                            : SortingOrder.compare(pair.0[column], pair.1[column]) == 0
                    }
                }
            #expect(
                isEqual,
                "\(terms) by \(sort) of \(entity.name) where \(condition): \(found) instead of \(expected), seed \(random.seed)"
            )
        }
    }

    @Test(
        "Random tables over random objects of random models are answered as in memory, also after reopening and compaction"
    )
    func differential() throws {
        var tally = Tally()
        try Rounds.run("tables of a store", everyDay: 8, whole: 1000) { random in
            var made = try RandomStore(&random)
            try made.fill(&random, commits: Int.random(in: 1...4, using: &random), objects: 30)
            var graph = try Graph(made.store)
            try ask(40, graph, made.store, &tally, &random)
            try made.reopen()
            try ask(20, graph, made.store, &tally, &random)
            try made.fill(&random, commits: 1, objects: 10)
            _ = try made.store.compact()
            graph = try Graph(made.store)
            try ask(40, graph, made.store, &tally, &random)
            try made.store.close()
        }
        Campaign.report("tables asked: \(tally.bound) bound, \(tally.rows) rows", tally.asked)
        #expect(tally.bound * 10 > tally.asked * 7, "\(tally)")
        #expect(tally.rows > tally.bound * 3, "\(tally)")
    }
}

extension Graph {
    /// The objects that match, by the evaluator in memory.
    func matching(_ evaluator: PredicateEvaluator, _ entity: SchemaEntity, subentities: Bool)
        -> [GraphObject]
    {
        objects.filter {
            (subentities
                ? $0.evaluatedEntity.isKind(of: entity) : $0.evaluatedEntity === entity)
                && evaluator.matches($0)
        }
    }
}
