// Processes that write one store at the same time and are killed, or stopped for a moment, at any point of it: while they wait
// for the lease, follow, write, sync, begin segments, take checkpoints, compact and give the lease back. The others go on at
// once, and nothing that a commit said to be done is lost.
//
// Each process has threads of its own, and objects that nobody else changes; all are in one log with one table of keys.

import CairnKilledWriter
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite(
    "Several processes that write one store and are killed",
    .enabled(if: ChildProcess.writer != nil))
struct KilledSharersTests {
    /// A process and what is known of its objects.
    private struct Sharer {
        var child: ChildProcess
        var model: WriterModel
        var returned: Int

        mutating func take(_ lines: [Substring]) throws {
            for line in lines {
                let words = line.split(separator: " ")
                switch words.first {
                case "done":
                    let commit = try #require(Int(words[2]))
                    try #require(commit == returned + 1)
                    returned = commit
                case "failed": throw ChildProcess.Failure(what: String(line))
                default: break
                }
            }
        }
    }

    private static let durabilities: [LogStoreOptions.Durability] = [.full, .grouped, .relaxed]

    @Test("Whoever is killed, every commit that returned is there, and the others go on")
    func killed() throws {
        let program: String = try #require(ChildProcess.writer)
        var commits = 0
        try Rounds.run("killed sharers", everyDay: 1, whole: 200) { random in
            let folder = try TemporaryDirectory()
            let seed = random.next() >> 8
            let durability = Self.durabilities.randomElement(using: &random)!
            func start(_ number: Int, _ commits: Int, _ random: inout RandomSource) throws
                -> ChildProcess
            {
                try ChildProcess(
                    program,
                    [
                        folder.path("store"), durability.rawValue, "\(seed)+\(number)",
                        "\([3, 10, 40, 200].randomElement(using: &random)!)", "\(commits)",
                    ])
            }
            var sharers: [Sharer] = []
            for number in 0..<Int.random(in: 2...4, using: &random) {
                sharers.append(
                    Sharer(
                        child: try start(number, 0, &random),
                        model: WriterModel(seed: seed, thread: number), returned: 0))
            }
            for _ in 0..<12 {
                let victim = Int.random(in: 0..<sharers.count, using: &random)
                try listen(&sharers, until: victim, says: Int.random(in: 0...60, using: &random))
                if random.oneIn(3) {
                    // The others wait for it, or do not need to.
                    sharers[victim].child.pause()
                    try listen(&sharers, for: .milliseconds(Int.random(in: 1...30, using: &random)))
                    sharers[victim].child.goOn()
                    continue
                }
                try sharers[victim].take(sharers[victim].child.end().lines)
                try settle(victim, &sharers, folder)
                sharers[victim].child = try start(victim, sharers[victim].returned, &random)
            }
            for number in sharers.indices {
                try sharers[number].take(sharers[number].child.end().lines)
            }
            for number in sharers.indices {
                try settle(number, &sharers, folder)
                commits += sharers[number].returned
            }
            let store = try WriterStore.open(folder.path("store"), .full)
            defer { try? store.close() }
            #expect(try store.check().findings.isEmpty)
        }
        printLine("killed sharers: \(commits) commits returned")
    }

    /// Reads what the processes say until one of them has said so many lines.
    private func listen(_ sharers: inout [Sharer], until wanted: Int, says count: Int) throws {
        var said = 0
        let end = ContinuousClock.now + .seconds(100)
        while said < count {
            for number in sharers.indices {
                guard
                    let lines = sharers[number].child.lines(
                        within: .milliseconds(number == wanted ? 1 : 0))
                else { throw ChildProcess.Failure(what: "process \(number) has ended") }
                if number == wanted { said += lines.count }
                try sharers[number].take(lines)
            }
            guard ContinuousClock.now < end else {
                throw ChildProcess.Failure(what: "process \(wanted) does not get its turn")
            }
        }
    }

    private func listen(_ sharers: inout [Sharer], for duration: Duration) throws {
        let end = ContinuousClock.now + duration
        while ContinuousClock.now < end {
            for number in sharers.indices {
                guard let lines = sharers[number].child.lines(within: .milliseconds(1)) else {
                    throw ChildProcess.Failure(what: "process \(number) has ended")
                }
                try sharers[number].take(lines)
            }
        }
    }

    /// The objects of a process that was killed are those after its last commit that returned, or after the next one.
    private func settle(_ number: Int, _ sharers: inout [Sharer], _ folder: TemporaryDirectory)
        throws
    {
        let store = try WriterStore.open(folder.path("store"), .full, timeout: 100)
        defer { try? store.close() }
        // What is there is known to whoever may write next.
        try store.engine.withLease { _ in }
        let found = try WriterStore.content(store)[number] ?? [:]
        var model = sharers[number].model
        while model.commits < sharers[number].returned { _ = model.advance() }
        if found != model.rows {
            _ = model.advance()
            guard found == model.rows else {
                throw ChildProcess.Failure(
                    what: "process \(number) has neither what it had after commit "
                        + "\(model.commits - 1), which returned, nor after the next one")
            }
        }
        sharers[number].model = model
        sharers[number].returned = model.commits
    }
}
