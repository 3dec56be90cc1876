// The commands for the worst day: check at its depths, info without opening, salvage.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("Commands on a damaged store")
struct DamageCommandsTests {
    private func filled() throws -> Workplace {
        let work = try Workplace()
        try work.importing(
            "1.json",
            """
            [{"code":"a","name":"Anna","size":1},{"code":"b","name":"Ben","size":20},\
            {"code":"c","name":null,"size":3}]
            """)
        try work.importing("2.json", #"[{"code":"d","name":"Dora","size":4}]"#)
        return work
    }

    /// Changes a byte in the payload of a frame; gives the frame's offset.
    @discardableResult
    private func damage(_ work: borrowing Workplace, _ kind: String, byte: Int = 80) throws -> Int {
        let url = URL(fileURLWithPath: work.store + "/0000000001.segment")
        var bytes = try Data(contentsOf: url)
        let frame = try #require(
            try cairn("frames", work.store, "--json").json.last { $0["kind"] as? String == kind })
        let offset = try #require(Int(frame, "offset"))
        bytes[offset + byte] ^= 1
        try bytes.write(to: url)
        return offset
    }

    @Test("check looks as deep as it is told to")
    func depths() throws {
        let work = try filled()
        for depth in ["headers", "frames", "blocks", "all"] {
            let run = cairn("check", work.store, "--depth", depth, "--json")
            #expect(run.code == 0, "\(run.errors)")
            let report = try #require(try run.json.first)
            #expect(report["depth"] as? String == depth)
            #expect(
                Int(report, "frames") == Int(try cairn("frames", work.store, "--json").json.count))
            #expect(Int(report, "rows") == (depth == "headers" || depth == "frames" ? 0 : 4))
        }
        #expect(cairn("check", work.store, "--depth", "deep").code == 2)
        let offset = try damage(work, "block")
        #expect(cairn("check", work.store, "--depth", "headers").code == 0)
        let found = cairn("check", work.store, "--depth", "frames", "--json")
        #expect(found.code == 3)
        let findings = try #require(try found.error["findings"] as? [[String: Any]])
        #expect(findings.contains { Int($0, "offset") == offset })
    }

    @Test("check says how far it is where that is asked for, on standard error")
    func progress() throws {
        let work = try filled()
        let run = cairn("check", work.store, "--progress")
        #expect(run.errors.contains("checking log: 100 %"))
        #expect(run.errors.contains("checking indexes: 100 %"))
        #expect(cairn("check", work.store).errors.isEmpty)
    }

    @Test("info tells what the files say, and what opening would be")
    func info() throws {
        let work = try filled()
        let info = try #require(try cairn("info", work.store, "--quick", "--json").json.first)
        #expect(info["closed"] as? Bool == true)
        #expect(info["needsRecovery"] as? Bool == true)
        #expect(Int(info, "commitsToRead") == 3)
        #expect(info["entities"] == nil)
        let segments = try #require(info["segments"] as? [[String: Any]])
        #expect(segments.map { $0["kind"] as? String } == ["main"])
        #expect(cairn("info", work.store, "--quick").output.contains("mark         commit 3"))
        try damage(work, "block")
        let quick = cairn("info", work.store, "--quick")
        #expect(quick.code == 0)
        let full = cairn("info", work.store)
        #expect(full.code == 3)
        #expect(full.output.contains("last commit  3"))
    }

    @Test("salvage writes a store of what is left, and ends with 4 if something is lost")
    func salvage() throws {
        let work = try filled()
        let whole = work.folder.path("whole.cairn")
        let first = cairn("salvage", work.store, whole)
        #expect(first.code == 0, "\(first.errors)")
        #expect(first.output.contains("nothing is lost"))
        #expect(cairn("export", whole).output == cairn("export", work.store).output)
        #expect(cairn("salvage", work.store, whole).code == 1)

        // The last block has one row; its head is what is broken.
        let offset = try damage(work, "block", byte: 58)
        let rest = work.folder.path("rest.cairn")
        let run = cairn("salvage", work.store, rest, "--json")
        #expect(run.code == 4)
        #expect(Int(try run.error, "exit") == 4)
        let report = try #require(try run.json.first)
        #expect(Int(report, "kept") == 3)
        #expect(report["whole"] as? Bool == false)
        let segment = try #require((report["segments"] as? [[String: Any]])?.first)
        let range = try #require((segment["unusable"] as? [[String: Any]])?.first)
        #expect(Int(range, "start") == offset)
        #expect(range["kind"] as? String == "block")
        #expect(cairn("check", rest).code == 0)
        #expect(cairn("count", rest, "Thing").output == "3\n")
        let text = cairn("salvage", work.store, work.folder.path("text.cairn"))
        #expect(text.code == 4)
        #expect(text.output.contains("\(offset) to"))
    }

    @Test("A migration says which store is damaged")
    func migration() throws {
        let work = try filled()
        let model = try work.list("later.json", cairn("schema", work.store, "--json").output)
        try damage(work, "schema")
        for more in [[], ["--dry-run"]] {
            let run = run(["migrate", work.store, "--to", model] + more)
            #expect(run.code == 3)
            #expect(run.errors.contains(work.store), "\(run.errors)")
        }
    }

    @Test("Without its schema a store is salvaged with the model of another one, or of a file")
    func schema() throws {
        let work = try filled()
        let twin = try filled()
        try damage(work, "schema")
        let failed = cairn("salvage", work.store, work.folder.path("no.cairn"))
        #expect(failed.code == 3)
        #expect(failed.errors.contains("model"))
        let new = work.folder.path("new.cairn")
        let run = cairn("salvage", work.store, new, "--model", twin.store, "--keep-id")
        #expect(run.code == 0, "\(run.errors) \(run.output)")
        #expect(cairn("export", new).output == cairn("export", twin.store).output)
        let id = { try cairn("info", $0, "--quick", "--json").json.first?["id"] as? String }
        #expect(try id(new) == id(work.store))
        let model = try work.list("model.json", cairn("model", twin.store, "--json").output)
        let other = work.folder.path("other.cairn")
        let again = cairn("salvage", work.store, other, "--model", model)
        #expect(again.code == 0, "\(again.errors)")
        #expect(cairn("export", other).output == cairn("export", twin.store).output)
    }
}
