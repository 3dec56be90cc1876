import CairnModel
import CairnStore
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Views for people", .enabled(if: PostgresServer.isInstalled))
struct ReadableViewsTests {
    @Test("dates are moments, entities have names, and names that are taken get another")
    func content() throws {
        let server = try PostgresServer.shared()
        let name = server.newName("views")
        defer { _ = try? server.run("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE") }
        var child = EntityDescription("Concert", attributes: [.init("band", .string)])
        child.superentityName = "Event"
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Event", attributes: [.init("code", .string), .init("begins", .date)]), child,
                EntityDescription("Event (readable)", attributes: [.init("x", .integer16)]),
            ]))
        let store = try PostgresStore.open(
            server.url(["cairn_schema": name]), schema: schema)
        let dates: [(String, Double)] = [
            ("a", 0), ("b", -978_307_200), ("c", 1e300), ("e", 86_400.5),
        ]
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Concert",
                objects: dates.map { code, seconds in
                    [
                        "code": code, "band": "'; DROP TABLE x; --",
                        "begins": Date(timeIntervalSinceReferenceDate: seconds),
                    ]
                }))
        let shown = try server.run(
            """
            SELECT code, _entity, to_char(begins AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') \
            FROM "\(name)"."Event (readable)~2" ORDER BY code
            """)
        #expect(
            shown.split(separator: "\n").map(String.init) == [
                "a|Concert|2001-01-01 00:00:00.000", "b|Concert|1970-01-01 00:00:00.000",
                "c|Concert|", "e|Concert|2001-01-02 00:00:00.500",
            ])
        try store.close()
    }
}
