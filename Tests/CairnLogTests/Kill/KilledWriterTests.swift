// Processes that are killed at any moment of opening, writing, checkpoints, compaction and closing lose nothing that was
// written, whatever the durability: what is lost with a process is only what was in its memory.
//
// The child says which commits returned; what they did is known without the store (WriterModel), and noted in a
// file outside of it. After each kill every thread's objects must be those after the last commit that returned,
// or after the one that was under way; and everything in the store must fit together.

import CairnKilledWriter
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("A writer that is killed", .enabled(if: ChildProcess.writer != nil))
struct KilledWriterTests {
    /// What is expected of a store that is killed again and again.
    private struct Expected {
        let seed: UInt64
        /// By thread: what it had stored when the store was looked at last.
        var models: [WriterModel]
        /// By thread: the last commit that returned.
        var returned: [Int]
        /// Where in its life the child was killed: what it had said last.
        var stage = "started"
        /// What the history says; nil if the store keeps none.
        var replay: HistoryReplay?

        init(seed: UInt64, threads: Int, tracksHistory: Bool = false) {
            self.seed = seed
            replay = tracksHistory ? HistoryReplay() : nil
            models = (0..<threads).map { WriterModel(seed: seed, thread: $0) }
            returned = models.map { _ in 0 }
        }

        mutating func take(_ lines: [Substring]) throws {
            for line in lines {
                let words = line.split(separator: " ")
                switch words.first {
                case "done":
                    let thread = try #require(Int(words[1]))
                    let commit = try #require(Int(words[2]))
                    try #require(commit == returned[thread] + 1)
                    returned[thread] = commit
                    stage = "writing"
                case "failed": throw ChildProcess.Failure(what: String(line))
                default: stage = String(line)
                }
            }
        }

        var text: String { returned.map { "\($0)\n" }.joined() }
    }

    private static let durabilities: [LogStoreOptions.Durability] = [.full, .grouped, .relaxed]

    @Test(
        "Whenever it is killed, every commit that returned is there, and nothing but the next one (CM2)"
    )
    func killed() throws {
        let program: String = try #require(ChildProcess.writer)
        var stages: [String: Int] = [:]
        var commits = 0
        var store = 0
        var expected = Expected(seed: 0, threads: 1)
        var folder = try TemporaryDirectory()
        try Rounds.run("killed writers", everyDay: 6, whole: 10_000) { random in
            // A new store now and then, so that making one is interrupted too.
            if store == 0 {
                store = Int.random(in: 1...60, using: &random)
                folder = try TemporaryDirectory()
                expected = Expected(
                    seed: random.next(), threads: Int.random(in: 1...4, using: &random),
                    tracksHistory: random.oneIn(2))
            }
            store -= 1
            let before = expected.returned.reduce(0, +)
            try live(program, folder, &expected, &random)
            commits += expected.returned.reduce(0, +) - before
            stages[expected.stage, default: 0] += 1
            do {
                try look(folder, &expected)
            } catch {
                Issue.record("\(try keep(folder, expected, random.seed)): \(error)")
                store = 0
            }
        }
        printLine("killed writers: \(commits) commits returned; killed when they said \(stages)")
    }

    /// Starts a writer, listens to it, and kills it.
    private func live(
        _ program: String, _ folder: TemporaryDirectory, _ expected: inout Expected,
        _ random: inout RandomSource
    ) throws {
        let durability = Self.durabilities[Int.random(in: 0..<3, using: &random)]
        let session = [1, 3, 10, 40, 200][Int.random(in: 0..<5, using: &random)]
        let child = try ChildProcess(
            program,
            [
                folder.path("store"),
                durability.rawValue + (expected.replay == nil ? "" : ",history"),
                "\(expected.seed)", "\(session)",
            ] + expected.models.map { "\($0.commits)" })
        expected.stage = "started"
        // Some die while they start or open, most after a number of lines that they said.
        let wanted = random.oneIn(4) ? 0 : 1 + Int(1 << Int.random(in: 0..<8, using: &random))
        var said = 0
        while said < wanted {
            guard let lines = child.lines(within: .seconds(60)) else { break }
            guard !lines.isEmpty else {
                throw ChildProcess.Failure(what: "a writer that says nothing for a minute")
            }
            said += lines.count
            try expected.take(lines)
        }
        let longest = wanted == 0 ? 30_000 : 3000
        let moment =
            ContinuousClock.now
            + .microseconds(Int.random(in: 0...longest, using: &random))
        while ContinuousClock.now < moment {
            guard let lines = child.lines(within: moment - ContinuousClock.now) else { break }
            try expected.take(lines)
        }
        let (lines, wasKilled) = child.end()
        try expected.take(lines)
        #expect(wasKilled, "a writer goes on until it is killed")
        try Data(expected.text.utf8).write(to: folder.url("expected"))
    }

    /// Opens the store to read it and compares it with what is expected; what is there is expected then.
    private func look(_ folder: TemporaryDirectory, _ expected: inout Expected) throws {
        var content: [Int: [String: WriterModel.Values]] = [:]
        do {
            let store = try WriterStore.open(folder.path("store"), .full, isReadOnly: true)
            defer { try? store.close() }
            content = try WriterStore.content(store)
            let findings = try store.check().findings
            guard findings.isEmpty else {
                throw ChildProcess.Failure(what: "check finds \(findings)")
            }
            // It may have been killed before it began the history.
            if store.historyTracking != .off { try expected.replay?.follow(store) }
        } catch let error as StoreError
            where error.code == .openFailed && expected.returned.allSatisfy({ $0 == 0 })
        {
            // Its creation did not finish, and nobody was told that it did.
        }
        for (thread, old) in expected.models.enumerated() {
            var model = old
            while model.commits < expected.returned[thread] { _ = model.advance() }
            let found = content[thread] ?? [:]
            if found != model.rows {
                // The commit that was under way.
                _ = model.advance()
                guard found == model.rows else {
                    throw ChildProcess.Failure(
                        what: "thread \(thread) has neither what it had after commit "
                            + "\(model.commits - 1), which returned, nor after the next one")
                }
            }
            expected.models[thread] = model
            expected.returned[thread] = model.commits
        }
        guard content.keys.allSatisfy({ $0 < expected.models.count }) else {
            throw ChildProcess.Failure(what: "objects of a thread that never was")
        }
    }

    /// Copies a store that is wrong to where it stays; says where.
    private func keep(_ folder: TemporaryDirectory, _ expected: Expected, _ seed: UInt64) throws
        -> String
    {
        let place = FileManager.default.temporaryDirectory
            .appendingPathComponent("cairn-killed-\(seed)")
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.copyItem(at: folder.url, to: place)
        return "\(place.path), killed when it said \(expected.stage)"
    }
}
