// A store answers a predicate as the evaluator answers it for the same objects in memory.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Testing

@Suite("Predicates in a store")
struct StoredPredicateTests {
    /// How many predicates could be bound, and how many matched some but not all objects; and the ways to the answers.
    private struct Tally {
        var asked = 0
        var bound = 0
        var telling = 0
        var indexed = 0
        /// Scans of so many blocks that helpers are called.
        var crowded = 0
        /// Questions to a server, and those that it answered alone.
        var served = 0
        var whole = 0
    }

    private func ask(
        _ count: Int, _ asked: AskedStore, _ tally: inout Tally, _ random: inout RandomSource
    ) throws {
        let (graph, conditions) = (asked.graph, asked.conditions)
        let sorts = RandomSort(schema: graph.schema)
        for _ in 0..<count {
            let entity = RandomValue.pick(graph.schema.entities, &random)
            let node = conditions.predicate(
                entity, depth: Int.random(in: 0...3, using: &random), &random)
            tally.asked += 1
            guard let bound = try? node.bound(to: entity, in: graph.schema) else {
                try refuse(node, entity, asked, random.seed)
                continue
            }
            tally.bound += 1
            var fetch = StoreFetch(entity: entity.index, predicate: bound)
            fetch.includesSubentities = !random.oneIn(4)
            let matching = graph.matching(
                try PredicateEvaluator(bound), entity, subentities: fetch.includesSubentities)
            if !matching.isEmpty, matching.count < graph.objects.count { tally.telling += 1 }
            if random.oneIn(2) { fetch.sort = sorts.keys(entity, &random) }
            if random.oneIn(4) {
                fetch.limit = RandomValue.pick([0, 1, 2, 5, 20, .max], &random)
            }
            if random.oneIn(5) { fetch.offset = RandomValue.pick([1, 3, 20, .max], &random) }
            fetch.includesRows = random.oneIn(5)
            let expected = PlainAnswer.ids(matching, fetch)
            for snapshot in asked.snapshots {
                let found = try snapshot.fetch(fetch)
                let text: Comment =
                    "\(bound) of \(entity.name) by \(fetch.sort), \(fetch.offset) \(fetch.limit ?? -1), by \(found.plan), seed \(random.seed)"
                #expect(found.ids == expected, text)
                #expect(found.rows.map(\.id) == (fetch.includesRows ? expected : []), text)
                #expect(try snapshot.count(fetch) == expected.count, text)
                if found.plan.contains("the server") {
                    tally.served += 1
                    if !found.plan.hasSuffix("here") { tally.whole += 1 }
                }
                if ["index ", "covering index "].contains(where: found.plan.hasPrefix) {
                    tally.indexed += 1
                }
            }
            if random.oneIn(10) {
                let plan = try asked.snapshots[0].explain(fetch)
                #expect(plan.results == expected.count, "\(bound), seed \(random.seed)")
                if plan.access.hasPrefix("scan"), plan.blocksRead + plan.blocksSkipped >= 48 {
                    tally.crowded += 1
                }
                try ask(fetch, node, entity, expected, asked.store, random.seed)
            }
        }
    }

    /// What cannot be bound is refused by all stores in one way, or by none.
    private func refuse(
        _ node: PredicateNode, _ entity: SchemaEntity, _ asked: AskedStore, _ seed: UInt64
    ) throws {
        let fetch = StoreFetch(entity: entity.index, predicate: node)
        let codes = asked.snapshots.flatMap { snapshot in
            [
                storeError { _ = try snapshot.fetch(fetch) }?.code,
                storeError { _ = try snapshot.count(fetch) }?.code,
            ]
        }
        #expect(Set(codes).count == 1, "\(codes): \(node) of \(entity.name), seed \(seed)")
    }

    /// Asks a context for objects, for ids and for their number.
    private func ask(
        _ fetch: StoreFetch, _ node: PredicateNode, _ entity: SchemaEntity,
        _ expected: [ObjectID], _ store: LogStore, _ seed: UInt64
    ) throws {
        // For a context no limit is 0.
        guard fetch.limit != 0 else { return }
        let context = ManagedObjectContext(store: store)
        var request = FetchRequest(entityName: entity.name, predicate: node)
        request.includesSubentities = fetch.includesSubentities
        request.sortDescriptors = fetch.sort
        request.fetchLimit = fetch.limit ?? 0
        request.fetchOffset = fetch.offset
        let text: Comment = "\(node) by a context, seed \(seed)"
        #expect(try context.fetch(request).map(\.objectID) == expected, text)
        #expect(try context.fetchObjectIDs(request) == expected, text)
        #expect(try context.count(for: request) == expected.count, text)
    }

    @Test(
        "Random predicates over random objects of random models are answered as in memory, with indexes and without, after reopening and compaction too"
    )
    func differential() throws {
        var tally = Tally()
        try StoredRounds.run("predicates in a store", everyDay: 6, whole: 1000) {
            try ask($0, $1, &tally, &$2)
        }
        Campaign.report(
            "predicates asked: \(tally.bound) bound, \(tally.telling) neither empty nor all, \(tally.indexed) answers by an index, \(tally.crowded) scans of 48 blocks and more (of a tenth), \(tally.whole) of \(tally.served) by a server alone",
            tally.asked)
        #expect(tally.bound * 10 > tally.asked * 8, "\(tally)")
        #expect(tally.telling * (Campaign.isLong ? 4 : 8) > tally.bound, "\(tally)")
        #expect(tally.crowded > 0, "\(tally)")
        #expect(tally.whole * 4 > tally.served, "\(tally)")
        // A few models may have few indexes that fit.
        if tally.asked > 10_000 { #expect(tally.indexed * 50 > tally.bound, "\(tally)") }
    }
}
