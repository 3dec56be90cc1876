// The files that are kept for past states: few of them are open, they are told apart from garbage, and they go.

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

@Suite("Segments that are kept for past states")
struct HeldSegmentTests {
    /// A closed store with so many of them, and what it held; its checkpoint is the newest state's.
    private static func make(_ rounds: Int) throws -> (
        disk: MemoryFileSystem, held: Set<UInt32>, contents: PastContents
    ) {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk)
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        for round in 0..<rounds {
            _ = try store.compact()
            try contents.note(store)
            try CompactionTests.update(store, 0..<180, 300 + round)
            try contents.note(store)
        }
        _ = try store.compact()
        try contents.note(store)
        try store.engine.takeCheckpoint()
        let held = store.engine.heldSegments
        try store.close()
        return (disk, held, contents)
    }

    private static func reading(_ disk: any FileSystem) -> LogStoreOptions {
        var options = FollowingStores.reading(disk)
        options.sizes = CompactionTests.options(on: disk).sizes
        return options
    }

    @Test("However many there are, their files are not open together")
    func openFiles() throws {
        let (base, held, contents) = try Self.make(40)
        var random = RandomSource(seed: 5)
        #expect(held.count > 30)
        // The live segments, checkpoints and the lock file: some more while two past states are there.
        let few = held.count * 3 / 4

        var disk = CountingFileSystem(over: base)
        let store = try PastStateTests.open(disk, nil)
        #expect(disk.most < few, "opening to write")
        disk.beginAnew()
        #expect(try contents.problems(store, &random, most: 10) == [])
        let date = Date(timeIntervalSinceReferenceDate: 1e9)
        #expect(try store.transactionNumber(at: date) == store.snapshot().commit)
        #expect(disk.most < few, "reading past states")
        try store.close()

        disk = CountingFileSystem(over: base)
        let reader = try LogStore.open(at: "/store", options: Self.reading(disk))
        #expect(try contents.problems(reader, &random, most: 5) == [])
        #expect(disk.most < few, "opening to read")
        try reader.close()

        for depth in CheckDepth.allCases {
            disk = CountingFileSystem(over: base)
            let report = try LogStore.check(
                at: "/store", depth: depth, options: Self.reading(disk))
            #expect(report.findings.isEmpty, "\(report.findings)")
            #expect(report.heldSegments == held.count)
            #expect(disk.most < few, "checking \(depth)")
        }
        disk = CountingFileSystem(over: base)
        _ = try LogStore.status(at: "/store", options: Self.reading(disk))
        #expect(disk.most < few, "asking")
    }

    @Test("Who has a past state can read all of it when its files are gone")
    func outlives() throws {
        let (disk, _, contents) = try Self.make(3)
        let store = try PastStateTests.open(disk, nil)
        let number = try #require(contents.texts.keys.sorted().dropFirst(3).first)
        let snapshot = try #require(try store.snapshot(at: number) as? LogSnapshot)
        let names = Set(try disk.list("/store"))
        for segment in store.engine.heldSegments {
            try disk.unlink(FilePath("/store").appending(SegmentName.name(of: segment)))
        }
        #expect(Set(try disk.list("/store")).count < names.count)
        #expect(try PastContents.text(store, snapshot) == contents.texts[number])
        try store.close()
    }

    @Test("They are told apart from what the next writer removes, and gone through (F-793)")
    func told() throws {
        let (disk, held, _) = try Self.make(2)
        let options = Self.reading(disk)
        let status = try LogStore.status(at: "/store", options: options)
        #expect(Set(status.segments.filter { $0.kind == .held }.map(\.number)) == held)
        #expect(!status.segments.contains { $0.kind == .retired })
        for depth in CheckDepth.allCases {
            let report = try LogStore.check(at: "/store", depth: depth, options: options)
            #expect(report.findings.isEmpty, "\(report.findings)")
            #expect(report.heldSegments == held.count)
            #expect(!report.notes.contains { $0.contains("removes it") }, "\(report.notes)")
        }
        // A byte in the middle of one is damage, though no reader of the newest state would notice.
        let image = try DiskImage(of: disk)
        for number in held {
            let name = SegmentName.name(of: number)
            var damaged = image
            let place = try #require(image.files[name]).count / 2
            damaged.files[name]?[place] ^= 1
            let report = try LogStore.check(
                at: "/store", depth: .frames, options: Self.reading(try damaged.disk()))
            #expect(report.findings.contains { $0.context.segment == number }, "\(number)")
        }
    }

    @Test("A check looks at the settings, and whether the segment says so (F-792, F-797)")
    func settings() throws {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk)
        try PastStateTests.lie(store, AsOfSettings(horizon: 1 << 20))
        try store.close()
        var report = try LogStore.check(at: "/store", options: Self.reading(disk))
        #expect(report.findings.contains { $0.message.contains("F-792") }, "\(report.findings)")

        let other = MemoryFileSystem()
        let plain = try PastStateTests.open(other, nil)
        try plain.engine.allowMetadata()
        try PastStateTests.lie(plain, AsOfSettings(horizon: 1))
        try plain.close()
        report = try LogStore.check(at: "/store", depth: .frames, options: Self.reading(other))
        #expect(report.findings.contains { $0.message.contains("F-797") }, "\(report.findings)")
    }

    @Test("States that were read keep no files open before the horizon, and none when it is over")
    func released() throws {
        for isOver in [false, true] {
            let disk = CountingFileSystem(over: try Self.make(2).disk)
            let store = try PastStateTests.open(disk, nil)
            let bounds = try #require(try store.pastStateBounds())
            _ = try store.snapshot(at: (bounds.horizon + bounds.last) / 2)
            _ = try store.snapshot(at: bounds.horizon)
            #expect(store.engine.past.epochs.count == 2)
            if isOver {
                try store.engine.setPastStates(.off)
            } else {
                try store.purgePastStates(before: bounds.last)
            }
            #expect(store.engine.past.epochs.isEmpty)
            let files = Set(try disk.list("/store"))
            #expect(disk.names.subtracting(files).isEmpty, "open and gone: \(disk.names)")
            try store.close()
        }
    }

    @Test("What a snapshot of the past kept goes when it is let go")
    func swept() throws {
        let disk = try Self.make(2).disk
        let scheduler = ManualScheduler()
        let store = try PastStateTests.open(disk, nil) {
            $0.makeScheduler = { scheduler }
            $0.sizes.idleSeconds = .infinity
        }
        let bounds = try #require(try store.pastStateBounds())
        var snapshot: (any StoreSnapshot)? = try store.snapshot(at: bounds.horizon)
        try store.purgePastStates(before: bounds.last)
        #expect(!store.engine.tools.retired.all.isEmpty)
        withExtendedLifetime(snapshot) {}
        snapshot = nil
        scheduler.runOnce()
        #expect(store.engine.tools.retired.all.isEmpty)
        try store.close()
    }

    @Test("Giving back does not count what is kept, and writes no checkpoint for it")
    func compacting() throws {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk)
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        let result = try store.compact()
        #expect(result.retiredSegments > 2)
        #expect(result.bytesAfter * 2 < result.bytesBefore, "\(result)")
        let again = try store.compact()
        #expect(again.bytesBefore == result.bytesAfter)
        try store.close()

        // Opened again, there is nothing that a checkpoint must be taken for.
        let next = try PastStateTests.open(disk, nil)
        #expect(!next.engine.heldSegments.isEmpty)
        try CompactionTests.update(next, 0..<3, 900)
        let commits = try CheckpointReader.commits(in: next.engine.files)
        _ = try next.compact()
        #expect(try CheckpointReader.commits(in: next.engine.files) == commits)
        try next.close()
    }

    @Test("Metadata leave room for them, and if there is none the oldest states are given up")
    func room() throws {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk)
        let most = MetadataPayload.maximumDocument - MetadataPayload.ownDocument
        func metadata(_ bytes: Int) -> [String: Value] {
            ["text": .string(String(repeating: "a", count: bytes))]
        }
        #expect(throws: StoreError.self) { try store.setMetadata(metadata(most)) }
        try store.setMetadata(metadata(most - 200))
        try store.writeMetadata()
        // More than what is left for them.
        let values = try store.metadata().values
        let held = (1...12_000).map {
            AsOfSettings.Held(segment: 1000 + UInt32($0), commit: 2 + UInt64($0), time: 800_000_000)
        }
        _ = try store.engine.commit(author: nil, contextName: nil, isSilent: true) {
            builder throws(StoreError) in
            try builder.write(
                values, identifier: nil, history: nil, asOf: AsOfSettings(horizon: 1, held: held))
        }
        let kept = try #require(store.engine.pastSettings)
        #expect(kept.held.count > 3000 && kept.held.count < 12_000)
        #expect(kept.held == Array(held.suffix(kept.held.count)))
        #expect(kept.horizon == 2 + UInt64(12_000 - kept.held.count))
        #expect(try store.metadata().values == values)
        try store.close()
    }

    @Test("What is given up goes when that is durable")
    func givenUp() throws {
        let disk = MemoryFileSystem()
        let store = try PastStateTests.open(disk) { $0.durability = .relaxed }
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        _ = try store.compact()
        let held = store.engine.heldSegments
        #expect(!held.isEmpty)
        let rest = try MetadataDocument.encode(
            ["text": .string("")], identifier: nil, asOf: store.engine.pastSettings)
        // A little too much.
        let filler = MetadataPayload.maximumDocument - rest.count + 20
        _ = try store.engine.commit(author: nil, contextName: nil, isSilent: true) {
            builder throws(StoreError) in
            try builder.write(
                ["text": .string(String(repeating: "a", count: filler))], identifier: nil,
                history: nil, asOf: builder.catalog.metadata?.asOf)
        }
        #expect(!store.engine.heldSegments.isSuperset(of: held))
        store.engine.sweepRetired()
        func present() throws -> Set<UInt32> { Set(try store.engine.files.segmentNumbers()) }
        #expect(try present().isSuperset(of: held))
        try store.engine.takeCheckpoint()
        store.engine.sweepRetired()
        #expect(try present().intersection(held) == store.engine.heldSegments)
        try store.close()
    }
}
