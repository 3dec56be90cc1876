// The tour of `cairn quickstart`.
//
//   1. Creates two releases of a list in a fresh folder.
//   2. Commands are printed and run as a user would run them: import, import over it, import again, query,
//      inspect, check.
//   3. Claims are verified, not only stated: the third import must not have created a commit.

import CairnInspection
import CairnLog
import CairnStore
import FoundationEssentials

/// A tour in its own folder.
struct QuickstartTour {
    let folder: String
    let asJSON: Bool
    let console: Console
    /// The command that called the tool, for commands that can be copied.
    let tool: String
    /// Runs a command line.
    let runCommand: ([String]) throws -> Void

    private var store: String { "\(folder)/quickstart.cairn" }
    private var first: String { "\(folder)/airports-2010.csv" }
    private var second: String { "\(folder)/airports-2024.csv" }

    func run() throws {
        try prepare()
        say(
            "Create a store from a list of airports as of 2010. You do not have to describe airports: the"
        )
        say("model is inferred from the list, and --unique declares what identifies an airport.")
        try step([
            "import", store, "--entity", "Airport", "--unique", "icao", "--unique", "iata", first,
        ])
        say(
            "Import the list of 2024 over it. New airports are inserted, changed ones are updated, and"
        )
        say("there are no duplicates, although IST and DOH now belong to different airports:")
        try step(["import", store, "--entity", "Airport", second])
        say("Importing the same list again changes nothing:")
        let before = try lastCommit()
        try step(["import", store, "--entity", "Airport", second])
        let after = try lastCommit()
        guard before == after else {
            throw Failure("there was a commit although nothing changed: \(after) after \(before)")
        }
        say("There was no commit: the last one is number \(after), before and after.\n")
        say("Query the store, with NSPredicate's format language:")
        try step([
            "query", store, "Airport", "--where",
            "elevation > 5000 OR city IN {'Istanbul', 'Doha', 'Berlin'}", "--sort",
            "country,-elevation", "--columns", "icao,iata,name,city,country,elevation",
        ])
        say("List what is inside the files: frames, each with its own checksums:")
        try step(["frames", store])
        say("Verify all of it:")
        try step(["check", store])
        closing()
    }

    // MARK: Steps

    private func prepare() throws {
        let files = FileManager.default
        guard !files.fileExists(atPath: store), !files.fileExists(atPath: first),
            !files.fileExists(atPath: second)
        else {
            throw Failure(
                "\(folder) already contains a tour: remove \(store) and the lists next to it, or choose"
                    + " another folder")
        }
        do {
            try files.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try Data(AirportReleases.first.utf8).write(to: URL(filePath: first))
            try Data(AirportReleases.second.utf8).write(to: URL(filePath: second))
        } catch {
            throw Failure("the tour's lists cannot be written to \(folder): \(error)")
        }
    }

    private func step(_ arguments: [String]) throws {
        if !asJSON { console.print(console.emphasized("\n  $ \(command(arguments))")) }
        try runCommand(arguments + (asJSON ? ["--json"] : []))
        if !asJSON { console.print() }
    }

    private func lastCommit() throws -> UInt64 {
        try StoreSession.reading(store) { try $0.store.snapshot().commit }
    }

    private func closing() {
        say("What to try next:\n")
        let next: [([String], String)] = [
            (["get", store, "Airport", "LTFM"], "get an object by key"),
            (["count", store, "Airport", "--where", "country == 'DE'"], "count objects"),
            (["delete", store, "Airport", "--where", "elevation == NULL"], "delete by condition"),
            (
                ["import", store, "--entity", "Airport", "--prune", second],
                "delete airports that closed"
            ),
            (["info", store], "describe the store"),
            (["model", store], "print the inferred model"),
            (["export", store], "export everything as JSON lines"),
        ]
        for (arguments, what) in next {
            say("  \(command(arguments))  # \(what)")
        }
        say("\nYour own list: \(tool) import mine.cairn --entity Thing --unique id list.json")
        say("All files are in \(folder), which you can delete.")
    }

    private func say(_ text: String) {
        if !asJSON { console.print(text) }
    }

    private func command(_ arguments: [String]) -> String {
        ([tool] + arguments).map(Self.quoted).joined(separator: " ")
    }

    /// Returns a word quoted for a shell.
    private static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"),
                UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
        if plain, !word.isEmpty { return word }
        guard word.contains("'") else { return "'\(word)'" }
        guard word.contains(where: { "\"$`\\!".contains($0) }) else { return "\"\(word)\"" }
        return "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
