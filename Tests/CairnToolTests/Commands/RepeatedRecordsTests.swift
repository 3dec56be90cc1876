// cairn import of lists whose keys are missing, or come twice.

import Foundation
import Testing

@testable import CairnTool

@Suite("cairn import of records without a key, or with the same")
struct RepeatedRecordsTests {
    private static let keyless = "code,name\na,Anna\n,Berta\nc,Carl\n,Dora\n"

    @Test("records without a key are refused by number, unless the command says what to do")
    func missing() throws {
        let work = try Workplace()
        let refused = try work.importing("1.csv", Self.keyless)
        #expect(refused.code == 1)
        for part in [
            "2 records have no key", "Thing.code", "record 2", "record 4", "--missing-key skip",
            "--missing-key insert",
        ] {
            #expect(refused.errors.contains(part), "\(refused.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: work.store))
        let single = try work.importing("2.csv", "code,name\n,Berta\n")
        #expect(single.code == 1 && single.errors.contains("the record has no key"))
        #expect(single.errors.contains("2.csv: record 1: "), "\(single.errors)")

        let skipped = try work.importing("1.csv", Self.keyless, "--missing-key", "skip")
        #expect(skipped.code == 0)
        #expect(skipped.lines.contains("2 records have no key, and were skipped: records 2, 4"))
        let inserted = try work.importing("1.csv", Self.keyless, "--missing-key", "insert")
        #expect(
            inserted.lines.contains(
                "2 records have no key, and each import adds them again: records 2, 4"))
        let again = try work.importing(
            "1.csv", Self.keyless, "--missing-key", "insert", "--json")
        #expect(try Int(again.json[0], "keyless") == 2 && Int(again.json[0], "inserted") == 2)
        #expect(cairn("count", work.store, "Thing").output == "6\n")
        let wrong = try work.importing("1.csv", Self.keyless, "--missing-key", "maybe")
        #expect(wrong.code == 2)
    }

    @Test("a key of several attributes is missing if one of them is")
    func partly() throws {
        let work = try Workplace()
        let list = try work.list("1.csv", "line,stop,name\n1,a,x\n1,,y\n")
        let run = cairn(
            "import", work.store, list, "--entity", "Stop", "--unique", "line,stop")
        #expect(run.code == 1 && run.errors.contains("Stop.line, stop"), "\(run.errors)")
    }

    @Test("duplicates --including-nil finds objects that have no key, or have it partly")
    func duplicates() throws {
        let work = try Workplace()
        let list = try work.list(
            "1.csv", "line,stop,name\n1,a,x\n1,,y\n1,,z\n,,v\n,,w\n2,,u\n")
        let imported = cairn(
            "import", work.store, list, "--entity", "Stop", "--unique", "line,stop",
            "--missing-key", "insert")
        #expect(imported.code == 0, "\(imported.errors)")
        let plain = cairn("duplicates", work.store, "Stop", "--by", "line,stop")
        #expect(plain.lines.last == "Stop: 0 keys of 0 objects by line, stop")
        let both = cairn(
            "duplicates", work.store, "Stop", "--by", "line,stop", "--including-nil", "--json")
        #expect(
            both.lines.dropLast() == [
                #"{"key":{"line":null,"stop":null},"stays":"p4","others":["p5"]}"#,
                #"{"key":{"line":1,"stop":null},"stays":"p2","others":["p3"]}"#,
            ])
        let one = cairn(
            "duplicates", work.store, "Stop", "--by", "stop", "--including-nil", "--json",
            "--sql-nulls")
        #expect(
            one.lines.first
                == #"{"key":{"stop":null},"stays":"p2","others":["p3","p4","p5","p6"]}"#)
        let incoming = cairn(
            "duplicates", work.store, "Stop", "--by", "line,stop", "--including-nil", "--incoming",
            "p3", "--json")
        #expect(incoming.lines.count == 2)
        let refused = cairn(
            "duplicates", work.store, "Stop", "--by", "stop", "--including-nil", "--keep", "nullKey"
        )
        #expect(refused.code == 1 && refused.errors.contains("nil"))
        let deleted = cairn(
            "duplicates", work.store, "Stop", "--by", "line,stop", "--including-nil", "--keep",
            "first", "--delete")
        #expect(deleted.code == 0)
        #expect(cairn("count", work.store, "Stop").output == "4\n")
    }

    @Test("a list in which a key comes twice changes nothing the second time, and says so")
    func twice() throws {
        let work = try Workplace()
        let text = "code,name,size\na,Anna,1\nb,Berta,2\na,Ann,3\na,Anne,4\n"
        let first = try work.importing("1.csv", text)
        #expect(
            first.lines.contains(
                "2 records have the key of an earlier one, and the last one wins: records 3, 4"),
            "\(first.output)")
        let hash = cairn("hash", work.store).output
        let second = try work.importing("1.csv", text, "--json")
        #expect(try second.json[0]["commit"] is NSNull)
        #expect(try Int(second.json[0], "updated") == 0 && Int(second.json[0], "repeated") == 2)
        #expect(cairn("hash", work.store).output == hash)
        #expect(cairn("get", work.store, "Thing", "a", "--json").output.contains("Anne"))
        for policy in ["overwrite", "declared", "error"] {
            let run = try work.importing("1.csv", text, "--json", "--policy", policy)
            #expect(try run.json[0]["commit"] is NSNull, "\(policy)")
        }
        let partly = "code,name\na,Anna\na,Anne\n"
        let set = try work.importing("2.csv", partly, "--json", "--set-only")
        #expect(try set.json[0]["commit"] is NSNull)
        #expect(cairn("hash", work.store).output == hash)
    }

    @Test("a large list with keys twice changes nothing the second time, in whatever order")
    func large() throws {
        let work = try Workplace()
        let rows = (0..<20_000).map { "\($0 % 9_000),name \($0)" }
        let text = (["code,name"] + rows).joined(separator: "\n") + "\n"
        try work.importing("1.csv", text)
        let second = try work.importing("1.csv", text, "--json", "--prune")
        #expect(try second.json[0]["commit"] is NSNull)
        #expect(try Int(second.json[0], "unchanged") == 20_000)
        #expect(try Int(second.json[0], "repeated") == 11_000)
    }

    @Test("a nested object whose keys come in another order is no update")
    func nested() throws {
        let work = try Workplace()
        try work.importing(
            "1.json", #"[{"code":"a","at":{"y":2,"x":[{"b":1,"a":2}],"é":null,"é2":0}}]"#)
        let second = try work.importing(
            "2.json", #"[{"at":{"é2":0,"x":[{"a":2,"b":1}],"é":null,"y":2},"code":"a"}]"#,
            "--json")
        #expect(try second.json[0]["commit"] is NSNull)
        let row = try #require(
            try cairn("get", work.store, "Thing", "a", "--json").json.first?["at"] as? String)
        #expect(row == #"{"x":[{"a":2,"b":1}],"y":2,"é":null,"é2":0}"#)
        let changed = try work.importing(
            "3.json", #"[{"at":{"é2":0,"x":[{"a":2,"b":3}],"é":null,"y":2},"code":"a"}]"#,
            "--json")
        #expect(try Int(changed.json[0], "updated") == 1)
    }
}
