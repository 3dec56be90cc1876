// Processes that write and read one store at the same time, with all that they can do: upserts on shared keys, new objects
// for keys that only one may have, transfers whose sum must stay, deletions, compaction, backups, checks, closing and
// opening, at all durabilities at once, with one thread or two. They are killed and stopped at any moment.
//
// What they said and what the store's history says is checked for strict serialisability (SharedHistoryChecker). So no
// commit that returned is lost, and none is done twice.
//
// Every day some seconds with a few processes; a campaign is ten minutes with eight writers and four readers,
// CAIRN_CAMPAIGN=0.05 half a minute of that.

import CairnKilledWriter
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite(
    "Processes that do everything to one store at the same time",
    .enabled(if: ChildProcess.writer != nil))
struct SharingCampaignTests {
    /// Reads the store's history, and lets go of what was read.
    private struct Harvest {
        let store: LogStore
        private var token: PersistentHistoryToken?

        init(_ store: LogStore) { self.store = store }

        /// The commits since the last time.
        mutating func next() throws -> [SharedHistory.Commit] {
            // From here on everything is known that anybody has committed.
            try store.engine.withLease { _ in }
            var commits: [SharedHistory.Commit] = []
            let stream = try store.fetchHistory(.fetchHistory(after: token))
            while let transaction = try stream.next() {
                token = transaction.token
                // Compaction and the making of the store have no author.
                guard let author = transaction.author, let stamp = Int64(author) else { continue }
                commits.append(.init(number: transaction.transactionNumber, stamp: stamp))
            }
            return commits
        }

        func trim() throws {
            guard let token else { return }
            try store.execute(.deleteHistory(before: token))
        }
    }

    @Test("Whoever is killed or stopped: it is as if one after the other had been done")
    func campaign() throws {
        let program: String = try #require(ChildProcess.writer)
        let seconds = min(600, Campaign.count(8, whole: 600))
        try Rounds.run("sharing processes", everyDay: 1, whole: 1) { random in
            let folder = try TemporaryDirectory()
            do {
                try share(program, folder, seconds: seconds, &random)
            } catch {
                Issue.record("\(try keep(folder, random.seed)): \(error)")
            }
        }
    }

    private func share(
        _ program: String, _ folder: TemporaryDirectory, seconds: Int,
        _ random: inout RandomSource
    ) throws {
        let start = try SharedStore.make(folder.path("store"))
        let processes = try SharingProcesses(
            program, folder, start: start, seed: random.next() >> 8)
        let shared = try SharedStore(processes.storePath, .full)
        defer { try? shared.store.close() }
        var harvest = Harvest(shared.store)
        try processes.start(
            writers: Campaign.isLong ? 8 : 3, readers: Campaign.isLong ? 4 : 2, &random)
        let end = ContinuousClock.now + .seconds(seconds)
        var nextHarvest = ContinuousClock.now + .seconds(3)
        while ContinuousClock.now < end {
            try processes.listen(for: .milliseconds(Int.random(in: 1...250, using: &random)))
            try processes.disturb(&random)
            guard ContinuousClock.now > nextHarvest else { continue }
            // Who is stopped may have the turn.
            processes.wakeAll()
            processes.note(try harvest.next())
            try harvest.trim()
            nextHarvest = .now + .seconds(3)
        }
        try processes.endAll()
        processes.note(try harvest.next())
        try SharedStore.check(shared.store)
        let (commit, content) = try SharedStore.content(shared.store)
        processes.noteEnd(commit, content)
        try shared.store.close()
        let last = try SharedStore(processes.storePath, nil)
        defer { try? last.store.close() }
        try SharedStore.check(last.store)
        #expect(try SharedStore.content(last.store).1 == content)
        let violations = SharedHistoryChecker.check(processes.history)
        tell(processes, seconds)
        guard violations.isEmpty else {
            throw ChildProcess.Failure(
                what: violations.prefix(20).map { "\($0)" }.joined(separator: "\n"))
        }
    }

    private func tell(_ processes: SharingProcesses, _ seconds: Int) {
        let history = processes.history
        let unknown = history.events.filter { $0.outcome == nil && $0.operation.isWrite }
        let made = Set(history.commits.map(\.stamp))
        var counts: [Substring: Int] = [:]
        for event in history.events {
            counts[event.operation.text.prefix { $0 != " " }, default: 0] += 1
        }
        printLine(
            "sharing processes: \(history.events.count) operations in \(seconds) s, "
                + "\(history.commits.count) commits of them; \(processes.kills) kills, "
                + "\(processes.stops) stops; \(unknown.count) writes did not return, "
                + "\(unknown.filter { made.contains($0.stamp) }.count) of them are commits; "
                + counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", "))
    }

    /// Copies a store that is wrong, and what was said, to where they stay; says where.
    private func keep(_ folder: TemporaryDirectory, _ seed: UInt64) throws -> String {
        let place = FileManager.default.temporaryDirectory
            .appendingPathComponent("cairn-sharing-\(seed)")
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.copyItem(at: folder.url, to: place)
        return place.path
    }
}
