// A store answers a predicate as the evaluator answers it for the same objects in memory.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

@Suite("Predicates in a store")
struct StoredPredicateTests {
    /// How many predicates could be bound, and how many matched some but not all objects.
    private struct Tally {
        var asked = 0
        var bound = 0
        var telling = 0
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
            let node = conditions.predicate(
                entity, depth: Int.random(in: 0...3, using: &random), &random)
            tally.asked += 1
            guard let bound = try? node.bound(to: entity, in: graph.schema) else { continue }
            tally.bound += 1
            let evaluator = try PredicateEvaluator(bound)
            var fetch = StoreFetch(entity: entity.index, predicate: bound)
            fetch.includesSubentities = !random.oneIn(4)
            let expected = graph.matches(
                evaluator, entity, subentities: fetch.includesSubentities)
            let found = try snapshot.fetch(fetch).ids
            if !found.isEmpty, found.count < graph.objects.count { tally.telling += 1 }
            #expect(
                found == expected, "\(bound) of \(entity.name), seed \(random.seed)")
            #expect(try snapshot.count(fetch) == expected.count, "\(bound), seed \(random.seed)")
            if random.oneIn(20) {
                let context = ManagedObjectContext(store: store)
                var request = FetchRequest(entityName: entity.name, predicate: node)
                request.includesSubentities = fetch.includesSubentities
                #expect(
                    try context.fetch(request).map(\.objectID) == expected,
                    "\(node) by a context, seed \(random.seed)")
            }
        }
    }

    @Test(
        "Random predicates over random objects of random models are answered as in memory, also after reopening and compaction"
    )
    func differential() throws {
        var tally = Tally()
        try Rounds.run("predicates in a store", everyDay: 6, whole: 1000) { random in
            var made = try RandomStore(&random)
            try made.fill(&random, commits: Int.random(in: 1...4, using: &random), objects: 25)
            var graph = try Graph(made.store)
            try ask(50, graph, made.store, &tally, &random)
            try made.reopen()
            try ask(20, graph, made.store, &tally, &random)
            try made.fill(&random, commits: 1, objects: 10)
            _ = try made.store.compact()
            graph = try Graph(made.store)
            try ask(30, graph, made.store, &tally, &random)
            try made.store.close()
        }
        Campaign.report(
            "predicates asked: \(tally.bound) bound, \(tally.telling) neither empty nor all",
            tally.asked)
        #expect(tally.bound * 10 > tally.asked * 8, "\(tally)")
        #expect(tally.telling * 4 > tally.bound, "\(tally)")
    }
}
