// How past states are made: what going from one to the next costs, which checkpoints they begin with, and what is said when they
// are gone.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Reading past states")
struct PastReadingTests {
    @Test("Who goes from commit to commit reads what they hold, and looks through no folder")
    func steps() throws {
        let disk = FaultInjectingFileSystem(over: MemoryFileSystem())
        let store = try PastStateTests.open(disk) {
            $0.sizes.segmentBytes = 8 << 20
            $0.sizes.fillBytes = 8 << 20
        }
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        let bounds = try #require(try store.pastStateBounds())
        _ = try store.snapshot(at: bounds.horizon + 1)
        let calls = disk.history.count
        for number in bounds.horizon + 2...bounds.horizon + 12 {
            #expect(try store.snapshot(at: number).commit == number)
        }
        let made = disk.history.dropFirst(calls)
        #expect(!made.contains { $0.operation == .list || $0.operation == .open }, "\(made)")
        let bytes = made.reduce(0) { $0 + ($1.length ?? 0) }
        #expect(bytes < 11 * (200 << 10), "\(bytes)")
        for number in bounds.horizon + 2...bounds.horizon + 12 {
            guard let text = contents.texts[number] else { continue }
            #expect(try PastContents.text(store, try store.snapshot(at: number)) == text)
        }
        // However often they are read, each segment is lent once to a state.
        #expect(store.engine.reader.largeValues.lentSegments <= 4)
        try store.close()
    }

    /// A text that has a frame of its own, as the key of an object.
    private static func longKey(_ store: LogStore, _ round: Int) throws {
        var request = BatchInsertRequest(
            entityName: "Airport",
            objects: [
                ["code": String(repeating: "key", count: 3000), "elevation": round]
            ])
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try store.execute(request)
    }

    @Test("A checkpoint is read on from, whose segments were retired since")
    func retiredSinceCheckpoint() throws {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk) { $0.sizes.checkpointBytes = 1 << 30 }
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        try Self.longKey(store, 1)
        try store.engine.takeCheckpoint()
        let first = try store.snapshot().commit
        try store.engine.rollSegment()
        try Self.longKey(store, 2)
        _ = try store.compact()
        let last = try store.snapshot().commit
        try CompactionTests.update(store, 0..<3, 500)
        try store.close()

