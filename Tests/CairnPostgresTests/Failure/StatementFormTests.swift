// Which statements a store sends, over all that can be asked of one. The cases of StoreConformance look at theirs, too.

import CairnModel
import CairnStore
import CairnTestSupport
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("The forms of statements", .enabled(if: PostgresServer.isInstalled))
struct StatementFormTests {
    @Test("names, constants and lists are left out")
    func forms() {
        let form = StatementForms.form(
            """
            SELECT r."a""b", r."c"  FROM "s 1"."t" AS r WHERE r."x" = ANY($1::bigint[]) \
            AND y = E'it''s \\\\' AND z > 17.5
            """)
        #expect(
            form == "SELECT r.n FROM n AS r WHERE r.n = ANY($::bigint[]) AND y = E'…' AND z > 0")
    }

    @Test(
        "what not all databases of the family know is refused",
        arguments: [
            "SELECT pg_advisory_xact_lock(1)", "LOCK TABLE t", "SELECT nextval('s')",
            "CREATE TABLE t (a bigserial)", "CREATE TABLE t (a int8 GENERATED ALWAYS AS IDENTITY)",
            "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES u DEFERRABLE INITIALLY DEFERRED",
            "SET CONSTRAINTS ALL DEFERRED", "SELECT ctid FROM t", "SELECT xmin FROM t",
            "SELECT 1; NOTIFY x",
        ])
    func refused(_ statement: String) {
        #expect(!StatementForms.forbidden(StatementForms.form(statement)).isEmpty)
    }

    @Test(
        "what all of them know is not",
        arguments: [
            #"SELECT "ctid", 'nextval(' FROM "lock table""#, "LISTEN n", "NOTIFY n, '1'",
            "CREATE TEMPORARY TABLE n (a int8)", "SELECT maximum FROM t",
            "SELECT a FROM t FOR UPDATE",
        ])
    func allowed(_ statement: String) {
        #expect(StatementForms.forbidden(StatementForms.form(statement)).isEmpty)
    }

    @Test("a transaction makes tables or writes rows")
    func mixed() {
        let forms = StatementForms()
        #expect(forms.take(1, ["BEGIN", "CREATE TABLE t (a int8)", "COMMIT"]).isEmpty)
        #expect(forms.take(1, ["BEGIN", "INSERT INTO t VALUES (1)"]).isEmpty)
        #expect(forms.take(2, ["CREATE TABLE u (a int8)"]).isEmpty)
        #expect(forms.take(1, ["ALTER TABLE t ADD b int8"]).count == 1)
        #expect(forms.take(1, ["ROLLBACK", "ALTER TABLE t ADD b int8"]).isEmpty)
    }

    @Test("all that a store sends is understood by all of them")
    func sent() throws {
        let forms = StatementForms()
        let watch: @Sendable (Int32, [String]) -> Void = { connection, statements in
            for refusal in forms.take(connection, statements) { Issue.record("\(refusal)") }
        }
        try Bank.with(
            .shared(),
            {
                $0.observer = watch
                $0.persistentHistoryTracking = true
            }
        ) { bank, watcher in
            let server = try PostgresServer.shared()
            // A store that is made, which the bank of others was.
            let made = try Bank(
                server.url(["cairn_schema": bank.store.core.layout.space + "_made"])
            ) {
                $0.observer = watch
            }
            defer {
                _ = try? made.store.close()
                _ = try? server.run(
                    "DROP SCHEMA \"\(bank.store.core.layout.space)_made\" CASCADE")
            }
            try bank.open()
            for number in 0..<5 {
                try bank.move(1, "\(number)", from: Bank.names[0], to: Bank.names[1])
            }
            try bank.write("Rate", (0..<50).map { ["code": "\($0)", "value": Int64($0)] })
            try bank.setRates("value > 10", to: 3)
            _ = try bank.store.execute(
                BatchDeleteRequest(
                    entityName: "Rate", predicate: try PredicateNode(format: "value == 3")))
            // A deletion to which others lead.
            let entity = try #require(bank.store.schema.entity(named: "Account"))
            var fetch = StoreFetch(
                entity: entity.index, predicate: .compare("name", .equal, .string(Bank.names[1])))
            fetch.includesRows = true
            let row = try #require(try bank.store.snapshot().fetch(fetch).rows.first)
            var request = SaveRequest()
            request.deleted = [
                .init(id: row.id, entity: entity.index, version: row.version, base: row)
            ]
            _ = try bank.store.save(request)
            try bank.store.setMetadata(["a": .integer(1)], identifier: nil)
            try bank.store.writeMetadata()
            let bounds = try #require(try bank.store.historyBounds())
            let cursor = try bank.store.historyCursor(after: bounds.horizon)
            while try cursor.next() != nil {}
            _ = try bank.store.historyMoment(through: 5)
            try bank.store.setHistoryConsumer("c", seen: 1, mustExist: false)
            _ = try bank.store.historyConsumerNumbers()
            _ = try bank.store.deleteHistory(through: 1)
            _ = try bank.store.obtainPermanentIDs(forEntities: [0, 1, 2])
            #expect(try watcher.count("Account") == Bank.names.count - 1)
        }
        let counts = forms.counts
        #expect(counts.count > 30)
        for (form, count) in counts.sorted(by: { $0.key < $1.key }) where Campaign.isLong {
            printLine("\(count) \(form)")
        }
    }
}
