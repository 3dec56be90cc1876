import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Tables of the server", .enabled(if: PostgresServer.isInstalled))
struct ServerTableTests {
    private struct Tally {
        var asked = 0
        var refused = 0
        /// More than one row.
        var telling = 0
        var groups = 0
        var values = 0
    }

    private struct Both {
        let asked: any StoreSnapshot
        let known: any StoreSnapshot
        let stored: AskedContent.Stored
        let expected: AskedContent.Stored
    }

    private func ask(
        _ schema: Schema, _ both: Both, _ tally: inout Tally, _ random: inout RandomSource
    ) throws {
        let questions = RandomQuestion(schema: schema, ids: both.expected.ids)
        let entity =
            random.oneIn(2) ? schema.entities[0] : AskedValue.pick(schema.entities, &random)
        let table = RandomTable(questions, entity, &random)
        var fetch = StoreFetch(entity: entity.index)
        fetch.includesSubentities = !random.oneIn(5)
        if random.oneIn(4) { fetch.nullSemantics = .sql }
        var parts = table.bounds
        if random.oneIn(2) { parts.append(questions.condition(entity, depth: 1, &random)) }
        if !parts.isEmpty { fetch.predicate = .and(parts) }
        fetch.sort = table.sort
        if random.oneIn(4) { fetch.limit = AskedValue.pick([0, 1, 3, .max], &random) }
        if random.oneIn(6) { fetch.offset = AskedValue.pick([1, 2], &random) }
        let request = StoreTableFetch(fetch, table.terms)
        let text: Comment =
            "\(table.terms) of \(fetch.predicate?.description ?? "all") by \(fetch.sort.map(\.outline)), \(fetch.offset) \(fetch.limit ?? -1) \(fetch.nullSemantics), seed \(random.seed)"
        tally.asked += 1
        let known: StoreTable
        do throws(StoreError) {
            known = try both.known.table(bound(request, schema))
        } catch {
            tally.refused += 1
            let code = error.code
            #expect(throws: StoreError.self, text) {
                do {
                    _ = try both.asked.table(translated(request, both))
                } catch let failure as StoreError where failure.code == code {
                    throw failure
                }
            }
            return
        }
        let found: StoreTable
        do throws(StoreError) {
            found = try both.asked.table(translated(request, both))
        } catch {
            Issue.record("\(error) \(text)")
            return
        }
        #expect(found.rows.count == known.rows.count, "\(text) \(found.plan)")
        for (row, expected) in zip(found.rows, known.rows) {
            for (column, (value, other)) in zip(row, expected).enumerated() {
                let isSame =
                    table.roundedColumns.contains(column)
                    ? Self.areNear(value, other)
                    : Self.plain(value, both.stored) == Self.plain(other, both.expected)
                #expect(isSame, "\(column): \(row) \(expected) \(text) \(found.plan)")
            }
        }
        if known.rows.count > 1 { tally.telling += 1 }
        if found.plan.contains("groups") { tally.groups += 1 }
        if found.plan.contains("values") { tally.values += 1 }
    }

    private func translated(_ request: StoreTableFetch, _ both: Both) -> StoreTableFetch {
        func id(_ id: ObjectID) -> ObjectID? {
            both.expected.places[id].map { both.stored.ids[$0] }
        }
        var request = request
        request.fetch.predicate = request.fetch.predicate?.replacingObjectIDs(id)
        request.terms.columns = request.terms.columns.map {
            .init($0.name, $0.expression.replacingObjectIDs(id))
        }
        request.terms.groupBy = request.terms.groupBy.map { $0.replacingObjectIDs(id) }
        request.terms.having = request.terms.having?.replacingObjectIDs(id)
        return request
    }

    /// See the same of `ServerAnswerTests`.
    private func bound(_ request: StoreTableFetch, _ schema: Schema) -> StoreTableFetch {
        var request = request
        // What was bound with the nil of SQL must not be bound with it again, and the terms have to be.
        if request.fetch.nullSemantics == .twoValued,
            let bound = try? request.fetch.predicate?.boundForStore(
                to: schema.entities[request.fetch.entity], in: schema)
        {
            request.fetch.predicate = bound
        }
        return request
    }

    private enum Plain: Hashable {
        case value(Value)
        case object(Int?)
    }

    private static func plain(_ value: Value, _ stored: AskedContent.Stored) -> Plain {
        if case .objectID(let id) = value { return .object(stored.places[id]) }
        // Of both zeros either is the least.
        return .value(value.asGroupKey)
    }

    private static func areNear(_ left: Value, _ right: Value) -> Bool {
        guard let left = double(left), let right = double(right) else { return left == right }
        return abs(left - right) <= 1e-9 * max(1, abs(left))
    }

    private static func double(_ value: Value) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double("\(number)")
        default: nil
        }
    }

    @Test("Random tables of random objects are as those of a store in memory")
    func differential() throws {
        let server = try PostgresServer.shared()
        var tally = Tally()
        try Rounds.run("tables of the server", everyDay: 6, whole: 100) { random in
            let schema = try AskedModel.schema()
            let content = AskedContent(schema, &random)
            let memory = try LogStore.inMemory(schema: schema)
            let name = server.newName("tables")
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
            "tables: \(tally.refused) refused, \(tally.telling) with several rows, \(tally.groups) grouped by the server, \(tally.values) of its values",
            tally.asked)
        #expect(tally.refused * 4 < tally.asked, "\(tally)")
        #expect(tally.telling * 4 > tally.asked, "\(tally)")
        #expect(tally.groups * 10 > tally.asked, "\(tally)")
        #expect(tally.values * 10 > tally.asked, "\(tally)")
    }
}
