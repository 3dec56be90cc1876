// Events as entries of a log.

import CairnInstruments
import CairnModel
import CairnObjects
import CairnStore
import InMemoryLogging
import Logging
import Testing

@Suite("Events for swift-log")
struct LogInstrumentTests {
    private func run(_ level: Logger.Level, includesValues: Bool = false) throws
        -> [InMemoryLogHandler.Entry]
    {
        let handler = InMemoryLogHandler()
        var logger = Logger(label: "kitchen") { _ in handler }
        logger.logLevel = level
        try Work.run([LogInstrument(logger: logger, includesValues: includesValues)])
        return handler.entries
    }

    @Test("Fetches, saves, batches and advice come at the level debug, faults at trace")
    func levels() throws {
        let entries = try run(.trace)
        let messages = Dictionary(grouping: entries, by: { "\($0.message)" })
        #expect(
            messages.mapValues(\.count) == [
                "cairn fetched": 3, "cairn fault fired": 90, "cairn saved": 2,
                "cairn batch executed": 1, "cairn objects refreshed": 1, "cairn advice": 1,
            ])
        for entry in entries {
            #expect(entry.level == ("\(entry.message)" == "cairn fault fired" ? .trace : .debug))
        }
    }

    @Test("At the level debug faults are not told of, and above it nothing is")
    func quieter() throws {
        let entries = try run(.debug)
        #expect(entries.count == 8)
        #expect(!entries.contains { "\($0.message)" == "cairn fault fired" })
        #expect(try run(.info).isEmpty)
        let silent = Logger(label: "kitchen") { _ in InMemoryLogHandler() }
        #expect(LogInstrument(logger: silent).interests == [])
    }

    @Test("What an event is about stands under dotted keys, with a time")
    func metadata() throws {
        let entries = try run(.trace)
        var fetch = try #require(entries.first { "\($0.message)" == "cairn fetched" }).metadata
        let time = fetch.removeValue(forKey: "cairn.milliseconds")
        #expect(time.map { "\($0)" }?.wholeMatch(of: /\d+\.\d{3}/) != nil)
        #expect(
            fetch == [
                "cairn.kind": "objects", "cairn.entity": "Recipe", "cairn.count": "30",
                "cairn.request": "Recipe where title != $value", "cairn.context": "list",
            ])
        let prefetch = try #require(entries.first { $0.metadata["cairn.kind"] == "prefetch" })
        #expect(prefetch.metadata["cairn.key_path"] == "type")
        let misses = entries.filter { $0.metadata["cairn.miss"] == "true" }
        #expect(misses.count == 30)
        #expect(misses.allSatisfy { $0.metadata["cairn.entity"] == "Type" })
        let saves = entries.filter { "\($0.message)" == "cairn saved" }.map(\.metadata)
        #expect(saves[0]["cairn.updated"] == "1" && saves[0]["cairn.error"] == nil)
        #expect(saves[1]["cairn.error"] == "133021" && saves[1]["cairn.conflicts"] == "1")
        let batch = try #require(entries.first { "\($0.message)" == "cairn batch executed" })
        #expect(batch.metadata["cairn.inserted"] == "2" && batch.metadata["cairn.kind"] == "insert")
        let advice = try #require(entries.first { "\($0.message)" == "cairn advice" })
        #expect(advice.metadata["cairn.key_path"] == "type")
        #expect(
            advice.metadata["cairn.advice"].map { "\($0)" }?.contains(
                "relationshipKeyPathsForPrefetching = [\"type\"]") == true)
    }

    @Test("Values of objects are logged only if that is wanted")
    func values() throws {
        func text(_ entries: [InMemoryLogHandler.Entry]) -> String {
            entries.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n")
        }
        #expect(!text(try run(.trace)).contains("secret"))
        #expect(text(try run(.trace, includesValues: true)).contains("title != 'secret'"))
    }
}
