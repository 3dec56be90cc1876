// A context answers with its unsaved changes on top of what is stored.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Testing

@Suite("Fetches over unsaved changes")
struct StoredOverlayTests {
    private struct Tally {
        var asked = 0
        /// Answers that changed objects are in.
        var changed = 0
        /// Answers that the changes make others of.
        var telling = 0
    }

    /// Asks one context whose changes nobody saves.
    private func ask(
        _ count: Int, _ asked: inout AskedStore, _ tally: inout Tally,
        _ random: inout RandomSource
    ) throws {
        let graph = asked.graph
        let context = ManagedObjectContext(store: asked.store)
        try asked.made.disturb(context, &random)
        context.processPendingChanges()
        let pending = context.insertedObjects + context.updatedObjects
        let changed = Set((pending + context.deletedObjects).map(\.objectID))
        let conditions = RandomCondition(
            schema: graph.schema,
            ids: graph.objects.map(\.evaluatedID) + pending.map(\.objectID))
        let sorts = RandomSort(schema: graph.schema)
        for _ in 0..<count {
            let entity = RandomValue.pick(graph.schema.entities, &random)
            let node = conditions.predicate(
                entity, depth: Int.random(in: 0...2, using: &random), &random)
            guard let bound = try? node.bound(to: entity, in: graph.schema) else { continue }
            tally.asked += 1
            let evaluator = try PredicateEvaluator(bound)
            var request = FetchRequest(entityName: entity.name, predicate: node)
            request.includesSubentities = !random.oneIn(4)
            request.sortDescriptors = sorts.keys(entity, &random)
            if random.oneIn(4) { request.fetchLimit = RandomValue.pick([1, 3, 20, .max], &random) }
            if random.oneIn(4) { request.fetchOffset = RandomValue.pick([1, 3, .max], &random) }
            if random.oneIn(5) { request.includesPropertyValues = false }
            var fetch = StoreFetch(entity: entity.index)
            fetch.sort = request.sortDescriptors
            fetch.limit = request.fetchLimit == 0 ? nil : request.fetchLimit
            fetch.offset = request.fetchOffset

            let stored = graph.matching(
                evaluator, entity, subentities: request.includesSubentities)
            let own = pending.filter {
                (request.includesSubentities
                    ? $0.entity.isKind(of: entity) : $0.entity === entity) && evaluator.matches($0)
            }
            let expected = PlainAnswer.ids(
                stored.filter { !changed.contains($0.evaluatedID) } + own, fetch)
            let text: Comment =
                "\(node) of \(entity.name) by \(fetch.sort), \(fetch.offset) \(fetch.limit ?? -1), seed \(random.seed)"
            #expect(try context.fetch(request).map(\.objectID) == expected, text)
            #expect(try context.fetchObjectIDs(request) == expected, text)
            #expect(try context.count(for: request) == expected.count, text)
            if expected.contains(where: changed.contains) { tally.changed += 1 }

            let before = PlainAnswer.ids(stored, fetch)
            if before != expected { tally.telling += 1 }
            request.includesPendingChanges = false
            #expect(try context.fetch(request).map(\.objectID) == before, text)
            #expect(try context.fetchObjectIDs(request) == before, text)
            #expect(try context.count(for: request) == before.count, text)
        }
    }

    @Test(
        "Random requests over random unsaved changes are answered by what is stored and the changed objects as they are, sorted and cut"
    )
    func differential() throws {
        var tally = Tally()
        try StoredRounds.run("fetches over unsaved changes", everyDay: 4, whole: 200) {
            try ask($0, &$1, &tally, &$2)
        }
        Campaign.report(
            "requests over unsaved changes: \(tally.changed) with changed objects, \(tally.telling) other than stored",
            tally.asked)
        // A few models say little about how many of all do.
        let share = Campaign.isLong ? 5 : 10
        #expect(
            tally.changed * share > tally.asked && tally.telling * share > tally.asked, "\(tally)")
    }
}
