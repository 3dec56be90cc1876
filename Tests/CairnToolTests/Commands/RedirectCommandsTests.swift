// What the tool says of objects that were merged into others.

import CairnLog
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnTool

@Suite("Redirects in the tool")
struct RedirectCommandsTests {
    @Test("The id of an object that was merged into another one gets that one")
    func getting() throws {
        let work = try Workplace()
        try work.importing(
            "1.json",
            """
            [{"code":"a","name":"Anna","rank":3},{"code":"b","name":"Anna","rank":1},
             {"code":"c","name":"Bert","rank":2},{"code":"d","name":"Anna"}]
            """)
        #expect(!cairn("info", work.store).output.contains("redirects"))
        #expect(try cairn("info", work.store, "--json").json.first?["redirects"] as? Int == 0)
        #expect(!cairn("check", work.store).output.contains("redirect"))
        let run = cairn(
            "duplicates", work.store, "Thing", "--by", "name", "--keep", "smallest:rank", "--delete"
        )
        #expect(run.code == 0, "\(run.errors)")
        let found = cairn("get", work.store, "Thing", "p4")
        #expect(found.code == 0, "\(found.errors)")
        #expect(found.lines.first == "p4 was merged into p2.")
        #expect(found.lines.dropFirst().first?.hasPrefix("Thing p2, version ") == true)
        let json = cairn("get", work.store, "Thing", "p1", "--json")
        #expect(json.errors.contains("p1 was merged into p2."))
        #expect(json.output == cairn("get", work.store, "Thing", "p2", "--json").output)
        var options = LogStoreOptions()
        options.isReadOnly = true
        let store = try LogStore.open(at: work.store, options: options)
        let uri = store.identity.id(1, entity: 0).uriRepresentation.absoluteString
        try store.close()
        #expect(
            cairn("get", work.store, "Thing", uri).lines.first == "p1 was merged into p2.")
        #expect(cairn("get", work.store, "Thing", "p99").code == 1)
        #expect(
            cairn("info", work.store).output.contains(
                "  redirects    2 objects were merged into others"))
        #expect(try cairn("info", work.store, "--json").json.first?["redirects"] as? Int == 2)
        #expect(cairn("check", work.store).output.contains("2 redirects"))
        #expect(try cairn("check", work.store, "--json").json.first?["redirects"] as? Int == 2)
        let frames = try cairn("frames", work.store, "--json").json.filter {
            $0["kind"] as? String == "redirects"
        }
        #expect(frames.map { $0["note"] as? String } == ["2 objects redirected to others"])
        // The winner is gone: so are those who were led to it.
        #expect(cairn("delete", work.store, "Thing", "--where", "code == 'b'").code == 0)
        #expect(cairn("get", work.store, "Thing", "p4").code == 1)
        #expect(cairn("check", work.store).code == 0)
    }

    @Test("The history says who took whose place")
    func history() throws {
        let work = try Workplace()
        try work.importing(
            "1.json", #"[{"code":"a","name":"Anna"},{"code":"b","name":"Anna"}]"#)
        var options = LogStoreOptions()
        options.persistentHistoryTracking = true
        try LogStore.open(at: work.store, options: options).close()
        let run = cairn(
            "duplicates", work.store, "Thing", "--by", "name", "--keep", "first", "--delete")
        #expect(run.code == 0, "\(run.errors)")
        let text = cairn("history", work.store)
        #expect(
            text.lines.last == "    delete 1 object of Thing: p2; redirected p2 to p1",
            "\(text.output)")
        let json = try #require(try cairn("history", work.store, "--json").json.last)
        let changes = try #require(json["changes"] as? [[String: Any]])
        #expect(changes.last?["redirects"] as? [[Int]] == [[2, 1]])
    }
}
