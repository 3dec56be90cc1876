// cairn import --dry-run: what an import would do, without doing it.

import Foundation
import Testing

@testable import CairnTool

@Suite("Dry runs of imports")
struct DryRunTests {
    @Test("What is told is what the import does, and nothing is written before")
    func sameReport() throws {
        let work = try Workplace()
        try work.importing("1.csv", "code,size\na,1\nb,2\nc,3\n")
        let before = cairn("export", work.store).output
        let list = "code,size\nb,2\nc,4\nd,5\nd,6\n"
        let dry = try work.importing("2.csv", list, "--dry-run", "--prune", "--json")
        #expect(dry.code == 0, "\(dry.errors)")
        #expect(cairn("export", work.store).output == before)
        let done = try work.importing("2.csv", list, "--prune", "--json")
        var told = try #require(try dry.json.first)
        var did = try #require(try done.json.first)
        #expect(told["dryRun"] as? Bool == true)
        #expect(told["commit"] is NSNull)
        #expect(did["commit"] as? Int == 3)
        #expect(did["deleted"] as? Int == 1)
        for key in ["dryRun", "commit", "seconds", "rowsPerSecond"] {
            told[key] = nil
            did[key] = nil
        }
        #expect((told as NSDictionary) == (did as NSDictionary))
        let text = try work.importing("3.csv", "code\nnew\n", "--dry-run")
        #expect(text.lines[0].hasPrefix("a dry run, nothing was written. Thing: 1 inserted"))
        #expect(cairn("count", work.store, "Thing").output == "3\n")
    }

    @Test("A dry run uses up no numbers of objects, and leaves the files as they are")
    func numbers() throws {
        let work = try Workplace()
        try work.importing("1.csv", "code,size\na,1\n")
        func bytes() throws -> [String: Int] {
            let files = FileManager.default
            return try files.contentsOfDirectory(atPath: work.store).reduce(into: [:]) {
                let path = "\(work.store)/\($1)"
                $0[$1] = try files.attributesOfItem(atPath: path)[.size] as? Int
            }
        }
        let before = try bytes()
        for _ in 0..<3 {
            try work.importing("2.csv", "code,size\nb,2\nc,3\n", "--dry-run")
        }
        #expect(try bytes() == before)
        try work.importing("2.csv", "code,size\nb,2\n")
        #expect(cairn("get", work.store, "Thing", "b", "--json").output.contains("\"p2\""))
    }

    @Test("What the import would refuse, the dry run refuses")
    func refusals() throws {
        let work = try Workplace()
        let list = try work.list("1.csv", "code,size\na,1\n")
        let missing = cairn(
            "import", work.store, list, "--entity", "Thing", "--unique", "code", "--dry-run")
        #expect(missing.code == 2)
        #expect(!FileManager.default.fileExists(atPath: work.store))
        try work.importing("1.csv", "code,size\na,1\n")
        #expect(try work.importing("2.csv", "code,size\na,x\n", "--dry-run").code == 1)
        #expect(try work.importing("2.csv", "code\n,\n", "--dry-run").code == 1)
        for option in ["--widen", "--add-fields", "--sample=3"] {
            #expect(try work.importing("2.csv", "code\na\n", "--dry-run", option).code == 2)
        }
    }
}
