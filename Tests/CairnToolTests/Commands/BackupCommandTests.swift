// cairn backup: into a new folder, into an earlier backup, beside a process that writes, and where it refuses.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn backup")
struct BackupCommandTests {
    private static func list(_ rows: Int, size: Int) -> String {
        "code,size\n" + (0..<rows).map { "c\($0),\($0 + size)\n" }.joined()
    }

    @Test("A backup holds what the store holds, and the next one only adds to it")
    func twice() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.list(500, size: 0))
        let copy = work.folder.path("copy.cairn")
        let first = cairn("backup", work.store, copy)
        #expect(first.code == 0, "\(first.errors)")
        #expect(first.output.hasPrefix("\(copy): commit 2 of \(work.store), "))
        #expect(first.output.hasSuffix(" copied\n"))
        #expect(cairn("export", copy).output == cairn("export", work.store).output)
        #expect(cairn("check", copy).code == 0)
        try work.importing("2.csv", Self.list(600, size: 1))
        let second = cairn("backup", work.store, copy, "--json")
        let result = try #require(try second.json.first)
        #expect(result["incremental"] as? Bool == true)
        #expect(Int(result, "commit") == 3)
        #expect(
            try #require(Int(result, "copiedBytes")) < (try #require(Int(result, "bytes"))))
        #expect(cairn("export", copy).output == cairn("export", work.store).output)
        #expect(cairn("check", copy).code == 0)
        let again = cairn("backup", work.store, copy)
        #expect(again.output.hasSuffix(", 0 bytes copied, in addition to the earlier backup\n"))
    }

    @Test("--before-migration copies the store of the old model, until compaction has begun")
    func beforeMigration() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.list(500, size: 0))
        let copy = work.folder.path("old.cairn")
        let never = cairn("backup", work.store, copy, "--before-migration")
        #expect(never.code == 1)
        #expect(never.errors.contains("has never had another model"), "\(never.errors)")
        let before = cairn("export", work.store).output
        let schema = cairn("schema", work.store).output
        var model = try JSONDecoder().decode(
            ManagedObjectModel.self, from: Data(cairn("schema", work.store, "--json").output.utf8))
        model.entities[0].attributes.append(.init("age", .integer16))
        let file = try work.list("new.json", try model.json())
        #expect(cairn("migrate", work.store, "--to", file).code == 0)
        let run = cairn("backup", work.store, copy, "--before-migration")
        #expect(run.code == 0, "\(run.errors)")
        #expect(cairn("export", copy).output == before)
        #expect(cairn("schema", copy).output == schema)
        #expect(cairn("check", copy).code == 0)
        #expect(cairn("schema", work.store).output != schema)
        // It is a store like any: it follows the same model again.
        #expect(cairn("migrate", copy, "--to", file).code == 0)
        #expect(cairn("export", copy).output == cairn("export", work.store).output)
    }

    @Test("What is no place for a backup is left alone, and the message says why")
    func refused() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.list(10, size: 0))
        for (place, what) in [
            (work.store, "cannot be a backup of itself"), (work.store + "/copy", "own folder"),
            (work.folder.path, "not empty"),
        ] {
            let run = cairn("backup", work.store, place)
            #expect(run.code == 1)
            #expect(run.errors.contains(what), "\(run.errors)")
            #expect(run.errors.contains(place))
        }
        #expect(cairn("backup", work.folder.path("none"), work.folder.path("copy")).code == 1)
        #expect(cairn("backup", work.store).code == 2)
        // A backup that somebody has written to.
        let copy = work.folder.path("copy.cairn")
        #expect(cairn("backup", work.store, copy).code == 0)
        let list = try work.list("more.csv", Self.list(20, size: 5))
        #expect(cairn("import", copy, list, "--entity", "Thing").code == 0)
        let before = cairn("export", copy).output
        let run = cairn("backup", work.store, copy)
        #expect(run.code == 1)
        #expect(run.errors.contains("segment 1, offset"), "\(run.errors)")
        #expect(cairn("export", copy).output == before)
    }

    @Test(
        "Backups beside a process that imports hold the list before or after one of its imports",
        .enabled(if: ToolProcess.url != nil))
    func beside() throws {
        let work = try Workplace()
        let lists = try (0..<3).map { try work.list("\($0).csv", Self.list(2000 + $0, size: $0)) }
        #expect(
            cairn("import", work.store, lists[0], "--entity", "Thing", "--unique", "code").code
                == 0)
        var contents = [cairn("export", work.store).output]
        let copy = work.folder.path("copy.cairn")
        for list in lists[1...] {
            let process = Process()
            let tool: URL = try #require(ToolProcess.url)
            process.executableURL = tool
            process.arguments = ["import", work.store, list, "--entity", "Thing"]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            var copies: [String] = []
            let wait = OpenWait(for: "the import to end")
            defer { wait.end() }
            repeat {
                let run = cairn("backup", work.store, copy)
                #expect(run.code == 0, "\(run.errors)")
                copies.append(cairn("export", copy).output)
            } while process.isRunning
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            contents.append(cairn("export", work.store).output)
            #expect(copies.allSatisfy { contents.suffix(2).contains($0) })
        }
        #expect(cairn("backup", work.store, copy).code == 0)
        #expect(cairn("export", copy).output == contents.last)
    }
}
