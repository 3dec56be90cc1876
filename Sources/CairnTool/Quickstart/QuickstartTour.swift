// The tour that `cairn quickstart` gives.
//
//   1. A fresh folder gets two releases of a list.
//   2. Commands are printed and run as anybody could run them: import, import over it, import again, query,
//      look inside, check.
//   3. What was promised is looked at, not only said: the third import must not have made a commit.

import CairnInspection
import CairnLog
import CairnStore
import FoundationEssentials

/// A tour in a folder of its own.
struct QuickstartTour {
    let folder: String
    let asJSON: Bool
    let console: Console
    /// How the tool was called, for commands that can be copied.
    let tool: String
    /// Runs a command line.
    let runCommand: ([String]) throws -> Void

    private var store: String { "\(folder)/quickstart.cairn" }
    private var first: String { "\(folder)/airports-2010.csv" }
    private var second: String { "\(folder)/airports-2024.csv" }

    func run() throws {
        try prepare()
        say(
            "A list of airports as of 2010 becomes a store. Nobody said what an airport is: the model"
        )
        say("is inferred from the list, and --unique says what tells airports apart.")
        try step([
            "import", store, "--entity", "Airport", "--unique", "icao", "--unique", "iata", first,
        ])
        say("The list of 2024 goes over it. What is new is inserted, what changed is updated, and")
        say("nothing doubles, although IST and DOH belong to other airports now:")
        try step(["import", store, "--entity", "Airport", second])
        say("The same list once more changes nothing:")
        let before = try lastCommit()
        try step(["import", store, "--entity", "Airport", second])
        let after = try lastCommit()
        guard before == after else {
            throw Failure("a commit was made although nothing changed: \(after) after \(before)")
        }
        say("No commit was made: the last one is number \(after), before and after.\n")
        say("Questions, with the conditions of NSPredicate:")
        try step([
            "query", store, "Airport", "--where",
            "elevation > 5000 OR city IN {'Istanbul', 'Doha', 'Berlin'}", "--sort",
            "country,-elevation", "--columns", "icao,iata,name,city,country,elevation",
        ])
        say("What is inside the file: frames, each with its own checksums:")
        try step(["frames", store])
        say("And whether all of it is as it should be:")
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
                "\(folder) holds a tour already: remove \(store) and the lists beside it, or give"
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
            (["get", store, "Airport", "LTFM"], "one object by its key"),
            (["count", store, "Airport", "--where", "country == 'DE'"], "a number"),
            (["delete", store, "Airport", "--where", "elevation == NULL"], "by a condition"),
            (
                ["import", store, "--entity", "Airport", "--prune", second],
                "deletes the airports that closed"
            ),
            (["info", store], "what the store is"),
            (["model", store], "the model that was inferred"),
            (["export", store], "everything, as JSON lines"),
        ]
        for (arguments, what) in next {
            say("  \(command(arguments))  # \(what)")
        }
        say("\nYour own list: \(tool) import mine.cairn --entity Thing --unique id list.json")
        say("Everything lies in \(folder), which you can remove.")
    }

    private func say(_ text: String) {
        if !asJSON { console.print(text) }
    }

    private func command(_ arguments: [String]) -> String {
        ([tool] + arguments).map(Self.quoted).joined(separator: " ")
    }

    /// A word as a shell reads it.
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
