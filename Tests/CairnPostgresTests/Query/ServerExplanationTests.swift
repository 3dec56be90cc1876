import CairnModel
import CairnStore
import CairnTestSupport
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Plans of the server", .enabled(if: PostgresServer.isInstalled))
struct ServerExplanationTests {
    private func withSnapshot(_ body: (Schema, any StoreSnapshot) throws -> Void) throws {
        let schema = try AskedModel.schema()
        let server = try PostgresServer.shared()
        let name = server.newName("plans")
        let store = try PostgresStore.open(server.url(["cairn_schema": name]), schema: schema)
        defer { _ = try? server.run("DROP SCHEMA \(name) CASCADE") }
        let tag = try #require(schema.entity(named: "Tag"))
        let ids = try store.obtainPermanentIDs(
            forEntities: Array(repeating: tag.index, count: 6))
        var request = SaveRequest()
        for (index, id) in ids.enumerated() {
            request.inserted.append(
                .init(
                    id: id, entity: tag.index,
                    values: [.string("secret"), .integer(Int64(index))], assigned: [0, 1]))
        }
        _ = try store.save(request)
        try body(schema, try store.snapshot())
        try store.close()
    }

    @Test("A fetch shows its statement without its values, and the server's plan")
    func fetches() throws {
        try withSnapshot { schema, snapshot in
            let tag = try #require(schema.entity(named: "Tag"))
            var fetch = StoreFetch(
                entity: tag.index,
                predicate: try PredicateNode(format: "name == 'secret' AND rank > 2"))
            fetch.sort = [SortKey("rank")]
            let plan = try snapshot.explain(fetch)
            #expect(plan.access == "in the server: condition, order")
            #expect(plan.condition == nil)
            #expect(plan.sort == nil)
            #expect(plan.results == 3)
            #expect(plan.allRows == 6)
            let statement = try #require(plan.statement)
            #expect(statement.contains(#"r."name" = $1::text AND r."rank" > $2::bigint"#))
            #expect(!statement.contains("secret"))
            let lines = try #require(plan.serverPlan)
            #expect(lines.contains("Scan"))
            #expect(plan.description.contains("estimated"))
            #expect(try snapshot.explainCount(fetch).statement?.contains("count(*)") == true)
        }
    }

    @Test("What is decided here is said")
    func decidedHere() throws {
        try withSnapshot { schema, snapshot in
            let tag = try #require(schema.entity(named: "Tag"))
            var fetch = StoreFetch(
                entity: tag.index,
                predicate: try PredicateNode(format: "name ==[c] 'SECRET' AND name MATCHES 's.*'"))
            fetch.sort = [SortKey("name", comparison: .localized)]
            let plan = try snapshot.explain(fetch)
            #expect(plan.access == "in the server: part of the condition; filtered here")
            #expect(plan.condition != nil)
            #expect(plan.sort == "name localized" || plan.sort?.contains("name") == true)
            #expect(plan.results == 6)
        }
    }

    @Test("A table shows who makes the groups")
    func tables() throws {
        try withSnapshot { schema, snapshot in
            let tag = try #require(schema.entity(named: "Tag"))
            var terms = TableTerms(columns: [
                .init("name"), .init("count", try ExpressionNode(format: "count:(SELF)")),
            ])
            terms.groupBy = [.keyPath("name")]
            terms.having = try PredicateNode(format: "count > 1")
            let plan = try snapshot.explain(StoreTableFetch(StoreFetch(entity: tag.index), terms))
            #expect(plan.access == "in the server: groups, condition on groups")
            #expect(plan.groups == "by name, with count = count:(SELF)")
            #expect(plan.having != nil)
            #expect(plan.results == 1)
            #expect(plan.statement?.contains("GROUP BY 1) AS g WHERE") == true)
            // The order of adding numbers with fractions is ours.
            let owner = try #require(schema.entity(named: "Owner"))
            let sum = TableTerms(columns: [
                .init("sum", try ExpressionNode(format: "sum:(score)"))
            ])
            let other = try snapshot.explain(
                StoreTableFetch(StoreFetch(entity: owner.index), sum))
            #expect(other.access == "in the server: values; grouped here")
            let folded = TableTerms(columns: [
                .init("upper", try ExpressionNode(format: "uppercase:(name)"))
            ])
            let third = try snapshot.explain(
                StoreTableFetch(StoreFetch(entity: tag.index), folded))
            #expect(third.access == "in the server: values; calculated here")
        }
    }
}
