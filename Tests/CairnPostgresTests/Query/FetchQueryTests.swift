import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

@testable import CairnPostgres

@Suite("Fetches as SQL")
struct FetchQueryTests {
    private func query(_ format: String?, _ change: (inout StoreFetch) -> Void = { _ in }) throws
        -> FetchQuery
    {
        let schema = try AskedModel.schema()
        let entity = try #require(schema.entity(named: "Tag"))
        var fetch = StoreFetch(
            entity: entity.index, predicate: try format.map { try PredicateNode(format: $0) })
        change(&fetch)
        return FetchQuery(
            try FetchEvaluation(fetch, in: schema), fetch, TableLayout(schema, in: "s"),
            StoreIdentity(identifier: UUID(), hierarchies: schema.entities.map { UInt32($0.root) }))
    }

    @Test("What the server can do alone it does: condition, order, limit and offset")
    func whole() throws {
        let query = try query("rank > 3") {
            $0.sort = [SortKey("rank", ascending: false), SortKey("name", nulls: .last)]
            $0.limit = 5
            $0.offset = 2
        }
        #expect(query.isWhole)
        #expect(
            query.rows("*").sql
                == #"SELECT * FROM "s"."Tag" AS r WHERE r."rank" > $1::bigint "#
                + #"ORDER BY r."rank" DESC NULLS LAST, r."name" ASC NULLS LAST, r."_id" "#
                + "LIMIT $2::bigint OFFSET $3::bigint")
        #expect(
            query.count.sql
                == #"SELECT count(*) FROM (SELECT 1 FROM "s"."Tag" AS r WHERE r."rank" > $1::bigint"#
                + " LIMIT $2::bigint OFFSET $3::bigint) AS f")
        #expect(query.plan == "in the server: condition, order, limit")
    }

    @Test("An order that no server has is made here, and the limit with it")
    func sortedHere() throws {
        let query = try query("rank > 3") {
            $0.sort = [SortKey("name", comparison: .localized)]
            $0.limit = 5
        }
        #expect(query.isFiltered)
        #expect(!query.isWhole)
        #expect(
            query.rows("*").sql
                == #"SELECT * FROM "s"."Tag" AS r WHERE r."rank" > $1::bigint ORDER BY r."_id""#)
        #expect(query.plan == "in the server: condition; sorted here")
    }

    @Test("A condition that is known in part leaves out what cannot match")
    func superset() throws {
        let query = try query("rank > 3 AND name <[c] 'a'") {
            $0.sort = [SortKey("rank")]
            $0.limit = 5
        }
        #expect(!query.isFiltered)
        #expect(
            query.rows("*").sql
                == #"SELECT * FROM "s"."Tag" AS r WHERE r."rank" > $1::bigint ORDER BY r."_id""#)
        #expect(query.plan == "in the server: part of the condition; filtered here")
    }

    @Test("How many are left out first is subtracted where nothing else is cut")
    func offset() throws {
        let query = try query(nil) { $0.offset = 7 }
        #expect(query.count.sql == #"SELECT count(*) FROM "s"."Tag" AS r"#)
        #expect(query.rest(of: 10) == 3)
        #expect(query.rest(of: 5) == 0)
    }

    @Test("Sorted by what a to-one relationship leads to, and then by number")
    func paths() throws {
        let schema = try AskedModel.schema()
        let entity = try #require(schema.entity(named: "Middle"))
        var fetch = StoreFetch(entity: entity.index)
        fetch.sort = [SortKey("maker.boss.name", ascending: false, nulls: .first)]
        let query = FetchQuery(
            try FetchEvaluation(fetch, in: schema), fetch, TableLayout(schema, in: "s"),
            StoreIdentity(identifier: UUID(), hierarchies: schema.entities.map { UInt32($0.root) }))
        #expect(
            query.rows("*").sql
                == #"SELECT * FROM "s"."Thing" AS r LEFT JOIN "s"."Owner" AS t1 ON t1."_id" = r."maker" "#
                + #"LEFT JOIN "s"."Owner" AS t2 ON t2."_id" = t1."boss" "#
                + #"WHERE r."_entity" = ANY($1::smallint[]) ORDER BY t2."name" DESC NULLS FIRST, r."_id""#
        )
    }
}
