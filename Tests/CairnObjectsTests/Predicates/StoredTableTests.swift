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
        /// Grouped by a server, and made of its values.
        var groups = 0
        var values = 0
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
        _ count: Int, _ asked: AskedStore, _ tally: inout Tally, _ random: inout RandomSource
    ) throws {
        let (graph, conditions) = (asked.graph, asked.conditions)
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
            tally.rows += expected.count
            func isExpected(_ rows: [[Value]]) -> Bool {
                rows.count == expected.count
                    && zip(rows, expected).allSatisfy { pair in
                        pair.0.indices.allSatisfy { column in
                            maker.roundedColumns.contains(column)
                                ? isAlike(pair.0[column], pair.1[column])
                                // Which of two zeros is the least depends on which came first.
                                : SortingOrder.compare(pair.0[column], pair.1[column]) == 0
                        }
                    }
            }
            for snapshot in asked.snapshots {
                let found = try snapshot.table(StoreTableFetch(fetch, terms))
                if found.plan.contains("in the server: ") {
                    if found.plan.contains("groups") { tally.groups += 1 }
                    if found.plan.contains("values") { tally.values += 1 }
                }
                #expect(
                    isExpected(found.rows),
                    "\(terms) by \(sort) of \(entity.name) where \(condition): \(found) instead of \(expected), seed \(random.seed)"
                )
            }
            // For a context no limit is 0.
            guard random.oneIn(10), fetch.limit != 0 else { continue }
            let context = ManagedObjectContext(store: asked.store)
            let request = request(fetch, terms, entity)
            #expect(
                isExpected(try context.fetch(request).map(\.values)),
                "\(terms) by \(sort) of \(entity.name) by a context, seed \(random.seed)")
            #expect(try context.count(for: request) == expected.count)
        }
    }

    /// The same question to a context.
    private func request(_ fetch: StoreFetch, _ terms: TableTerms, _ entity: SchemaEntity)
        -> FetchRequest<DictionaryResult>
    {
        var request = FetchRequest<DictionaryResult>(entityName: entity.name)
        request.predicate = fetch.predicate
        request.includesSubentities = fetch.includesSubentities
        request.sortDescriptors = fetch.sort
        request.fetchLimit = fetch.limit ?? 0
        request.fetchOffset = fetch.offset
        request.propertiesToFetch = terms.columns.map {
            .expression(.init($0.name, expression: $0.expression))
        }
        request.propertiesToGroupBy = terms.groupBy.enumerated().map {
            .expression(.init("group \($0)", expression: $1))
        }
        request.havingPredicate = terms.having
        request.returnsDistinctResults = terms.isDistinct
        return request
    }

    @Test(
        "Random tables over random objects of random models are answered as in memory, with indexes and without, after reopening and compaction too"
    )
    func differential() throws {
        var tally = Tally()
        try StoredRounds.run("tables of a store", everyDay: 6, whole: 1000) {
            try ask($0, $1, &tally, &$2)
        }
        Campaign.report(
            "tables asked: \(tally.bound) bound, \(tally.rows) rows, \(tally.groups) grouped by a server, \(tally.values) of its values",
            tally.asked)
        #expect(tally.bound * 10 > tally.asked * 7, "\(tally)")
        // By chance no store may be at a server.
        if Campaign.isLong { #expect(tally.groups > 0 && tally.values > 0, "\(tally)") }
        #expect(tally.rows > tally.bound * (Campaign.isLong ? 3 : 1), "\(tally)")
    }
}
