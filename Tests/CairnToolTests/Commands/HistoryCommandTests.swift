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

    @Test("--object and --type choose changes")
    func chosen() throws {
        let work = try Workplace()
        _ = try Self.makeStore(work)
        func numbers(_ arguments: String...) throws -> [[[Int]]] {
            try run(["history", work.store, "--json"] + arguments).json.map {
                let changes = try #require($0["changes"] as? [[String: Any]])
                return changes.flatMap { $0["objects"] as? [[Int]] ?? [] }
            }
        }
        let id = try #require(try cairn("info", work.store, "--json").json[0]["id"] as? String)
        let uri = "x-cairn://\(id)/h1/p"
        #expect(try numbers("--object", uri + "2") == [[[2, 2]], [[2, 2]]])
        #expect(
            try numbers("--object", uri + "3", "--object", "x-coredata://\(id)/Thing/p4")
                == [[[3, 3]], [[4, 4]]])
        #expect(try numbers("--entity", "Thing", "--object", "p4") == [[[4, 4]]])
        #expect(try numbers("--type", "delete") == [[[2, 2]]])
        #expect(try numbers("--type", "delete", "--type", "insert").count == 3)
        #expect(try numbers("--type", "update").isEmpty)
        #expect(try numbers("--type", "insert", "--object", uri + "2") == [[[2, 2]]])
        for (arguments, code, words) in [
            (["--object", "p4"], 2, "--entity"), (["--object", "four"], 2, "four"),
            (["--object", "x-cairn://\(UUID().uuidString)/h1/p2"], 1, "another store"),
            (["--type", "change"], 2, "insert, update or delete"),
        ] as [([String], Int32, String)] {
            let refused = run(["history", work.store] + arguments)
            #expect(refused.code == code && refused.errors.contains(words), "\(refused.errors)")
        }
    }

    @Test("--keep begins a history, and whoever asks for what is not kept is told how to")
    func keep() throws {
        let work = try Workplace()
        _ = try work.importing("1.json", #"[{"code":"a"}]"#)
        let neither = cairn("history", work.store, "--values")
        #expect(neither.code == 1)
        #expect(
            neither.errors
                == "cairn: \(work.store): the store keeps no history and no past states: "
                + "start with cairn history STORE --keep and cairn past STORE --keep all\n")
        #expect(cairn("history", work.store, "--keep", "--limit", "1").code == 2)
        let begun = cairn("history", work.store, "--keep")
        #expect(begun.code == 0, "\(begun.errors)")
        #expect(begun.output.contains("history is kept from now on, after commit "))
        let again = try cairn("history", work.store, "--keep", "--json").json
        let horizon = try #require(again.first?["horizon"] as? Int)
        #expect(begun.output.hasSuffix(" commit \(horizon)\n"))
        #expect(cairn("history", work.store).output.isEmpty)
        _ = try work.importing("2.json", #"[{"code":"b"}]"#)
        let history = cairn("history", work.store)
        #expect(history.output.contains("insert 1 object of Thing: p2"), "\(history.errors)")
        let values = cairn("history", work.store, "--values")
        #expect(values.code == 1 && values.errors.contains("cairn past STORE --keep all"))
        #expect(!values.errors.contains("cairn history STORE"))
        #expect(cairn("check", work.store).code == 0)
    }

    @Test("Without a history it says so, and info tells whether there is one")
    func none() throws {
        let work = try Workplace()
        _ = try work.importing("1.json", #"[{"code":"a"}]"#)
        let failed = cairn("history", work.store)
        #expect(failed.code == 1 && failed.errors.contains("keeps no history"))
        #expect(failed.errors.contains("start with cairn history STORE --keep"))
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
