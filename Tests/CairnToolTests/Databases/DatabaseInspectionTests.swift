// cairn info and cairn check of stores in PostgreSQL.

import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgresMain
@testable import CairnTool

@Suite("Looking at a store in PostgreSQL", .enabled(if: PostgresServer.isInstalled))
struct DatabaseInspectionTests {
    private static let model = """
        {"entities": [
          {"name": "Club", "uniquenessConstraints": [["name"]],
           "attributes": [{"name": "name", "type": "string"}],
           "relationships": [
             {"name": "head", "destinationEntityName": "Member", "isToMany": false, "inverseName": "heads"},
             {"name": "members", "destinationEntityName": "Member", "isToMany": true, "inverseName": "clubs"}]},
          {"name": "Member", "uniquenessConstraints": [["joined"]],
           "attributes": [{"name": "joined", "type": "date"}, {"name": "name", "type": "string"}],
           "relationships": [
             {"name": "heads", "destinationEntityName": "Club", "isToMany": false, "inverseName": "head"},
             {"name": "clubs", "destinationEntityName": "Club", "isToMany": true, "inverseName": "members"}]}
        ]}
        """

    private func fill(_ both: borrowing BothPlaces) throws {
        let model = try both.work.list("model.json", Self.model)
        try both.importing(
            "m.csv", "joined,name\n2020-01-01,Ann\n2021-01-01,Bob\n2022-01-01,Ann\n", "--entity",
            "Member", "--model", model)
        try both.importing(
            "c.csv", "name,head,members\nchess,2020-01-01,2020-01-01;2021-01-01\ngo,2021-01-01,\n",
            "--entity", "Club")
    }

