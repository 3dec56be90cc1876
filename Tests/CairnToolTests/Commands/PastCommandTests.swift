import CairnLog
import CairnModel
import CairnStore
import Foundation
import Testing

@testable import CairnTool

@Suite("Past states in the tool")
struct PastCommandTests {
    /// A store with past states from the first commit on that is given.
    private static func makeStore(_ work: borrowing Workplace) throws -> (
        first: UInt64, second: UInt64
    ) {
        let imported = try work.importing("1.json", #"[{"code":"a","name":"early"}]"#)
        #expect(imported.code == 0, "\(imported.errors)")
        var options = LogStoreOptions()
        options.persistentHistoryTracking = true
        options.pastStates = .all
        let store = try LogStore.open(at: work.store, options: options)
        let first = try store.snapshot().commit
        var request = BatchInsertRequest(
            entityName: try #require(store.schema.entities.first?.name),
            objects: [["code": "b", "name": "late"]])
        _ = try store.execute(request)
        let second = try store.snapshot().commit
        request = BatchInsertRequest(
            entityName: request.entityName, objects: [["code": "b", "name": "later"]])
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try store.execute(request)
        let few = StoreFetch(entity: 0, predicate: .compare("code", .equal, .string("a")))
        _ = try store.execute(BatchDeleteRequest(.fetch(few)))
        try store.close()
        return (first, second)
    }

    @Test("get, count, find and export read the state after a commit, or of a time")
    func at() throws {
        let work = try Workplace()
        let (first, second) = try Self.makeStore(work)
        let entity = "Thing"
        #expect(cairn("get", work.store, entity, "p1").code == 1)
        let got = cairn("get", work.store, entity, "p1", "--at", "\(first)")
        #expect(got.code == 0 && got.output.contains("early"), "\(got.errors)")
        #expect(cairn("count", work.store, entity).output == "1\n")
        #expect(cairn("count", work.store, entity, "--at", "\(second)").output == "2\n")
        #expect(cairn("count", work.store, entity, "--at", "2200-01-01T00:00:00Z").output == "1\n")
        #expect(cairn("find", work.store, "early").code == 1)
        #expect(cairn("find", work.store, "early", "--at", "\(second)").code == 0)
        let export = cairn("export", work.store, "--at", "\(second)")
        #expect(export.output.contains("\"late\"") && !export.output.contains("later"))
    }

    @Test("What is not kept, still to come, or no moment at all, is refused")
    func refused() throws {
        let work = try Workplace()
        let (first, _) = try Self.makeStore(work)
        let entity = "Thing"
        let early = cairn("count", work.store, entity, "--at", "1")
        #expect(early.code == 1 && early.errors.contains("after commit"))
        let late = cairn("count", work.store, entity, "--at", "\(first + 99)")
        #expect(late.code == 1 && late.errors.contains("does not exist yet"))
        let none = cairn("count", work.store, entity, "--at", "soon")
        #expect(none.code == 2 && none.errors.contains("--at"))
        let other = try Workplace()
        _ = try other.importing("1.json", #"[{"code":"a"},{"code":"b"}]"#)
        let plain = cairn("count", other.store, "Thing", "--at", "7777777")
        #expect(plain.code == 1 && plain.errors.contains("past states"))
        for at in ["7777777", "2200-01-01T00:00:00Z"] {
            let hint = cairn("get", other.store, "Thing", "a", "--at", at)
            #expect(
                hint.errors == """
                    cairn: \(other.store): the store keeps no past states: start with cairn past STORE --keep all

                    """)
        }
    }

    @Test("history tells values and from where on, info and space what is kept")
    func told() throws {
        let work = try Workplace()
        let (first, second) = try Self.makeStore(work)
        let history = cairn("history", work.store, "--values")
        #expect(history.code == 0, "\(history.errors)")
        #expect(history.output.contains("late → later") || history.output.contains("→"))
        #expect(history.errors.contains("see get --at"))
        let json = try cairn("history", work.store, "--values", "--json").json
        let values = try #require(json[1]["values"] as? [[String: Any]])
        #expect((values[0]["before"] as? [String: Any])?["name"] as? String == "late")
        #expect((values[0]["after"] as? [String: Any])?["name"] as? String == "later")
        #expect(json[0]["number"] as? Int == Int(second))
        #expect(cairn("info", work.store).output.contains("past states"))
        let info = try cairn("info", work.store, "--json").json.first?["pastStates"]
        #expect(((info as? [String: Any])?["horizon"] as? Int).map { $0 <= Int(first) } == true)
        let space = try cairn("space", work.store, "--json").json.first
        #expect(space?["pastStateBytes"] as? Int == 0)
        #expect(cairn("check", work.store).code == 0)
    }

    @Test("query reads a past state too, and tables of it")
    func query() throws {
        let work = try Workplace()
        let (first, second) = try Self.makeStore(work)
        let early = cairn("query", work.store, "Thing", "--columns", "name", "--at", "\(first)")
        #expect(early.code == 0 && early.output.contains("early"), "\(early.errors)")
        #expect(!early.output.contains("late"))
        let table = try cairn(
            "query", work.store, "Thing", "--columns", "n=@count", "--at", "\(second)", "--json"
        ).json
        #expect(table.first?["n"] as? Int == 2, "\(table)")
        #expect(cairn("query", work.store, "Thing", "--at", "1").code == 1)
    }

    @Test("past turns them on and off, says what is kept, and purges")
    func past() throws {
        let work = try Workplace()
        _ = try work.importing("1.json", #"[{"code":"a","name":"early"}]"#)
        let none = cairn("past", work.store)
        #expect(none.code == 0 && none.output.contains("no past states"), "\(none.errors)")
        #expect(try cairn("past", work.store, "--json").json.first?["keep"] as? String == "off")
        for wrong in ["soon", "-1", "3w", "d"] {
            let refused = cairn("past", work.store, "--keep=\(wrong)")
            #expect(refused.code == 2 && refused.errors.contains("--keep"), "\(wrong)")
        }
        #expect(cairn("past", work.store, "--purge", "1").code == 1)

        let on = cairn("past", work.store, "--keep", "30d")
        #expect(on.code == 0 && on.output.contains("30 days"), "\(on.output)\(on.errors)")
        let kept = try #require(try cairn("past", work.store, "--json").json.first)
        #expect(kept["keep"] as? String == "seconds" && kept["seconds"] as? Int == 2_592_000)
        let horizon = try #require(kept["horizon"] as? Int)
        #expect(cairn("past", work.store, "--keep", "20").output.contains("20 commits"))
        #expect(cairn("past", work.store, "--keep", "all").code == 0)
        _ = try work.importing("2.json", #"[{"code":"b","name":"late"}]"#)
        #expect(cairn("count", work.store, "Thing", "--at", "\(horizon)").output == "1\n")

        let last = try #require(
            try cairn("past", work.store, "--json").json.first?["last"] as? Int)
        let early = cairn("past", work.store, "--purge", "\(last)0")
        #expect(early.code == 1 && early.errors.contains("does not exist yet"), "\(early.errors)")
        #expect(cairn("count", work.store, "Thing", "--at", "\(horizon)").code == 0)
        let purged = try cairn("past", work.store, "--purge", "\(last)", "--json").json.first
        #expect(purged?["horizon"] as? Int == last)
        #expect(cairn("count", work.store, "Thing", "--at", "\(horizon)").code == 1)
        #expect(cairn("past", work.store, "--keep", "off", "--purge", "1").code == 2)
        #expect(cairn("past", work.store, "--keep", "off").output.contains("no past states"))
        #expect(cairn("check", work.store).code == 0)
    }
}
