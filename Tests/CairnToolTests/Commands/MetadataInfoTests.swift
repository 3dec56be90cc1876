import CairnLog
import CairnModel
import Foundation
import Testing

@testable import CairnTool

@Suite("What info says of metadata")
struct MetadataInfoTests {
    @Test("info shows what programs keep with the store, and what it is called by")
    func info() throws {
        let work = try Workplace()
        let imported = try work.importing("1.json", #"[{"code":"a"}]"#)
        #expect(imported.code == 0, "\(imported.errors)")
        let before = try #require(try cairn("info", work.store, "--json").json.first)
        #expect((before["metadata"] as? [String: Any])?.isEmpty == true)
        #expect(before["called"] as? String == before["id"] as? String)
        #expect(!cairn("info", work.store).output.contains("metadata"))
        let identifier = UUID()
        try LogStore.setMetadata(
            ["token": .string("abc"), "n": .integer(7)], identifier: identifier,
            forStoreAt: work.store)
        let info = try #require(try cairn("info", work.store, "--json").json.first)
        #expect(info["metadata"] as? [String: String] == ["token": "abc", "n": "7"])
        #expect(info["called"] as? String == identifier.uuidString)
        #expect(info["id"] as? String == before["id"] as? String)
        #expect(
            cairn("info", work.store).output.hasSuffix(
                """

                metadata  value
                ────────  ─────
                n         7
                token     abc

                """))
        let kinds = try cairn("frames", work.store, "--json").json.map { $0["kind"] as? String }
        #expect(kinds.contains("metadata"))
        #expect(cairn("check", work.store).code == 0)
    }
}
