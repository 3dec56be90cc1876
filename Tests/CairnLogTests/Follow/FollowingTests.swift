// A reader follows the log of a writer: what it sees, when, and what becomes of what it held before.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Following a writer")
struct FollowingTests {
    private static func writer(
        _ disk: any FileSystem, durability: LogStoreOptions.Durability = .full,
        segmentBytes: UInt64 = 16 << 10
    ) throws -> LogStore {
        var options = CompactionTests.options(on: disk)
        options.durability = durability
        options.sizes.segmentBytes = segmentBytes
        return try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
    }

    private static func reader(_ disk: any FileSystem) throws -> LogStore {
        try LogStore.open(at: "/store", options: FollowingStores.reading(disk))
    }

    @Test("Each commit is seen after a refresh, and old snapshots stay (FR1)")
    func steps() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk, segmentBytes: 8 << 10)
        let reader = try Self.reader(disk)
        var held: [(snapshot: LogSnapshot, text: String)] = []
        #expect(try !reader.refresh())
        for (number, step) in SampleStore.steps.enumerated() {
            try step(writer)
            let before = try #require(try reader.snapshot() as? LogSnapshot)
            held.append((before, try FollowingStores.text(before, of: reader)))
            #expect(try reader.refresh(), "step \(number)")
            #expect(try SampleStore.text(reader) == (try SampleStore.text(writer)))
            #expect(try reader.snapshot().commit == (try writer.snapshot().commit))
            #expect(try reader.check().findings.isEmpty)
            #expect(try !reader.refresh(), "there is nothing more")
        }
        for (snapshot, text) in held {
            #expect(try FollowingStores.text(snapshot, of: reader) == text)
        }
        #expect(reader.engine.registry._checkInvariants().isEmpty)
        // Who has seen it all lacks nothing when the writer goes.
        let last = try SampleStore.text(writer)
        try writer.close()
        #expect(try !reader.refresh())
        #expect(try SampleStore.text(reader) == last)
        try reader.close()
        #expect(throws: StoreError.self) { try reader.refresh() }
    }

    @Test("A reader goes no further than the mark: relaxed commits are seen when they are synced")
    func relaxed() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk, durability: .relaxed, segmentBytes: 1 << 30)
        let reader = try Self.reader(disk)
        let first = try SampleStore.text(reader)
        try SampleStore.firstObjects(writer)
        try SampleStore.manyRows(writer)
        #expect(try !reader.refresh())
        #expect(try SampleStore.text(reader) == first)
        try writer.synchronize()
        try SampleStore.changedRows(writer)
        #expect(try reader.refresh())
        #expect(try reader.snapshot().commit == (try writer.snapshot().commit) - 1)
        try writer.close()
        #expect(try reader.refresh())
        let text = try SampleStore.text(reader)
        try reader.close()
        let again = try Self.writer(disk)
        #expect(try SampleStore.text(again) == text)
        try again.close()
    }

    @Test("Files that a writer compacted away are not missed, and old snapshots stay readable")
    func startsOver() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk)
        try CompactionTests.fill(writer, rounds: 2)
        let reader = try Self.reader(disk)
        let pool = reader.engine.registry.pool
        let old = try #require(try reader.snapshot() as? LogSnapshot)
        let oldText = try SampleStore.text(writer)
        for round in 0..<4 {
            try CompactionTests.update(writer, 0..<150, 50 + round)
            try SampleStore.largeValue(writer)
            _ = try writer.compact()
        }
        // The segment that the reader would go on with is gone.
        let next = old.pinned!.state.segments.current.number + 1
        #expect(try !disk.exists(FilePath("/store").appending(SegmentName.name(of: next))))
        #expect(try reader.refresh())
        #expect(reader.engine.registry.pool !== pool, "the log was read anew")
        #expect(try SampleStore.text(reader) == (try SampleStore.text(writer)))
        #expect(try reader.check().findings.isEmpty)
        #expect(try FollowingStores.text(old, of: reader) == oldText)
        // And it goes on from there.
        try CompactionTests.update(writer, 20..<40, 99)
        #expect(try reader.refresh())
        #expect(try SampleStore.text(reader) == (try SampleStore.text(writer)))
        #expect(try FollowingStores.text(old, of: reader) == oldText)
        #expect(reader.engine.registry._checkInvariants().isEmpty)
        try reader.close()
        try writer.close()
    }

    @Test("Segments that no state needs any more are closed with the next refresh")
    func descriptors() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk)
        try CompactionTests.fill(writer)
        let reader = try Self.reader(disk)
        var held = try reader.snapshot() as? LogSnapshot
        weak let segment = held?.pinned?.state.segments.mains.first
        _ = try writer.compact()
        try CompactionTests.update(writer, 0..<5, 7)
        #expect(try reader.refresh())
        #expect(reader.engine.registry.published().segments[segment?.number ?? 0] == nil)
        #expect(segment != nil, "a snapshot reads from it")
        held = nil
        try CompactionTests.update(writer, 0..<5, 8)
        #expect(try reader.refresh())
        #expect(segment == nil)
        try reader.close()
        try writer.close()
    }

    @Test("A reader that was there before the writer follows it, also after a crash")
    func writersComeAndGo() throws {
        let disk = MemoryFileSystem()
        try Self.writer(disk).close()
        let reader = try Self.reader(disk)
        var text = try SampleStore.text(reader)
        for (number, step) in SampleStore.steps.enumerated() {
            let writer = try Self.writer(
                disk, durability: number % 2 == 0 ? .full : .relaxed, segmentBytes: 1 << 30)
            #expect(try SampleStore.text(writer) == text)
            try step(writer)
            try CompactionTests.update(writer, 0..<3, number)
            text = try SampleStore.text(writer)
            if number % 3 == 0 { try writer.close() } else { FollowingStores.abandon(writer) }
            _ = try reader.refresh()
            if number % 2 == 0 || number % 3 == 0 {
                #expect(try SampleStore.text(reader) == text, "step \(number)")
            }
        }
        // The next one says of all that was left that it is durable.
        let last = try Self.writer(disk)
        _ = try reader.refresh()
        #expect(try SampleStore.text(reader) == text)
        try last.close()
        try reader.close()
    }

    @Test("A torn tail that a crashed writer left is passed over when the next one goes on")
    func tornTail() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk, segmentBytes: 1 << 30)
        try SampleStore.manyRows(writer)
        let reader = try Self.reader(disk)
        let state = writer.engine.registry.published()
        FollowingStores.abandon(writer)
        // The beginning of a commit that was never finished.
        let path = FilePath("/store").appending(SegmentName.name(of: state.end.segment))
        let file = try disk.open(path, .readWrite)
        let head = RawBytes(count: 500)
        try head.mutable.copyBytes(
            from: DiskImage(of: disk).files[path.lastComponent!.string]![4096..<4596])
        try file.write(head.bytes, at: state.end.offset)
        #expect(try !reader.refresh())
        let next = try Self.writer(disk)
        try SampleStore.changedRows(next)
        #expect(next.engine.registry.published().end.segment > state.end.segment)
        #expect(try reader.refresh())
        #expect(try SampleStore.text(reader) == (try SampleStore.text(next)))
        try next.close()
        try reader.close()
    }

    @Test("A mark that is torn or of another store says nothing; one that lies is damage")
    func marks() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk)
        try SampleStore.firstObjects(writer)
        let reader = try Self.reader(disk)
        let first = try SampleStore.text(reader)
        try SampleStore.manyRows(writer)
        let lock = try disk.open("/store/lock", .readWrite)
        let whole = try #require(try writer.engine.files.readMark())
        func put(_ mark: MarkRecord, tornAfter count: Int = MarkRecord.size) throws {
            var bytes = ByteWriter(capacity: MarkRecord.size)
            mark.encode(to: &bytes)
            try lock.write(UnsafeRawBufferPointer(rebasing: bytes.bytes[..<count]), at: 0)
        }
        var other = whole
        other.lsn += 8
        try put(other, tornAfter: 44)
        #expect(try !reader.refresh())
        other = whole
        other.store = StoreID(low: 7, high: 7)
        try put(other)
        #expect(try !reader.refresh())
        other = whole
        other.lsn += 64
        try put(other)
        let error = #expect(throws: StoreError.self) { try reader.refresh() }
        #expect(error?.code == .damaged)
        #expect(error?.context.segment == whole.segment)
        #expect(try SampleStore.text(reader) == first)
        try put(whole)
        #expect(try reader.refresh())
        #expect(try SampleStore.text(reader) == (try SampleStore.text(writer)))
        try writer.close()
        try reader.close()
    }

    @Test("New commits are seen by themselves, if that is wanted")
    func background() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk)
        let scheduler = ManualScheduler()
        var options = FollowingStores.reading(disk, follows: true)
        options.makeScheduler = { scheduler }
        let reader = try LogStore.open(at: "/store", options: options)
        #expect(scheduler.delays == [0.05])
        for step in SampleStore.steps {
            try step(writer)
            scheduler.runOnce()
            #expect(try reader.snapshot().commit == (try writer.snapshot().commit))
        }
        #expect(try SampleStore.text(reader) == (try SampleStore.text(writer)))
        #expect(scheduler.delays == [0.05])
        try writer.close()
        try reader.close()
        #expect(scheduler.delays.isEmpty)
    }

    @Test("What one commit costs to follow has nothing to do with how many segments there are")
    func cost() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk, segmentBytes: 6 << 10)
        try CompactionTests.fill(writer, rounds: 6)
        #expect(try writer.statistics().segments.count > 10)
        let counted = FaultInjectingFileSystem(over: disk)
        let reader = try Self.reader(counted)
        let (opened, listed) = (counted.count(.open), counted.count(.list))
        let number = writer.engine.registry.published().segments.current.number
        while true {
            try CompactionTests.update(writer, 0..<1, Int(try writer.snapshot().commit))
            let before = counted.count(.read)
            #expect(try reader.refresh())
            #expect(counted.count(.read) - before < 20)
            guard writer.engine.registry.published().segments.current.number == number else {
                break
            }
            #expect(counted.count(.open) == opened)
        }
        #expect(counted.count(.open) == opened + 1, "the new segment")
        #expect(counted.count(.list) == listed)
        #expect(try SampleStore.text(reader) == (try SampleStore.text(writer)))
        try writer.close()
        try reader.close()
    }

    @Test("A store that is opened once more to read shows what is there by then")
    func openedAgain() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk)
        let reader = try Self.reader(disk)
        try SampleStore.firstObjects(writer)
        let second = try Self.reader(disk)
        #expect(second.engine === reader.engine)
        #expect(try SampleStore.text(second) == (try SampleStore.text(writer)))
        try second.close()
        try reader.close()
        #expect(try !writer.refresh(), "a writer knows what it wrote")
        try writer.close()
    }

    @Test("Readers on many threads, and one that refreshes, while a writer writes (FR2)")
    func threads() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.writer(disk, segmentBytes: 6 << 10)
        try CompactionTests.update(writer, 0..<60, 0)
        let reader = try Self.reader(disk)
        let all = try CompactionTests.all(writer)
        TestThreads.run(4) { thread in
            do {
                for round in 1...25 {
                    switch thread {
                    case 0:
                        try CompactionTests.update(writer, 0..<60, round)
                        if round % 8 == 0 { _ = try writer.compact() }
                    case 1: _ = try reader.refresh()
                    default:
                        let snapshot = try reader.snapshot()
                        let rows = try snapshot.fetch(all)
                        #expect(rows.ids.count == 60)
                        #expect(try snapshot.rows(rows.ids).count { $0 != nil } == 60)
                    }
                }
            } catch {
                Issue.record(error)
            }
        }
        _ = try reader.refresh()
        #expect(try SampleStore.text(reader) == (try SampleStore.text(writer)))
        #expect(try reader.check().findings.isEmpty)
        try writer.close()
        try reader.close()
    }
}
