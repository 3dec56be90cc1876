import CairnLog
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn history")
struct HistoryCommandTests {
    /// A store with a history of three commits.
    private static func makeStore(_ work: borrowing Workplace) throws -> UInt64 {
        let imported = try work.importing("1.json", #"[{"code":"a"}]"#)
        #expect(imported.code == 0, "\(imported.errors)")
        var options = LogStoreOptions()
        options.persistentHistoryTracking = true
        let store = try LogStore.open(at: work.store, options: options)
        let entity = try #require(store.schema.entities.first?.name)
        func insert(_ codes: [String], by author: String?) throws {
            var request = BatchInsertRequest(
                entityName: entity, objects: codes.map { ["code": $0] })
            request.author = author
            _ = try store.execute(request)
        }
        try insert(["b", "c"], by: "one")
        let token = try #require(try store.historyBounds()).last
        try insert(["d"], by: "two")
        let fetch = StoreFetch(entity: 0, predicate: .compare("code", .equal, .string("b")))
        _ = try store.execute(BatchDeleteRequest(.fetch(fetch)))
        try store.close()
        return token
    }

    @Test("It prints transactions with their changes, as text and as JSON")
    func printed() throws {
        let work = try Workplace()
        let token = try Self.makeStore(work)
        let text = cairn("history", work.store)
        #expect(text.code == 0, "\(text.errors)")
        let lines = text.output.split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines[0].hasPrefix("\(token)  ") && lines[0].contains("by one"))
        #expect(lines[1].contains("insert 2 objects of ") && lines[1].hasSuffix(": p2-p3"))
        #expect(lines[5].contains("delete 1 object of ") && lines[5].hasSuffix(": p2"))
        let json = try cairn("history", work.store, "--json").json
        #expect(json.map { $0["author"] as? String } == ["one", "two", nil])
        let changes = try #require(json[0]["changes"] as? [[String: Any]])
        #expect(changes[0]["type"] as? String == "insert")
        #expect(changes[0]["objects"] as? [[Int]] == [[2, 3]])
        func count(_ arguments: String...) throws -> Int {
            try run(["history", work.store, "--json"] + arguments).json.count
        }
        #expect(try count("--after", "\(token)") == 2)
        #expect(try count("--author", "two") == 1)
        #expect(try count("--author", "three") == 0)
        #expect(try count("--limit", "2") == 2)
        let entity = try #require(changes[0]["entity"] as? String)
        #expect(try count("--entity", entity) == 3)
        #expect(cairn("history", work.store, "--entity", "Nothing").code == 1)
        #expect(cairn("history", work.store, "--after", "1").code == 1)
        #expect(cairn("history", work.store, "--limit", "0").code == 2)
        #expect(cairn("check", work.store).code == 0)
    }

    @Test("Without a history it says so, and info tells whether there is one")
    func none() throws {
        let work = try Workplace()
        _ = try work.importing("1.json", #"[{"code":"a"}]"#)
        let failed = cairn("history", work.store)
        #expect(failed.code == 1 && failed.errors.contains("keeps no history"))
        #expect(!cairn("info", work.store).output.contains("history"))
        #expect(
            try cairn("info", work.store, "--json").json.first?["history"] is NSNull)
        let other = try Workplace()
        _ = try Self.makeStore(other)
        #expect(
            cairn("info", other.store).output.contains("history      3 transactions, ")
        )
        let history = try cairn("info", other.store, "--json").json.first?["history"]
        #expect((history as? [String: Any])?["transactions"] as? Int == 3)
        let kinds = try cairn("frames", other.store, "--json").json
            .filter { $0["kind"] as? String == "changes" }
        #expect(kinds.count == 3)
        #expect(kinds.first?["note"] as? String == "+2 ~0 -0 by one")
    }
}
