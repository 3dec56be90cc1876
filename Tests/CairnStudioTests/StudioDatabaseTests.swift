// A studio over a store in PostgreSQL.

import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnTool

@Suite("A studio over PostgreSQL", .enabled(if: PostgresServer.isInstalled), .ahead)
struct StudioDatabaseTests {
    private func withStore(_ body: (StudioPlace) async throws -> Void) async throws {
        let server = try PostgresServer.shared()
        let space = "studio-\(UUID().uuidString)"
        let place = try StudioPlace(server.url(["cairn_schema": space]))
        do {
            try await body(place)
        } catch {
            try server.run("DROP SCHEMA IF EXISTS \"\(space)\" CASCADE")
            throw error
        }
        try server.run("DROP SCHEMA IF EXISTS \"\(space)\" CASCADE")
    }

    @Test("It reads, follows, saves and takes back as over a folder")
    func all() async throws {
        try await withStore { place in
            try place.fillShelf()
            let before = try place.copy()
            try await place.studio(write: true) { client in
                let store = try await client.get("store").json
                #expect(store["kind"] as? String == "postgresql")
                let commit = try #require(store["commit"] as? Int)
                for path in ["schema", "info", "check"] {
                    #expect(try await client.get(path).status == 200, "\(path)")
                }
                for name in ["space", "commits", "model"] {
                    #expect(try await client.get("pictures/\(name).svg").status == 200, "\(name)")
                }
                #expect(try await client.get("pictures/log.svg").status == 404)
                for path in ["space", "past"] {
                    #expect(try await client.get(path).status == 400, "\(path)")
                }
                let rows = try await client.get("rows", ["entity": "Book", "sort": "-code"]).json
                #expect(rows["total"] as? Int == 3)
                let object = try await client.get("object", ["entity": "Book", "id": "p1"])
                #expect(object.status == 200, "\(object.text)")
                let saved = try await client.post(
                    "save",
                    #"{"changes":[{"change":"update","entity":"Book","id":"p1","version":1,"values":{"weight":4,"tags":["p2"]}},{"change":"delete","entity":"Book","id":"p2","version":1}]}"#
                )
                #expect(saved.status == 200, "\(saved.text)")
                let undone = try await client.post("undo")
                #expect(undone.status == 200, "\(undone.text)")
                #expect(try place.difference(from: before) == "")
                let preview = try await client.importList(
                    "number\n3\n50\n", ["entity": "Tag", "preview": "1"])
                #expect(try preview.json["inserted"] as? Int == 1, "\(preview.text)")
                #expect(try preview.json["unchanged"] as? Int == 1)
                #expect(try place.difference(from: before) == "")
                async let news = client.get("news", ["after": "\(commit + 2)"])
                try place.cairn(
                    "import", "STORE", "--entity", "Tag", try place.file("n.csv", "number\n77\n"))
                #expect(try await news.json["commit"] as? Int ?? 0 > commit + 2)
                #expect(try await client.get("count", ["entity": "Tag"]).json["count"] as? Int == 4)
            }
        }
    }
}
