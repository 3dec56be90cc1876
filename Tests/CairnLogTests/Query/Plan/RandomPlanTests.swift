// Random fetches of a store with many fetch indexes, and of the same files opened with a model that has none.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Fetches by any way")
struct RandomPlanTests {
    /// How many fetches there were, by the way that they went.
    private struct Tally {
        var scans = 0
        var searches = 0
        var ordered = 0
        var intersections = 0
        var found = 0
        /// Tables from the ends of indexes.
        var ends = 0
        /// Groups from indexes.
        var groups = 0
        var all: Int { scans + searches + ordered + intersections }

        mutating func note(_ plan: QueryPlan) {
            if plan.results > 0 { found += 1 }
            if !RandomPlanTests.isIndex(plan.access) {
                scans += 1
            } else if plan.access.hasSuffix(", in its order") {
                ordered += 1
            } else if plan.access.contains(" and index ") {
                intersections += 1
            } else {
                searches += 1
            }
        }
    }

    fileprivate static func isIndex(_ plan: String) -> Bool {
        plan.hasPrefix("index ") || plan.hasPrefix("covering index ")
    }

    @Test("Random fetches are answered by indexes as they are without them")
    func differential() throws {
        var tally = Tally()
        try Rounds.run("fetches by any way", everyDay: 2, whole: 2000) { random in
            let made = try IndexedItems(&random)
            let indexed = try made.open(hasIndexes: true)
            let plain = try made.open(hasIndexes: false)
            let (one, other) = (try indexed.snapshot(), try plain.snapshot())
            for _ in 0..<150 {
                let fetch = try made.fetch(&random)
                let text: Comment = "\(IndexedItems.words(fetch)), seed \(random.seed)"
                let expected: [ObjectID]
                do {
                    let found = try other.fetch(fetch)
                    expected = found.ids
                    #expect(!Self.isIndex(found.plan), text)
                } catch {
                    // What is refused is refused either way.
                    #expect(throws: StoreError.self, text) { _ = try one.fetch(fetch) }
                    continue
                }
                let found = try one.fetch(fetch)
                #expect(found.ids == expected, "\(text) by \(found.plan)")
                #expect(try one.count(fetch) == expected.count, "count of \(text)")
                let plan = try one.explain(fetch)
                // The outline that is kept is the one that would be made.
                let again = try one.explain(fetch)
                #expect(again.steps == plan.steps, text)
                indexed.engine.registry.read { state in
                    #expect(Self.isPlannedAnew(fetch, state, indexed.identity), text)
                }
                #expect(plan.access == found.plan, text)
                #expect(plan.results == expected.count, text)
                tally.note(plan)
                try askExtremes(fetch, one, other, text, &tally, &random)
                try askGroups(made.groups(fetch, &random), one, other, text, &tally)
            }
            try indexed.close()
            try plain.close()
        }
        Campaign.report(
            "fetches asked: \(tally.searches) by an index, \(tally.ordered) in its order, \(tally.intersections) by several, \(tally.found) with results",
            tally.all)
        // Two models say less about how many of all do.
        let share = Campaign.isLong ? 1 : 2
        #expect(tally.searches * 8 * share > tally.all, "\(tally)")
        #expect(tally.ordered * 12 * share > tally.all, "\(tally)")
        #expect(tally.found * 4 * share > tally.all, "\(tally)")
        #expect(tally.intersections > 0 || !Campaign.isLong, "\(tally)")
        #expect(tally.ends > 0 && tally.groups > 0, "\(tally)")
    }

    /// Groups of what a fetch finds.
    private func askGroups(
        _ request: StoreTableFetch, _ one: any StoreSnapshot, _ other: any StoreSnapshot,
        _ text: Comment, _ tally: inout Tally
    ) throws {
        let found = try one.table(request)
        let expected = try other.table(request)
        #expect(found.rows == expected.rows, "\(request.terms) of \(text) by \(found.plan)")
        if found.plan.hasPrefix("groups of covering index "),
            found.plan.hasSuffix(", in its order")
        {
            tally.groups += 1
        }
    }

    /// Whether a planner that has just made its outline chooses as one does that knew it.
    private static func isPlannedAnew(
        _ fetch: StoreFetch, _ state: EngineState, _ identity: StoreIdentity
    ) -> Bool {
        let known = QueryPlanner.planner(fetch, state, identity)
        let anew = QueryPlanner.anew(fetch, state, identity)
        return [true, false].allSatisfy { wantsOrder in
            "\(known.choice(wantsOrder: wantsOrder))" == "\(anew.choice(wantsOrder: wantsOrder))"
                && known.isAnswer(wantsOrder: wantsOrder) == anew.isAnswer(wantsOrder: wantsOrder)
        }
    }

    /// The least and the greatest of two columns, of what a fetch finds.
    private func askExtremes(
        _ fetch: StoreFetch, _ one: any StoreSnapshot, _ other: any StoreSnapshot, _ text: Comment,
        _ tally: inout Tally, _ random: inout RandomSource
    ) throws {
        var fetch = fetch
        (fetch.sort, fetch.limit, fetch.offset) = ([], nil, 0)
        let names = IndexedItems.types.filter { $0.type != .binary }.map(\.name)
        var columns: [TableTerms.Column] = []
        for function in [ExpressionNode.Function.minimum, .maximum] {
            let name = names.randomElement(using: &random) ?? ""
            columns.append(.init("\(columns.count)", .function(function, [.keyPath(name)])))
        }
        if random.oneIn(5) { columns.removeLast() }
        let request = StoreTableFetch(fetch, TableTerms(columns: columns))
        let found = try one.table(request)
        let expected = try other.table(request)
        #expect(found.rows.count == 1 && expected.rows.count == 1, text)
        for (value, known) in zip(found.rows[0], expected.rows[0]) {
            #expect(SortingOrder.compare(value, known) == 0, "\(columns) of \(text): \(found)")
        }
        if found.plan.hasSuffix(", in its order") { tally.ends += 1 }
    }
}
