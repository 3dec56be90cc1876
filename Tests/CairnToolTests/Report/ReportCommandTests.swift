// cairn report: what is known of a store, as one page.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn report")
struct ReportCommandTests {
    /// A store with a history, past states and metadata, in all of which values stand that are nobody's business.
    private static func makeStore(_ work: borrowing Workplace, author: String = "Ann Secret") throws
    {
        let model = try work.list(
            "model.json",
            """
            {"entities": [{"name": "Thing", "uniquenessConstraints": [["code"]], "attributes": [
              {"name": "code", "type": "string", "preservesValueInHistoryOnDeletion": true},
              {"name": "note", "type": "string"}]}]}
            """)
        let imported = try work.importing(
            "1.json", #"[{"code":"a","note":"private one"},{"code":"b","note":"private two"}]"#,
            "--model", model)
        #expect(imported.code == 0, "\(imported.errors)")
        var options = LogStoreOptions()
        options.persistentHistoryTracking = true
        options.pastStates = .all
        let store = try LogStore.open(at: work.store, options: options)
        var insert = BatchInsertRequest(
            entityName: "Thing", objects: [["code": "private three", "note": "private four"]])
        insert.author = author
        _ = try store.execute(insert)
        let fetch = StoreFetch(
            entity: 0, predicate: .compare("code", .equal, .string("private three")))
        _ = try store.execute(BatchDeleteRequest(.fetch(fetch)))
        try store.close()
        try LogStore.setMetadata(["token": .string("private five")], forStoreAt: work.store)
    }

    private func page(_ arguments: String..., code: Int32 = 0) throws -> (String, ReportText) {
        let report = run(["report"] + arguments)
        #expect(report.code == code, "\(report.errors)")
        let text = try ReportText(report.output)
        text.check()
        return (report.output, text)
    }

