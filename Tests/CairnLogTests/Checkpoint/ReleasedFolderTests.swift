// Files are made and removed by one thread at a time, and by nobody once the store is closed.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Files beside the committers")
struct ReleasedFolderTests {
    private static func checkpoints(_ disk: any FileSystem) throws -> [UInt64] {
        try disk.list("/store").compactMap { CheckpointName.commit(in: $0) }
    }

    @Test("Of two who take a checkpoint at once, the older one does not remove the newer one's")
    func twoCheckpoints() throws {
        let base = MemoryFileSystem()
        let disk = FaultInjectingFileSystem(over: base)
        let store = try CheckpointTests.open(disk)
        try SampleStore.firstObjects(store)
        let threads = TestThreads()
        let done = Atomic(0)
        let gate = disk.hold(.syncDirectory)
        threads.start {
            try? store.engine.takeCheckpoint()
            done.add(1, ordering: .relaxed)
        }
        gate.waitUntilReached()
        try SampleStore.manyRows(store)
        threads.start {
            try? store.engine.takeCheckpoint()
            done.add(1, ordering: .relaxed)
        }
        // As far as it comes.
        for _ in 0..<20_000 where done.load(ordering: .relaxed) == 0 { sched_yield() }
        gate.open()
        threads.join()
        let state = store.engine.registry.published()
        #expect(try Self.checkpoints(base) == [state.commit])
        #expect(store.engine.checkpoint.withLock { $0.lsn } == state.commitEnd.lsn)
        try store.close()
    }

    @Test(
        "A compaction that the closing of the store overtakes leaves the next writer's files alone")
    func overtaken() throws {
        let base = MemoryFileSystem()
        let disk = FaultInjectingFileSystem(over: base)
        let store = try CompactionTests.open(disk)
        // Without large values, so that measuring reads the frame of the schema and nothing else.
        try SampleStore.manyRows(store)
        for round in 0..<3 { try CompactionTests.update(store, 0..<180, round) }
        try store.engine.rollSegment()
        try SampleStore.manyRows(store)
        let readings = disk.count(.read)
        _ = try SegmentUse.measure(store.engine.registry.published(), store.engine)
        let perMeasure = disk.count(.read) - readings
        #expect(perMeasure > 0)
        let threads = TestThreads()
        let outcome = Mutex<Result<CompactionResult, any Error>?>(nil)
        // In the second one: the first only looks whether the newest segment is to be closed.
        let gate = disk.hold(.read, number: 2 * perMeasure)
        threads.start {
            let result = Result { try store.compact() }
            outcome.withLock { $0 = result }
        }
        gate.waitUntilReached()
        try store.close()
        let next = try CompactionTests.open(base)
        try next.engine.rollSegment()
        try CompactionTests.update(next, 0..<90, 77)
        let text = try SampleStore.text(next)
        let image = try DiskImage(of: base)
        gate.open()
        threads.join()
        let error = #expect(throws: StoreError.self) { try outcome.withLock { $0 }?.get() }
        #expect(error?.code == .unusable)
        #expect(try DiskImage(of: base) == image)
        #expect(try CompactionTests.text(image).text == text)
        try next.close()
    }

    @Test("Nobody takes a checkpoint, or removes segments, in a folder that was given up")
    func afterClosing() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        try CompactionTests.fill(store)
        let engine = store.engine
        try store.close()
        let image = try DiskImage(of: disk)
        #expect(throws: StoreError.self) { try engine.takeCheckpoint() }
        engine.sweepRetired()
        #expect(try DiskImage(of: disk) == image)
    }
}
