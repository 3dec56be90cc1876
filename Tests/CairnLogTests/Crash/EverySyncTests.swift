// Every sync of every protocol, a few fixed steps for each: what the order checker says of them, and what is there
// when the power fails after them. Without any one of the engine's sync calls one of these tests fails, or one of the
// tests of failing disks, of zeros ahead, or of segments that are left behind.              Format 95.11

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Every sync of a protocol")
struct EverySyncTests {
    private static func workload(
        _ durability: LogStoreOptions.Durability, segmentBytes: UInt64 = 1 << 30,
        tracksHistory: Bool = false
    ) -> Workload {
        var workload = Workload(operations: [])
        workload.tracksHistory = tracksHistory
        workload.durability = durability
        workload.sizes.segmentBytes = segmentBytes
        workload.sizes.fillBytes = 0
        workload.sizes.rowsPerBlock = 4
        workload.sizes.largeValueBytes = 100
        workload.sizes.askedCompactionFloor = 1
        workload.sizes.compactionFloor = 1 << 30
        workload.sizes.compactionBlocks = 1
        workload.sizes.closingCheckpointBytes = 1 << 30
        return workload
    }

    /// Nothing is against the protocol, and nothing of what was promised is lost with the power.
    private static func check(
        _ run: CrashRun, _ workload: Workload, holds text: String? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(run.disk.with { $0.checker.problems } == [], sourceLocation: location)
        let durable = run.disk.with { $0.promise.durable }
        let possible = text.map { [$0] } ?? Array(run.texts[max(0, durable)...])
        var random = RandomSource(seed: 1)
        let other = CrashRun(
            run.disk.with { $0.state }.afterPowerCut(.all, &random), workload, seed: 1)
        try other.open()
        #expect(
            possible.contains(other.texts[0]), "\(possible.count) texts are possible",
            sourceLocation: location)
        #expect(other.disk.with { $0.checker.problems } == [], sourceLocation: location)
        try other.close()
    }

    /// A store after some operations, each of which is followed by a check.
    private static func run(
        _ workload: Workload, _ operations: [StoreOperation]
    ) throws -> CrashRun {
        let run = CrashRun(DiskState(), workload, seed: 1)
        try run.open()
        try check(run, workload)
        for (step, operation) in operations.enumerated() {
            try run.perform(operation, step: step)
            try check(run, workload)
        }
        return run
    }

    @Test(
        "Making a store, committing, beginning segments, closing, and opening again (FS1, FS3)",
        arguments: [false, true])
    func commits(tracksHistory: Bool) throws {
        for segmentBytes in [1 << 30, 5200] as [UInt64] {
            let workload = Self.workload(
                .full, segmentBytes: segmentBytes, tracksHistory: tracksHistory)
            let run = try Self.run(
                workload,
                [
                    .insertOne, .insertMany, .saveLarge, .rejected, .reopen, .insertOne,
                    .trimHistory,
                ])
            try run.close()
            try Self.check(run, workload)
        }
    }

    @Test("A close frame is durable when closing returns")
    func closing() throws {
        let workload = Self.workload(.full)
        let run = try Self.run(workload, [.insertOne])
        try run.close()
        var random = RandomSource(seed: 1)
        let other = CrashRun(
            run.disk.with { $0.state }.afterPowerCut(.all, &random), workload, seed: 1)
        try other.open()
        #expect(try #require(other.store).recovery.wasClosed)
        try other.close()
    }

    @Test("Zeros ahead are durable before commits count on them (FS3)")
    func zeros() throws {
        var workload = Self.workload(.full)
        workload.sizes.fillBytes = 2000
        let run = try Self.run(workload, [.insertOne, .background])
        let filled = run.disk.with { $0.state.segment(1) }
        #expect(filled.pending.isEmpty && filled.durable.suffix(700).allSatisfy { $0 == 0 })
        try run.perform(.insertOne, step: 2)
        #expect(run.disk.with { $0.state.segment(1).durable.count } == filled.durable.count)
        try run.close()
    }

    @Test("A commit that failed is cut off for good before it is told of (FL1)")
    func failures() throws {
        let workload = Self.workload(.full)
        let run = try Self.run(workload, [.insertOne])
        let before = run.disk.with { $0.state.segment(1).durable }
        run.disk.with {
            $0.fault = .init(operation: .write, number: 1, code: .noSpace, bytesFirst: 1 << 20)
        }
        #expect(throws: StoreError.self) { try run.perform(.insertMany, step: 1) }
        let after = run.disk.with { $0.state.segment(1) }
        #expect(after.pending.isEmpty && after.durable == before)
        try run.perform(.insertMany, step: 2)
        try Self.check(run, workload)
        try run.close()
    }

    @Test("Segments that are begun when nothing was synced before, and what makes it durable (FS1)")
    func relaxed() throws {
        let workload = Self.workload(.relaxed, segmentBytes: 5200)
        let run = try Self.run(
            workload, [.insertMany, .insertMany, .insertMany, .synchronize, .insertOne])
        #expect(run.disk.with { $0.promise.durable } == 4)
        try run.close()
        try Self.check(run, workload)
    }

    @Test("Grouped commits are durable when the scheduler has run")
    func grouped() throws {
        let run = try Self.run(Self.workload(.grouped), [.insertOne, .insertMany, .background])
        #expect(run.disk.with { $0.promise.durable } == 3)
        try run.close()
    }

    @Test("A checkpoint that is asked for, and one at close (CK2, FS2)")
    func checkpoints() throws {
        var workload = Self.workload(.relaxed)
        workload.sizes.closingCheckpointBytes = 1
        let run = try Self.run(
            workload, [.insertMany, .checkpoint, .insertMany, .checkpoint, .insertOne])
        #expect(run.disk.with { $0.durableCheckpoints }.last == 3)
        try run.close()
        try Self.check(run, workload)
        #expect(run.disk.with { $0.durableCheckpoints }.last == 4)
    }

    @Test(
        "Compaction, and the space is given back for good (FS1, FS2, CP1)",
        arguments: LogStoreOptions.Durability.allCases,
        [(UInt64.max, false), (1 << 30, false), (.max, true), (1 << 30, true)])
    func compaction(
        durability: LogStoreOptions.Durability, _ kind: (checkpointBytes: UInt64, hasHistory: Bool)
    ) throws {
        var workload = Self.workload(
            durability, segmentBytes: 5200, tracksHistory: kind.hasHistory)
        workload.sizes.checkpointBytes = kind.checkpointBytes
        let run = try Self.run(
            workload, [.insertMany, .saveLarge, .upsert, .delete, .saveChanges, .compact])
        let store = try #require(run.store)
        let live = store.engine.registry.published().segments.all.map(\.number).sorted()
        let names = run.disk.with { $0.state.durableNames.keys.sorted() }
        #expect(names.compactMap { SegmentName.number(in: $0) } == live)
        #expect(live.count < Int(live.last ?? 0), "segments have gone")
        try run.close()
        try Self.check(run, workload)
    }

    /// Lets the process end before each call that was noted, and goes on with what it left.
    private static func goOn(
        _ points: [SimulatedDisk.CrashPoint], _ workload: Workload, possible: [String]
    ) throws {
        #expect(points.count > 5)
        for (number, point) in points.enumerated() {
            let other = CrashRun(point.state, workload, seed: 1)
            try other.open()
            #expect(possible.contains(other.texts[0]), "call \(number)")
            try check(other, workload)
            try other.perform(.insertOne, step: 90)
            try check(other, workload)
            try other.close()
            try check(other, workload)
        }
    }

    @Test("A process that ends before each call of the making of a store, and the next one")
    func makingEnds() throws {
        let workload = Self.workload(.full)
        let run = CrashRun(DiskState(), workload, seed: 1)
        run.disk.with { $0.records = true }
        try run.open()
        try Self.goOn(run.disk.with { $0.points }, workload, possible: run.texts)
        try run.close()
    }

    @Test(
        "A process that ends before each call of a commit that begins a segment, or of a compaction, and the next one",
        arguments: [
            ([.insertMany, .insertMany, .insertMany], false),
            ([.insertMany, .insertMany, .insertMany], true),
            (
                [.insertMany, .saveLarge, .upsert, .delete, .saveChanges, .trimHistory, .compact],
                true
            ),
        ] as [([StoreOperation], Bool)])
    func processEnds(_ operations: [StoreOperation], tracksHistory: Bool) throws {
        let workload = Self.workload(.full, segmentBytes: 5200, tracksHistory: tracksHistory)
        let run = try Self.run(workload, Array(operations.dropLast()))
        let last = try #require(operations.last)
        var step = operations.count - 1
        // With a history segments end elsewhere: then it is one of the next commits that begins one.
        repeat {
            run.disk.with {
                $0.points = []
                $0.records = true
            }
            try run.perform(last, step: step)
            step += 1
        } while run.disk.with { $0.points.count } <= 5 && step < 9
        try Self.goOn(
            run.disk.with { $0.points }, workload, possible: Array(run.texts.suffix(2)))
        try run.close()
    }

    // MARK: Copies

    private static func source() throws -> LogStore {
        var options = LogStoreOptions()
        options.fileSystem = MemoryFileSystem()
        options.sizes = workload(.full, segmentBytes: 5200).sizes
        options.storeIdentifier = StoreOperation.identifier
        let store = try LogStore.open(
            at: "/source", schema: StoreOperation.schema, options: options)
        try StoreOperation.populate(store)
        return store
    }

    @Test("A copy, a second one into it, and whoever writes to that (F-222, F-223)")
    func copies() throws {
        let source = try Self.source()
        let workload = Self.workload(.full, segmentBytes: 5200)
        let scheduler = ManualScheduler()
        let run = CrashRun(DiskState(), workload, seed: 1)
        for step in 0..<2 {
            try StoreOperation.insertMany.perform(source, scheduler, step: step)
            try StoreOperation.upsert.perform(source, scheduler, step: step)
            if step == 1 { _ = try source.compact() }
            try source.engine.takeCheckpoint()
            _ = try source.backup(to: "/store", on: run.disk)
            try Self.check(run, workload, holds: try SampleStore.text(source))
        }
        // The record says so for good: as an untouched copy it takes another one.
        #expect(run.disk.with { $0.state.durableRole } == .copy)
        var random = RandomSource(seed: 1)
        let copy = CrashRun(
            run.disk.with { $0.state }.afterPowerCut(.all, &random), workload, seed: 1)
        try copy.open()
        #expect(copy.disk.with { $0.state.durableRole } == .writer)
        try copy.perform(.insertOne, step: 9)
        try Self.check(copy, workload)
        try copy.close()
        try source.close()
    }

    @Test("Writing to a copy that broke off at any call (F-223)")
    func brokenCopies() throws {
        let source = try Self.source()
        let workload = Self.workload(.full, segmentBytes: 5200)
        let before = try SampleStore.text(source)
        let run = CrashRun(DiskState(), workload, seed: 1)
        _ = try source.backup(to: "/store", on: run.disk)
        for step in 0..<2 {
            try StoreOperation.insertMany.perform(source, ManualScheduler(), step: step)
        }
        let after = try SampleStore.text(source)
        run.disk.with { $0.records = true }
        _ = try source.backup(to: "/store", on: run.disk)
        for (number, point) in run.disk.with({ $0.points }).enumerated() {
            let copy = CrashRun(point.state, workload, seed: 1)
            try copy.open()
            #expect([before, after].contains(copy.texts[0]), "call \(number)")
            try Self.check(copy, workload)
            try copy.perform(.insertOne, step: 9)
            try Self.check(copy, workload)
            try copy.close()
        }
        try source.close()
    }

    @Test("What a copy has is not lost by its source")
    func source() throws {
        let workload = Self.workload(.relaxed)
        let run = try Self.run(workload, [.insertOne])
        let disk = MemoryFileSystem()
        _ = try #require(run.store).backup(to: "/copy", on: disk)
        try Self.check(run, workload, holds: run.texts[1])
        try run.close()
    }
}

extension SimulatedDisk.Contents {
    /// The commits of the checkpoints that a power cut leaves.
    fileprivate var durableCheckpoints: [UInt64] {
        state.durableNames.filter { state.files[$0.value].pending.isEmpty }
            .compactMap { CheckpointName.commit(in: $0.key) }.sorted()
    }
}

extension DiskState {
    /// A segment's file.
    fileprivate func segment(_ number: UInt32) -> Content {
        names[SegmentName.name(of: number)].map { files[$0] } ?? Content()
    }

    /// The role of the mark record that a power cut leaves.
    fileprivate var durableRole: MarkRecord.Role? {
        durableNames[SegmentName.lock].flatMap { file in
            files[file].durable.withUnsafeBytes { try? MarkRecord(decoding: $0).role }
        }
    }
}
