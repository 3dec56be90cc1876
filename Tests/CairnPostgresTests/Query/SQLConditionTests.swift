import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

@testable import CairnPostgres

@Suite("Conditions as SQL")
struct SQLConditionTests {
    /// A condition, and what the server is asked: "≈" before a superset, "?" for nothing.
    private static let texts: [(format: String, sql: String)] = [
        ("big == 5", #"FROM THING WHERE r."big" = $1::bigint"#),
        ("big != 5", #"FROM THING WHERE r."big" IS DISTINCT FROM $1::bigint"#),
        ("NOT big > 5", #"FROM THING WHERE (r."big" > $1::bigint) IS NOT TRUE"#),
        ("big == NULL", #"FROM THING WHERE r."big" IS NULL"#),
        ("small == 2.5", "FROM THING WHERE FALSE"),
        ("small < 2.5", #"FROM THING WHERE r."small" <= $1::bigint"#),
        ("small > 70000.5", #"FROM THING WHERE r."small" > $1::bigint"#),
        ("big IN {1, 2, NULL}", #"FROM THING WHERE r."big" = ANY($1::bigint[])"#),
        (
            "size > 1",
            #"FROM THING WHERE (r."size" > $1::double precision AND r."size" <> 'NaN'::double precision)"#
        ),
        ("name BEGINSWITH 'a'", #"FROM THING WHERE r."name" LIKE $1::text"#),
        ("name LIKE 'a'", #"FROM THING WHERE r."name" = $1::text"#),
        ("name LIKE 'a*'", #"≈FROM THING WHERE r."name" LIKE $1::text"#),
        (
            "name ==[c] 'A'",
            #"≈FROM THING WHERE (lower(r."name") = $1::text OR octet_length(r."name") <> length(r."name"))"#
        ),
        (
            "name ==[d] 'é'",
            #"≈FROM THING WHERE (r."name" = $1::text OR octet_length(r."name") <> length(r."name"))"#
        ),
        ("name CONTAINS[c] '日'", #"≈FROM THING WHERE octet_length(r."name") <> length(r."name")"#),
        ("name <[c] 'a'", "?"),
        ("NOT name LIKE 'a*'", "?"),
        ("big == 1 AND name <[c] 'a'", #"≈FROM THING WHERE r."big" = $1::bigint"#),
        ("big == 1 OR name <[c] 'a'", "?"),
        (
            "NOT (big == 1 OR name <[c] 'a')",
            #"≈FROM THING WHERE (r."big" = $1::bigint) IS NOT TRUE"#
        ),
        ("place.city == name", #"FROM THING WHERE r."place.city" IS NOT DISTINCT FROM r."name""#),
        ("owner == NULL", #"FROM THING WHERE r."owner" IS NULL"#),
        (
            "owner.boss.name == 'a' OR owner.boss.age == 3",
            #"FROM THING LEFT JOIN "s"."Owner" AS t1 ON t1."_id" = r."owner" LEFT JOIN "s"."Owner" AS t2 ON t2."_id" = t1."boss" WHERE (t2."name" = $1::text OR t2."age" = $2::bigint)"#
        ),
        (
            "ANY tags.rank > 1",
            #"FROM THING WHERE EXISTS (SELECT 1 FROM "s"."Thing.tags" AS m1 LEFT JOIN "s"."Tag" AS t2 ON t2."_id" = m1."destination" WHERE m1."source" = r."_id" AND t2."rank" > $1::bigint)"#
        ),
        (
            "ALL likes.flag == YES",
            #"FROM THING WHERE NOT EXISTS (SELECT 1 FROM "s"."Thing.likes" AS m1 LEFT JOIN "s"."Thing" AS t2 ON t2."_id" = m1."destination" WHERE m1."source" = r."_id" AND (t2."flag" = $1::boolean) IS NOT TRUE)"#
        ),
        (
            "owner.middles.@count > 2",
            #"FROM THING WHERE CASE WHEN r."owner" IS NOT NULL THEN (SELECT count(*) FROM THINGS AS m1 WHERE m1."maker" = r."owner" AND m1."_entity" = ANY($1::smallint[])) END > $2::bigint"#
        ),
        (
            "SUBQUERY(tags, $t, $t.rank == big).@count == 0",
            #"FROM THING WHERE (SELECT count(*) FROM "s"."Thing.tags" AS m1 LEFT JOIN "s"."Tag" AS t2 ON t2."_id" = m1."destination" WHERE m1."source" = r."_id" AND t2."rank" IS NOT DISTINCT FROM r."big") = $1::bigint"#
        ),
        ("SUBQUERY(tags, $t, $t.name <[c] 'a').@count == 0", "?"),
        ("name MATCHES 'a.*'", "?"),
        // Who has no owner is a member without an age.
        ("ANY likes.owner.staff.age == NULL", "?"),
    ]

    private static func translated(_ format: String, _ arguments: [Value] = []) throws -> (
        sql: String, parameters: Int
    ) {
        let schema = try AskedModel.schema()
        let entity = try #require(schema.entity(named: "Thing"))
        let layout = TableLayout(schema, in: "s")
        let hierarchies = schema.entities.map { UInt32($0.root) }
        let translator = ConditionTranslator(
            entity, layout, StoreIdentity(identifier: UUID(), hierarchies: hierarchies))
        let condition = translator.condition(
            try PredicateNode(format: format, arguments).boundForStore(to: entity, in: schema))
        guard let text = condition.text else { return ("?", 0) }
        let (sql, parameters) = translator.root.scope.sql(text).numbered
        let short = sql.replacing(#""s"."Thing" AS r"#, with: "THING")
            .replacing(#""s"."Thing" AS m1"#, with: "THINGS AS m1")
        return ((condition.isExact ? "" : "≈") + short, parameters.count)
    }

    @Test("Each form has its SQL, or is looked at here", arguments: texts)
    func text(_ format: String, _ sql: String) throws {
        #expect(try Self.translated(format).sql == sql)
    }

    @Test("Values are parameters: other values make no other statement")
    func values() throws {
        let one = try Self.translated("name IN {'a', 'b'} AND big > 3 AND note CONTAINS 'x'")
        let other = try Self.translated(#"name IN {"';"} AND big > 4 AND note CONTAINS '%'"#)
        #expect(one == other)
        #expect(one.parameters == 3)
        #expect(!one.sql.contains("'"))
    }

    @Test(
        "Signs of the server's patterns stand for themselves",
        arguments: [("a%_\\", #"a\%\_\\"#), ("", ""), ("日*", "日*")])
    func escaping(_ text: String, _ escaped: String) {
        #expect(SQLPattern.escaped(text) == escaped)
    }

    @Test(
        "Our signs become the server's",
        arguments: [
            ("a*", "a%", false), ("?b", "_%b", false), (#"\*"#, "*", false), ("ab", "ab", true),
            (#"a\"#, #"a\\"#, false), ("50%", #"50\%"#, true),
        ])
    func pattern(_ pattern: String, _ sql: String, _ isText: Bool) {
        #expect(SQLPattern(pattern).sql == sql)
        #expect(SQLPattern(pattern).isText == isText)
    }

    @Test("A very large condition is not translated whole")
    func large() throws {
        let format = (0..<600).map { "big == \($0)" }.joined(separator: " OR ")
        #expect(try Self.translated(format).sql == "?")
        let joins = (1...30).map {
            "\(Array(repeating: "next", count: $0).joined(separator: ".")).big == 1"
        }
        let all = try Self.translated(joins.joined(separator: " AND "))
        #expect(all.sql.hasPrefix("≈"))
        #expect(all.sql.components(separatedBy: "LEFT JOIN").count == 25)
    }
}