        let again = try PastStateTests.open(disk, nil)
        let commits = try CheckpointReader.commits(in: again.engine.files)
        #expect(commits.contains(first), "\(commits)")
        // It is not made anew from the whole log.
        for number in first...last {
            _ = try again.engine.pastLine(to: number, usesCheckpoints: true)
        }
        try again.close()
    }

    @Test("Only checkpoints stay that the log can be read from, and the newest one in any case")
    func shelf() throws {
        let disk = MemoryFileSystem()
        var random = RandomSource(seed: 9)
        let store = try PastStateTests.open(disk) { $0.sizes.checkpointBytes = 12 << 10 }
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        for round in 0..<6 {
            try store.engine.takeCheckpoint()
            try CompactionTests.update(store, 0..<180, 600 + round)
            try contents.note(store)
            _ = try store.compact()
            try contents.note(store)
        }
        try store.engine.takeCheckpoint()
        let before = try CheckpointReader.commits(in: store.engine.files)
        #expect(before.count > 2, "\(before)")
        // Behind the oldest segments were adopted and retired that are gone then.
        let bounds = try #require(try store.pastStateBounds())
        for part in [UInt64(3), 2] {
            try store.purgePastStates(before: bounds.last - (bounds.last - bounds.horizon) / part)
            let now = try #require(try store.pastStateBounds())
            let commits = try CheckpointReader.commits(in: store.engine.files)
            #expect(commits.first == before.first)
            for commit in commits {
                _ = try store.engine.pastLine(
                    to: max(commit, now.horizon), usesCheckpoints: true)
            }
            #expect(commits.dropFirst().allSatisfy { $0 >= now.horizon || $0 == commits.last })
            #expect(try contents.problems(store, &random) == [])
            try store.engine.synchronize()
            let report = try LogStore.check(
                at: "/store", options: Self.checking(try DiskImage(of: disk).disk()))
            #expect(report.findings.isEmpty, "\(report.findings)")
            #expect(report.notes.isEmpty, "\(report.notes)")
        }
        try store.close()
    }

    private static func checking(_ disk: any FileSystem) -> LogStoreOptions {
        var options = FollowingStores.reading(disk)
        options.sizes = CompactionTests.options(on: disk).sizes
        return options
    }

    @Test("A checkpoint of a later commit than is known is left alone")
    func laterCheckpoint() throws {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk)
        let first = try store.snapshot().commit
        try CompactionTests.update(store, 0..<9, 1)
        try store.engine.takeCheckpoint()
        let newest = try store.snapshot().commit
        var shelf = store.engine.checkpointShelf
        shelf.horizon = nil
        shelf.prune(upTo: first)
        #expect(try CheckpointReader.commits(in: store.engine.files).first == newest)
        shelf.prune(upTo: newest)
        #expect(try CheckpointReader.commits(in: store.engine.files) == [newest])
        try store.close()
    }

    @Test("A checkpoint that leads nowhere any more is no damage, but worth a note")
    func uselessCheckpoint() throws {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk) { $0.sizes.checkpointBytes = 1 << 30 }
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        try store.engine.takeCheckpoint()
        let commit = try store.snapshot().commit
        let name = CheckpointName.name(of: commit)
        // What is adopted behind it is retired again, and gone in the end.
        for round in 0..<3 {
            try CompactionTests.update(store, 0..<180, 700 + round)
            _ = try store.compact()
        }
        let old = try #require(try DiskImage(of: disk).files[name])
        let segments = store.engine.registry.published().segments.all.map(\.number)
        try store.purgePastStates(before: try store.snapshot().commit)
        try store.engine.takeCheckpoint()
        try store.close()
        var image = try DiskImage(of: disk)
        #expect(image.files[name] == nil)
        image.files[name] = old
        let report = try LogStore.check(at: "/store", options: Self.checking(try image.disk()))
        #expect(report.findings.isEmpty, "\(report.findings)")
        #expect(report.notes.contains { $0.contains("passed over") }, "\(report.notes)")
        #expect(!segments.isEmpty)
    }

    @Test("A check builds one state from the log, however many checkpoints it compares")
    func engines() throws {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk) { $0.sizes.checkpointBytes = 12 << 10 }
        for round in 0..<12 {
            try CompactionTests.update(store, 0..<180, round)
            try store.engine.takeCheckpoint()
        }
        let checkpoints = try CheckpointReader.commits(in: store.engine.files).count
        #expect(checkpoints > 2)
        try store.close()
        let made = CallCount()
        var options = Self.checking(disk)
        options.makeScheduler = {
            made.add()
            return ManualScheduler()
        }
        let report = try LogStore.check(at: "/store", options: options)
        #expect(report.checkpoints == checkpoints && report.findings.isEmpty, "\(report)")
        // One is opened with the newest checkpoint; each has two.
        #expect(made.count == 2 * 2)
    }

    @Test("Who reads beside a writer is told that a state is not kept any more")
    func besideWriter() throws {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk)
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        try store.synchronize()
        let reader = try LogStore.open(at: "/store", options: Self.checking(disk))
        let bounds = try #require(try reader.pastStateBounds())
        _ = try store.compact()
        try CompactionTests.update(store, 0..<180, 800)
        _ = try store.compact()
        try store.purgePastStates(before: try store.snapshot().commit)
        try store.engine.takeCheckpoint()
        store.engine.sweepRetired()
        for number in bounds.horizon...bounds.last - 1 {
            #expect(
                storeErrorCode { _ = try reader.snapshot(at: number) } == .pastStateUnavailable,
                "commit \(number)")
        }
        try reader.close()
        try store.close()
    }
}

/// How often something was called.
private final class CallCount: Sendable {
    private let calls = Atomic(0)

    var count: Int { calls.load(ordering: .relaxed) }

    func add() { calls.add(1, ordering: .relaxed) }
}
