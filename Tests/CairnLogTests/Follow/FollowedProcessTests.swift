// A reader in this process follows writers in processes of their own, which are killed at any moment.
//
// The child says which commits returned, and what each did is known without the store (WriterModel). So whatever the
// reader shows must be what each thread had after one of its commits: none before the last one that was seen, none
// that was not begun, and with full durability none before the last one that had returned when it looked.

import CairnKilledWriter
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Following a process that is killed", .enabled(if: ChildProcess.writer != nil))
struct FollowedProcessTests {
    /// What a child says.
    private struct Told {
        /// By thread: the last commit that returned.
        var returned: [Int]
        var isOpen = false

        mutating func take(_ lines: [Substring]) throws {
            for line in lines {
                let words = line.split(separator: " ")
                switch words.first {
                case "done":
                    let thread = try #require(Int(words[1]))
                    returned[thread] = try #require(Int(words[2]))
                case "opened": isOpen = true
                case "failed": throw ChildProcess.Failure(what: String(line))
                default: break
                }
            }
        }
    }

    @Test("What is shown is what the writer had at a commit, and it never goes back")
    func followed() throws {
        let program: String = try #require(ChildProcess.writer)
        try Rounds.run("followed processes", everyDay: 2, whole: 500) { random in
            let folder = try TemporaryDirectory()
            let seed = random.next()
            let threads = Int.random(in: 1...3, using: &random)
            var models = (0..<threads).map { WriterModel(seed: seed, thread: $0) }
            var seen = models
            var reader: LogStore?
            defer { try? reader?.close() }
            // The history leads from each state that is shown to the next one.
            let tracksHistory = random.oneIn(2)
            var replay = HistoryReplay()
            for life in 0..<5 {
                let durability = LogStoreOptions.Durability.allCases
                    .randomElement(using: &random)!
                let child = try ChildProcess(
                    program,
                    [
                        folder.path("store"),
                        durability.rawValue + (tracksHistory ? ",history" : ""), "\(seed)", "40",
                    ]
                        + models.map { "\($0.commits)" })
                var told = Told(returned: models.map(\.commits))
                func listen(_ duration: Duration) throws {
                    guard let lines = child.lines(within: duration) else { return }
                    try told.take(lines)
                }
                while !told.isOpen {
                    guard let lines = child.lines(within: .seconds(60)), !lines.isEmpty else {
                        throw ChildProcess.Failure(what: "the writer does not open the store")
                    }
                    try told.take(lines)
                }
                let store =
                    try reader ?? WriterStore.open(folder.path("store"), .full, isReadOnly: true)
                reader = store
                for _ in 0..<Int.random(in: 1...12, using: &random) {
                    try listen(.milliseconds(Int.random(in: 0...20, using: &random)))
                    let before = told.returned
                    try store.refresh()
                    let content = try WriterStore.content(store)
                    try listen(.zero)
                    for thread in models.indices {
                        let atLeast = durability == .full ? before[thread] : seen[thread].commits
                        try advance(
                            &seen[thread], to: content[thread] ?? [:], atLeast: atLeast,
                            atMost: told.returned[thread] + 1, "life \(life), \(durability)")
                    }
                    // A writer that does not wait for the disk has begun it before it says so, and the reader sees it later.
                    if tracksHistory, try store.historyBounds() != nil || !content.isEmpty {
                        try replay.follow(store)
                    }
                }
                let (lines, _) = child.end()
                try told.take(lines)
                // What the next child goes on from.
                let rest = try WriterStore.open(folder.path("store"), .full)
                let content = try WriterStore.content(rest)
                for thread in models.indices {
                    try advance(
                        &models[thread], to: content[thread] ?? [:],
                        atLeast: told.returned[thread], atMost: told.returned[thread] + 1,
                        "after life \(life), \(durability)")
                }
                try rest.close()
                try store.refresh()
                #expect(try SampleStore.text(store) == (try Self.text(folder)))
                #expect(try store.check().findings.isEmpty)
                if tracksHistory {
                    try replay.follow(store)
                    for thread in models.indices {
                        let wrote = "thread \(thread)"
                        #expect(replay.counts[wrote] ?? 0 >= Self.changes(of: models[thread]))
                    }
                }
                seen = models
            }
        }
    }

    /// How many of a thread's commits changed what it has stored.
    private static func changes(of model: WriterModel) -> Int {
        var replayed = WriterModel(seed: model.seed, thread: model.thread)
        var count = 0
        while replayed.commits < model.commits {
            let before = replayed.rows
            _ = replayed.advance()
            if replayed.rows != before { count += 1 }
        }
        return count
    }

    private static func text(_ folder: TemporaryDirectory) throws -> String {
        let store = try WriterStore.open(folder.path("store"), .full)
        defer { try? store.close() }
        return try SampleStore.text(store)
    }

    /// Brings a model to what was found.
    private func advance(
        _ model: inout WriterModel, to found: [String: WriterModel.Values], atLeast: Int,
        atMost: Int, _ what: String
    ) throws {
        let start = model.commits
        while model.commits < atLeast { _ = model.advance() }
        while model.rows != found, model.commits < atMost { _ = model.advance() }
        guard model.rows == found else {
            throw ChildProcess.Failure(
                what: "thread \(model.thread), \(what): not what it had after any of the commits "
                    + "from \(max(start, atLeast)) to \(atMost)")
        }
    }
}
