import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Answers of the server", .enabled(if: PostgresServer.isInstalled))
struct ServerAnswerTests {
    /// How many questions there were, and who has answered them.
    private struct Tally {
        var asked = 0
        var refused = 0
        /// Neither nobody nor everybody.
        var telling = 0
        /// By the server alone.
        var whole = 0
        /// Found by the server, sorted here.
        var filtered = 0
        /// A superset that leaves something out.
        var narrowed = 0
    }

    private struct Both {
        let asked: any StoreSnapshot
        let known: any StoreSnapshot
        let stored: AskedContent.Stored
        let expected: AskedContent.Stored
    }

    /// The same condition with the ids of another store.
    private func translated(_ node: PredicateNode, _ both: Both) -> PredicateNode {
        node.replacingObjectIDs { id in both.expected.places[id].map { both.stored.ids[$0] } }
    }

    private func question(_ schema: Schema, _ both: Both, _ random: inout RandomSource)
        -> StoreFetch
    {
        let questions = RandomQuestion(schema: schema, ids: both.expected.ids)
        // Half of the questions are about the root of the hierarchy, which has the most objects.
        let entity =
            random.oneIn(2) ? schema.entities[0] : AskedValue.pick(schema.entities, &random)
        var fetch = StoreFetch(entity: entity.index)
        if !random.oneIn(12) {
            fetch.predicate = questions.condition(
                entity, depth: Int.random(in: 0...3, using: &random), &random)
        }
        fetch.includesSubentities = !random.oneIn(4)
        if random.oneIn(4) { fetch.nullSemantics = .sql }
        if random.oneIn(2) { fetch.sort = questions.sort(entity, &random) }
        if random.oneIn(5) { fetch.limit = AskedValue.pick([0, 1, 2, 5, .max], &random) }
        if random.oneIn(7) { fetch.offset = AskedValue.pick([1, 3, .max], &random) }
        fetch.includesRows = random.oneIn(3)
        return fetch
    }

    private func ask(
        _ schema: Schema, _ both: Both, _ tally: inout Tally, _ random: inout RandomSource
    )
        throws
    {
        let fetch = question(schema, both, &random)
        var same = fetch
        same.predicate = fetch.predicate.map { translated($0, both) }
        let text: Comment =
            "\(fetch.predicate?.description ?? "all") of \(schema.entities[fetch.entity].name) by \(fetch.sort.map(\.outline)), \(fetch.offset) \(fetch.limit ?? -1) \(fetch.nullSemantics), seed \(random.seed)"
        tally.asked += 1
        let known: StoreFetchResult
        do throws(StoreError) {
            known = try both.known.fetch(bound(fetch, schema))
        } catch {
            tally.refused += 1
            let refused = error.code
            let refusals = [
                refusal { () throws(StoreError) in _ = try both.asked.fetch(same) },
                refusal { () throws(StoreError) in _ = try both.asked.count(same) },
            ]
            #expect(refusals == [refused, refused], text)
            return
        }
        let found: StoreFetchResult
        do throws(StoreError) {
            found = try both.asked.fetch(same)
        } catch {
            Issue.record("\(error) \(text)")
            return
        }
        let expected = known.ids.map { both.expected.places[$0] }
        #expect(
            found.ids.map { both.stored.places[$0] } == expected, "\(text) \(found.plan)")
        #expect(found.rows.map(\.id) == (fetch.includesRows ? found.ids : []), text)
        #expect(try both.asked.count(same) == expected.count, "\(text) \(found.plan)")
        var all = same
        all.predicate = nil
        if !expected.isEmpty, expected.count < (try both.asked.count(all)) { tally.telling += 1 }
        if found.plan.hasPrefix("in the server: a part") {
            tally.narrowed += 1
        } else if !found.plan.hasSuffix("here") {
            tally.whole += 1
        } else if found.plan.hasSuffix("sorted here") {
            tally.filtered += 1
        }
    }

    /// The same with a condition that is bound. In memory a list that is not is compared without making its numbers ones of the
    /// attribute's type first: 1e-100 is no float then, but 0 once it is bound.
    private func bound(_ fetch: StoreFetch, _ schema: Schema) -> StoreFetch {
        guard
            let bound = try? fetch.predicate?.boundForStore(
                to: schema.entities[fetch.entity], in: schema, nullSemantics: fetch.nullSemantics)
        else { return fetch }
        var fetch = fetch
        fetch.predicate = bound
        fetch.nullSemantics = .twoValued
        return fetch
    }

    private func refusal(_ body: () throws(StoreError) -> Void) -> StoreError.Code? {
        do throws(StoreError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test("Random conditions and orders over random objects are answered as by a store in memory")
    func differential() throws {
        let server = try PostgresServer.shared()
        var tally = Tally()
        try Rounds.run("answers of the server", everyDay: 6, whole: 100) { random in
            let schema = try AskedModel.schema()
            let content = AskedContent(schema, &random)
            let memory = try LogStore.inMemory(schema: schema)
            let name = server.newName("asked")
            let store = try PostgresStore.open(
                server.url(["cairn_schema": name]), schema: schema)
            defer { _ = try? server.run("DROP SCHEMA \(name) CASCADE") }
            let stored = try content.fill(store)
            let expected = try content.fill(memory)
            let both = Both(
                asked: try store.snapshot(), known: try memory.snapshot(), stored: stored,
                expected: expected)
            for _ in 0..<50 { try ask(schema, both, &tally, &random) }
            try store.close()
            try memory.close()
        }
        Campaign.report(
            "questions: \(tally.refused) refused, \(tally.telling) found some and not all, \(tally.whole) by the server alone, \(tally.filtered) sorted here, \(tally.narrowed) narrowed by the server",
            tally.asked)
        #expect(tally.refused * 4 < tally.asked, "\(tally)")
        #expect(tally.telling * 10 > tally.asked, "\(tally)")
        #expect(tally.whole * 3 > tally.asked, "\(tally)")
    }
}