    @Test("info says where it is, what it has, and how large its tables are")
    func information() throws {
        try withBothPlaces { both in
            let nothing = cairn("info", both.url)
            #expect(nothing.code == 1 && nothing.output.contains(": no store in PostgreSQL "))
            #expect(nothing.errors.contains("there is no store here"))
            try fill(both)
            #expect(cairn("history", both.url, "--keep").code == 0)
            #expect(
                cairn(
                    "duplicates", both.url, "Member", "--by", "name", "--keep", "first", "--delete"
                )
                .code == 0)
            let text = cairn("info", both.url)
            #expect(text.code == 0, "\(text.errors)")
            #expect(text.lines.first?.contains(": a store in PostgreSQL ") == true)
            for part in [
                "  last commit  4 at ", " by cairn duplicates",
                "the schema \(both.space) of the database",
                "  history      1 transaction, after commit 3",
                "  redirects    1 object was merged",
                "Club.members (pairs)", "cairn_transactions",
            ] {
                #expect(text.output.contains(part), "\(part) is not in: \(text.output)")
            }
            let json = try #require(try cairn("info", both.url, "--json").json.first)
            let log = try #require(try cairn("info", both.work.store, "--json").json.first)
            #expect(json["schema"] as? String == both.space)
            #expect(Int(json, "commit") == 4 && Int(json, "redirects") == 1)
            func objects(_ json: [String: Any]) throws -> [String: Int] {
                let entities = try #require(json["entities"] as? [[String: Any]])
                return Dictionary(
                    uniqueKeysWithValues: entities.compactMap { entity in
                        guard let name = entity["name"] as? String else { return nil }
                        return (name, Int(entity, "objects") ?? -1)
                    })
            }
            #expect(try objects(json) == ["Club": 2, "Member": 2, "Club.members": 2])
            #expect(try objects(log).keys.sorted() == objects(json).keys.sorted())
            let quick = try #require(try cairn("info", both.url, "--quick", "--json").json.first)
            #expect(quick["entities"] == nil && Int(quick, "commit") == 4)
        }
    }

    @Test("check finds nothing wrong in a store that is sound")
    func sound() throws {
        try withBothPlaces { both in
            try fill(both)
            #expect(cairn("history", both.url, "--keep").code == 0)
            #expect(
                cairn(
                    "duplicates", both.url, "Member", "--by", "name", "--keep", "first", "--delete"
                )
                .code == 0)
            let text = cairn("check", both.url)
            #expect(text.code == 0, "\(text.errors)")
            #expect(
                text.output.hasSuffix(
                    ": sound after commit 4. 4 rows in 2 tables, 2 pairs, 2 constraints, 4 references, 1 redirect, 1 transaction\n"
                ), "\(text.output)")
            let json = try #require(try cairn("check", both.url, "--json").json.first)
            #expect(json["sound"] as? Bool == true && Int(json, "pairs") == 2)
            let depth = cairn("check", both.url, "--depth", "frames")
            #expect(depth.code == 2 && depth.errors.contains("omit it"))
        }
    }

    /// What somebody does to tables by hand, and what a check says of it.
    private static let damage: [(sql: String, words: [String])] = [
        (
            #"ALTER TABLE "Member" DROP COLUMN "name" CASCADE"#,
            ["the table Member lacks the column name"]
        ),
        (#"DROP TABLE "cairn_consumers""#, ["the table cairn_consumers is missing"]),
        (
            #"DROP INDEX "unique Club.name"; INSERT INTO "Club" SELECT 77, _entity, 1 FROM "Club" LIMIT 1; UPDATE "Club" SET "name" = 'chess'"#,
            ["the unique index unique Club.name", "Club.name: 3 objects have one key, p"]
        ),
        (
            #"UPDATE "Member" SET "joined" = "joined" + 1 WHERE _id = 1"#,
            ["Member.joined: the key of p1 in the column _key.Member.joined"]
        ),
        (
            #"ALTER TABLE "Club" DROP CONSTRAINT "Club_head_fkey"; UPDATE "Club" SET "head" = 99"#,
            [
                "the foreign key of the column head",
                "Club.head: p1 refers to p99, which is not a Member",
                "Club.head: 2 objects refer to p99, but only one can",
            ]
        ),
        (
            #"UPDATE "Member" SET "heads" = NULL WHERE _id = 1"#,
            ["Club.head: p1 refers to p1, which does not refer back"]
        ),
        (
            #"UPDATE "Club" SET _entity = 9 WHERE _id = 2"#,
            ["the table Club has a row with the number 2 that cannot be read"]
        ),
        (
            #"UPDATE cairn_numbers SET next = 2"#,
            ["p2 is the next number of the table Club, which already contains p2"]
        ),
        (
            #"INSERT INTO cairn_redirects SELECT hierarchy, 1, 55 FROM cairn_numbers; INSERT INTO cairn_redirects SELECT hierarchy, 55, 1 FROM cairn_numbers"#,
            ["p1 exists, but is redirected to p55", "is redirected to itself, by way of others"]
        ),
        (
            #"INSERT INTO cairn_redirects VALUES (4711, 1, 2)"#,
            ["redirects of no entity of the model: 1"]
        ),
        (
            #"INSERT INTO cairn_changes VALUES (900, 0, 1, 0, '{}')"#,
            ["changes of the history without a transaction: 1"]
        ),
        (
            #"UPDATE cairn_entities SET name = 'Else' WHERE name = 'Club'"#,
            ["has no row for the code 1 of Club, in the table Club"]
        ),
    ]

    @Test("check finds what somebody has changed by hand", arguments: damage.indices)
    func damaged(_ index: Int) throws {
        let damage = Self.damage[index]
        try withBothPlaces { both in
            try fill(both)
            #expect(cairn("check", both.url).code == 0)
            try both.sql(damage.sql)
            let run = cairn("check", both.url)
            #expect(run.code == 3, "\(run.output)\(run.errors)")
            for words in damage.words {
                #expect(run.errors.contains(words), "\(words) is not in: \(run.errors)")
            }
            let error = try cairn("check", both.url, "--json").error
            #expect(Int(error, "exit") == 3 && (Int(error, "findingCount") ?? 0) > 0)
        }
    }

    @Test("a report has what the server says, and redacted it says nothing of the server")
    func report() throws {
        try withBothPlaces { both in
            try fill(both)
            #expect(cairn("history", both.url, "--keep").code == 0)
            try both.importing("n.csv", "joined,name\n2023-01-01,Cat\n", "--entity", "Member")
            let report = cairn("report", both.url)
            #expect(report.code == 0, "\(report.errors)")
            let text = try ReportText(report.output)
            text.check()
            #expect(text.section("health").contains("sound after commit"))
            #expect(text.section("store").contains(both.space))
            #expect(text.section("store").contains("cairn_transactions"))
            #expect(text.section("entities").contains("Club.members (pairs)"))
            #expect(text.section("space").contains("table Club"))
            #expect(text.section("commits").contains("1 inserted"))
            #expect(text.section("history").contains("insert 1 object of Member"))
            #expect(text.section("schema").contains("What Member has"))
            #expect(text.section("indexes").contains("unique"))
            #expect(!text.all("section").contains { $0.attributes["id"] == "log" })
            let redacted = cairn("report", both.url, "--redact")
            #expect(redacted.code == 0, "\(redacted.errors)")
            try ReportText(redacted.output).check()
            let title = StoreKinds([PostgresKind()]).title(of: both.url)
            #expect(report.output.contains(title))
            #expect(!redacted.output.contains(title))
            #expect(redacted.output.contains("postgresql://…"))
            #expect(cairn("report", both.url, "--depth", "frames").code == 2)
        }
    }
}
