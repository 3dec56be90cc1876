// The command line itself: what makes sense, exit codes, errors as JSON.

import ArgumentParser
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("The command line")
struct CommandLineTests {
    @Test(
        "a command line that makes no sense ends with 2 and says why",
        arguments: [
            ["nonsense"], ["import"], ["import", "s"], ["import", "s", "f"], ["query", "s"],
            ["count"], ["query", "s", "E", "--limit", "x"], ["query", "s", "E", "--limit", "-1"],
            ["import", "s", "f", "--entity", "E", "--policy", "mine"],
            ["import", "s", "f", "--entity", "E", "--model", "m", "--unique", "a"],
            ["import", "s", "f", "--entity", "E", "--allow-empty"],
            ["import", "s", "f", "--entity", "E", "--unique", ""],
            ["import", "s", "f", "--entity", "E", "--unique", "a,,b"],
            ["import", "s", "f", "--entity", "E", "--map", "a"],
            ["delete", "s", "E"], ["delete", "s", "E", "--all", "--where", "a == 1"],
            ["info", "s", "--nonsense"], ["get", "s", "E"], ["quickstart", "a", "b"],
            ["report"], ["report", "s", "--depth", "deep"], ["report", "s", "-o", "-", "--json"],
            ["model", "m", "--svg", "--hashes"], ["model", "m", "--svg", "--json"],
        ])
    func usage(arguments: [String]) throws {
        let plain = run(arguments)
        #expect(plain.code == 2)
        #expect(plain.output.isEmpty)
        #expect(!plain.errors.isEmpty)
        let json = run(arguments + ["--json"])
        #expect(json.code == 2)
        #expect(Int(try json.error, "exit") == 2)
    }

    @Test("a condition that cannot be read ends with 2 and shows the place")
    func condition() throws {
        let work = try Workplace()
        try work.importing("1.csv", "code\na\n")
        let run = cairn("query", work.store, "Thing", "--where", "code ==")
        #expect(run.code == 2)
        #expect(run.errors.contains("^"))
        let unknown = cairn("count", work.store, "Thing", "--where", "colour == 1")
        #expect(unknown.code == 1)
        #expect(unknown.errors.contains("colour"))
        #expect(cairn("query", work.store, "Thing", "--sort", "colour").code == 1)
        #expect(cairn("query", work.store, "Thing", "--columns", "colour").code == 1)
    }

    @Test(
        "help and version are no errors",
        arguments: [["--help"], ["help", "import"], ["import", "--help"], ["--version"], []])
    func help(arguments: [String]) {
        let help = run(arguments)
        #expect(help.code == 0)
        #expect(!help.output.isEmpty)
        #expect(help.errors.isEmpty)
    }

    @Test("the help has no blanks in the middle of its sentences")
    func blanks() {
        func look(at command: any ParsableCommand.Type, _ name: String) {
            for text in [command.configuration.abstract, command.configuration.discussion] {
                for line in text.split(separator: "\n") {
                    // A table has some after its first word.
                    let words = line.split(separator: " ", maxSplits: 1).last ?? ""
                    #expect(!words.drop { $0 == " " }.contains("  "), "\(name): \(line)")
                }
            }
            for inner in command.configuration.subcommands { look(at: inner, "\(inner)") }
        }
        #expect(!CairnCommand.configuration.subcommands.isEmpty)
        look(at: CairnCommand.self, "cairn")
    }

    @Test("the exit codes are in the help")
    func documented() {
        let help = cairn("--help").output
        for code in [
            "0 success", "1 the command failed", "2 the command line", "3 the store is damaged",
        ] {
            #expect(
                help.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(code))
        }
    }

    @Test(
        "a store that is not there is an error in every command, and none is made",
        arguments: [
            ["query", "STORE", "E"], ["count", "STORE", "E"], ["get", "STORE", "E", "k"],
            ["delete", "STORE", "E", "--all"], ["info", "STORE"], ["frames", "STORE"],
            ["check", "STORE"], ["export", "STORE"], ["history", "STORE"], ["report", "STORE"],
        ])
    func missing(arguments: [String]) throws {
        let work = try Workplace()
        let missing = run(arguments.map { $0 == "STORE" ? work.store : $0 })
        #expect(missing.code == 1)
        #expect(missing.errors.contains(work.store))
        #expect(!FileManager.default.fileExists(atPath: work.store))
    }

    @Test("a folder that holds something else is left alone")
    func foreignFolder() throws {
        let work = try Workplace()
        let file = try work.list("note.txt", "mine")
        let list = try work.list("1.csv", "code\na\n")
        let failed = cairn("import", work.folder.path, list, "--entity", "E", "--unique", "code")
        #expect(failed.code == 1)
        #expect(FileManager.default.fileExists(atPath: file))
        #expect(FileManager.default.fileExists(atPath: list))
    }
}