    @Test("it says what info, check, space, schema and history say")
    func content() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let (_, text) = try page(work.store)
        #expect(text.all("h1").first?.text == work.store)
        #expect(text.section("health").contains("Everything that was checked"))
        let check = try #require(cairn("check", work.store).lines.first)
        #expect(text.section("health").contains(check))
        let info = try #require(try cairn("info", work.store, "--json").json.first)
        for key in ["id", "lastCommitTime"] {
            let value = try #require(info[key] as? String)
            // The report has no parts of seconds.
            #expect(text.section("store").contains(value.prefix(19)), "\(key): \(value)")
        }
        #expect(text.section("entities").contains("Thing"))
        #expect(text.section("schema").contains("kept in history"))
        #expect(text.section("indexes").contains("unique"))
        #expect(text.section("metadata").contains("private five"))
        let history = text.section("history")
        #expect(history.contains("Ann Secret"))
        #expect(history.contains("insert 1 object of Thing"))
        #expect(history.contains("delete 1 object of Thing"))
        #expect(history.contains("private four"))
        let space = text.section("space")
        for name in ["Thing", "code", "note", "checkpoints", "in memory"] {
            #expect(space.contains(name) || !text.section("log").contains("checkpoint"), "\(name)")
        }
        #expect(text.section("log").contains("segment 1, log"))
        #expect(text.section("commits").contains("3 inserted"))
        #expect(text.section("model").contains("◆ code"))
    }

    @Test("redacted, it has no values, and names neither people nor where the store is")
    func redacted() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let plain = run(["report", work.store]).output
        let (page, text) = try page(work.store, "--redact")
        for secret in ["private", "Ann Secret", work.folder.path] {
            #expect(plain.contains(secret), "\(secret)")
            #expect(!page.contains(secret), "\(secret)")
        }
        #expect(text.all("h1").first?.text == "things.cairn")
        #expect(text.section("history").contains("author 1"))
        #expect(text.section("metadata").contains("token"))
        #expect(text.section("metadata").contains("left out"))
        #expect(text.section("schema").contains("note"))
        #expect(text.all("footer").first?.text.contains("left out") == true)
    }

    @Test("one author has one number, wherever it stands")
    func authors() throws {
        var redaction = Redaction(isOn: true, place: "/home/ann/shop.cairn")
        let names = ["ann", "bob", "ann"].map { redaction.author($0) }
        #expect(names == ["author 1", "author 2", "author 1"])
        let info = redaction.information(
            .object([
                "lastAuthor": .string("bob"), "host": .string("laptop"), "closed": .boolean(true),
                "users": .array([.object(["user": .string("ann"), "process": .integer(7)])]),
                "damage": .array([.string("/home/ann/shop.cairn: segment 1")]),
            ]))
        #expect(
            info
                == .object([
                    "lastAuthor": .string("author 2"), "host": .string("left out"),
                    "closed": .boolean(true),
                    "users": .array([
                        .object(["user": .string("left out"), "process": .integer(7)])
                    ]), "damage": .array([.string("shop.cairn: segment 1")]),
                ]))
        var error = StoreError(.damaged, "a key occurs twice")
        error.context.detail = "a key occurs twice: 'ann'"
        #expect(redaction.sentence(error) == "a key occurs twice")
        #expect(Redaction(isOn: false, place: "").sentence(error) == "a key occurs twice: 'ann'")
    }

    @Test("what is in a store stays text")
    func markup() throws {
        let work = try Workplace()
        let evil = "</td><script>alert('x')</script>"
        try Self.makeStore(work, author: evil)
        try LogStore.setMetadata([evil: .string(evil)], forStoreAt: work.store)
        let (page, text) = try page(work.store)
        #expect(!page.contains("<script"))
        #expect(text.section("history").contains(evil))
        #expect(text.section("metadata").contains(evil))
    }

    @Test("it is written into a file, which is replaced only if it is a report")
    func file() throws {
        let work = try Workplace()
        try work.importing("1.json", #"[{"code":"a"}]"#)
        let path = work.folder.path("report.html")
        let first = cairn("report", work.store, "-o", path)
        #expect(first.code == 0, "\(first.errors)")
        #expect(first.output.hasPrefix("\(path): a report of \(work.store), "))
        let again = cairn("report", work.store, "--output", path, "--json")
        #expect(again.code == 0, "\(again.errors)")
        let json = try #require(try again.json.first)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(json["report"] as? String == path)
        #expect(Int(json, "bytes") == text.utf8.count)
        #expect(json["sound"] as? Bool == true)
        try ReportText(text).check()
        let note = try work.list("note.txt", "mine")
        let refused = cairn("report", work.store, "-o", note)
        #expect(refused.code == 1)
        #expect(refused.errors.contains("was not generated by cairn report"))
        #expect(try String(contentsOfFile: note, encoding: .utf8) == "mine")
        let nowhere = cairn("report", work.store, "-o", work.folder.path("no/such/folder.html"))
        #expect(nowhere.code == 1)
        #expect(nowhere.errors.contains("cannot be written"))
        #expect(try ReportText(cairn("report", work.store, "-o", "-").output).all("h1").count == 1)
    }

    @Test("nothing is written of a store that is not there")
    func missing() throws {
        let work = try Workplace()
        let path = work.folder.path("report.html")
        let report = cairn("report", work.store, "-o", path)
        #expect(report.code == 1)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("of a damaged store it says where the damage is, and the exit code is 3")
    func damaged() throws {
        let work = try Workplace()
        try Self.makeStore(work)
        let shallow = cairn("report", work.store, "--depth", "headers")
        #expect(shallow.code == 0, "\(shallow.errors)")
        #expect(shallow.output.contains("as far as “headers” looks"))
        let frame = try #require(
            try cairn("frames", work.store, "--json").json.last { $0["kind"] as? String == "block" }
        )
        let offset = try #require(Int(frame, "offset"))
        let file = URL(fileURLWithPath: work.store + "/0000000001.segment")
        var bytes = try Data(contentsOf: file)
        bytes[offset + 80] ^= 1
        try bytes.write(to: file)
        let (page, text) = try page(work.store, "--redact", code: 3)
        #expect(!page.contains("private"))
        #expect(text.section("health").contains("the store is damaged"))
        let rows = text.all("tr").map(\.text)
        #expect(rows.contains { $0.contains("F-304") && $0.hasPrefix("1") })
        #expect(text.section("log").contains("damaged: "))
        #expect(text.section("commits").contains("3 inserted"))
    }

    @Test(
        "every golden store has one, and every broken one",
        arguments: try FileManager.default.contentsOfDirectory(atPath: goldenFolder)
            .filter { $0.hasSuffix(".cairn") }.sorted())
    func golden(name: String) throws {
        let work = try Workplace()
        let store = try CairnToolTests.golden(String(name.dropLast(6)), in: work)
        let isBroken = name.hasSuffix(".broken.cairn")
        let report = run(["report", store])
        #expect(report.code == (isBroken ? 3 : 0), "\(report.errors)")
        let text = try ReportText(report.output)
        text.check()
        let isSound = text.section("health").contains("Everything that was checked")
        #expect(isSound != isBroken)
    }

    @Test("stores that Core Data wrote have one", .enabled(if: Corpus.isAvailable))
    func corpus() throws {
        Corpus.noteUse()
        for store in CorpusCoreDataStore.all {
            let work = try Workplace()
            var arguments = ["import-coredata", store.path, work.store]
            if let model = store.model {
                arguments += ["--model", Corpus.url("xcdatamodel/\(model).xml").path]
            }
            let imported = run(arguments)
            // Some have no model anywhere.
            guard FileManager.default.fileExists(atPath: work.store) else {
                #expect(imported.errors.contains("model"), "\(store): \(imported.errors)")
                continue
            }
            let (_, text) = try page(work.store)
            let info = try #require(try cairn("info", work.store, "--json").json.first)
            let entities = try #require(info["entities"] as? [[String: Any]])
            for entity in entities {
                let name = try #require(entity["name"] as? String)
                #expect(text.section("entities").contains(name))
                guard entity["private"] as? Bool == false else { continue }
                #expect(
                    text.section("schema").contains("What \(name) has")
                        || text.section("schema").contains("no properties"))
            }
        }
    }
}
