// What the engine does beside its committers: zeros ahead of the log, and syncs that come later.

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

@Suite("Beside the committers")
struct BackgroundTests {
    /// A store whose background work is done by hand.
    struct Shop {
        let base = MemoryFileSystem()
        let disk: FaultInjectingFileSystem
        let scheduler = ManualScheduler()
        let store: LogStore

        init(
            durability: LogStoreOptions.Durability = .full, fillBytes: UInt64 = 0,
            segmentBytes: UInt64 = 1 << 30
        ) throws {
            disk = FaultInjectingFileSystem(over: base)
            var options = SampleStore.options(
                on: disk, segmentBytes: segmentBytes, durability: durability)
            options.sizes.fillBytes = fillBytes
            options.sizes.mostFillBytes = fillBytes * 4
            let scheduler = scheduler
            options.makeScheduler = { scheduler }
            store = try LogStore.open(
                at: "/store", schema: try Schema(CommittersTests.model), options: options)
        }

        func put(_ key: String, _ value: Int = 0) throws {
            var request = BatchInsertRequest(
                entityName: "Item", objects: [["key": key, "value": value]])
            request.mergePolicy = .mergeByPropertyObjectTrump
            _ = try store.execute(request)
        }

        func size(ofSegment number: UInt32 = 1) throws -> UInt64 {
            try base.open(FilePath("/store").appending(SegmentName.name(of: number)), .read).size()
        }

        /// Content and report of what the disk holds, as it is.
        func reopened() throws -> (keys: [String], report: RecoveryReport) {
            let store = try LogStore.open(
                at: "/store", options: SampleStore.options(on: try DiskImage(of: base).disk()))
            defer { try? store.close() }
            return (try CommittersTests.content(store).keys.sorted(), store.recovery)
        }
    }

    // MARK: Zeros

    @Test("Zeros are written ahead of small commits, more each time, and are gone after closing")
    func zeros() throws {
        let shop = try Shop(fillBytes: 4096)
        try shop.put("a")
        #expect(shop.scheduler.delays == [0])
        shop.scheduler.run()
        let size = try shop.size()
        #expect(size >= 4096 * 2)
        let before = shop.disk.count(.synchronize)
        try shop.put("b")
        #expect(try shop.size() == size, "a commit inside the zeros leaves the size alone")
        #expect(shop.disk.count(.synchronize) - before == 1)
        for number in 0..<20 { try shop.put("c\(number)") }
        shop.scheduler.run()
        #expect(try shop.size() >= size + 8192)
        // What a crash would leave: zeros are nothing that was lost.
        let crashed = try shop.reopened()
        #expect(crashed.keys.count == 22)
        #expect(!crashed.report.wasClosed && crashed.report.bytesLeftBehind == 0)
        let filled = try shop.size()
        try shop.store.close()
        let closed = try shop.reopened()
        #expect(closed.keys == crashed.keys)
        #expect(closed.report.wasClosed)
        #expect(try shop.size() < filled - 4096)
    }

    @Test("A segment that is full keeps no zeros")
    func rolling() throws {
        let shop = try Shop(fillBytes: 4096, segmentBytes: 6000)
        for number in 0..<40 {
            try shop.put("\(number)")
            shop.scheduler.run()
        }
        let sizes = try (1...3).map { try shop.size(ofSegment: $0) }
        for size in sizes { #expect(size < 6000 + 1000) }
        #expect(try shop.reopened().keys.count == 40)
    }

    @Test("Zeros for which there is no room are no failure", arguments: [0, 100])
    func noRoom(afterWriting bytes: Int) throws {
        let shop = try Shop(fillBytes: 4096)
        try shop.put("a")
        shop.disk.fail(.write, with: .noSpace, afterWriting: bytes)
        shop.scheduler.run()
        try shop.put("b")
        #expect(shop.scheduler.delays == [], "they are not tried again for this segment")
        try shop.store.close()
        #expect(try shop.reopened().keys == ["a", "b"])
    }

    @Test("A disk without room for another segment takes what the zeros hold")
    func noRoomForSegment() throws {
        let shop = try Shop(fillBytes: 4096, segmentBytes: 9000)
        let engine = shop.store.engine
        func end() -> LogEnd { engine.registry.published().end }
        // One that cannot be begun before its time, whole as its file may be, leaves the segment to others.
        try shop.put("a")
        shop.scheduler.run()
        let second = SegmentName.name(of: 2)
        shop.disk.fail(.write, of: second, with: .noSpace, afterWriting: 1 << 20)
        let synced = shop.disk.count(.syncDirectory)
        let refused = #expect(throws: StoreError.self) { try engine.rollSegment() }
        #expect(refused?.code == .noSpace && end().segment == 1)
        #expect(try !shop.base.exists(FilePath("/store").appending(second)))
        #expect(shop.disk.count(.syncDirectory) == synced + 1, "it is gone for good")
        // Nor does a full segment refuse what has its place in it.
        var keys = ["a"]
        while end().offset < 9000 {
            keys.append("full \(keys.count)")
            try shop.put(keys[keys.count - 1])
            shop.scheduler.run()
        }
        #expect(end().segment == 1)
        shop.disk.fail(.open, with: .noSpace, repeats: true)
        try shop.put("late")
        #expect(end().segment == 1)
        keys.append("late")
        #expect(try shop.reopened().keys == keys.sorted())
        // What would make the file longer is refused, and with room the next segment begins.
        shop.disk.fail(.write, of: SegmentName.name(of: 1), with: .noSpace, repeats: true)
        let error = #expect(throws: StoreError.self) { try shop.put("too late") }
        #expect(error?.code == .noSpace)
        shop.disk.clearFaults()
        try shop.put("after")
        #expect(end().segment > 1)
        keys.append("after")
        try shop.store.close()
        #expect(try shop.reopened().keys == keys.sorted())
    }

    @Test("When the sync of the zeros fails, nothing is written any more")
    func failedSync() throws {
        let shop = try Shop(durability: .relaxed, fillBytes: 4096)
        try shop.put("a")
        shop.disk.fail(.synchronize, with: .ioError)
        shop.scheduler.run()
        let error = #expect(throws: StoreError.self) { try shop.put("b") }
        #expect(error?.code == .unusable)
        #expect(try CommittersTests.content(shop.store).keys.sorted() == ["a"])
    }

    @Test("A commit beside the zeros does not take their failed sync for a success of its own")
    func sharedSync() throws {
        let shop = try Shop(fillBytes: 4096)
        try shop.put("a")
        shop.scheduler.run()
        // The next zeros come behind those that the next commit lies in.
        try shop.put("b")
        #expect(shop.scheduler.delays == [0])
        shop.disk.fail(.synchronize, with: .ioError)
        let gate = shop.disk.hold(.synchronize)
        let threads = TestThreads()
        let outcome = Mutex<Result<Void, any Error>?>(nil)
        let scheduler = shop.scheduler
        threads.start { scheduler.run() }
        gate.waitUntilReached()
        let written = shop.disk.count(.write)
        threads.start {
            let result = Result { try shop.put("c") }
            outcome.withLock { $0 = result }
        }
        // The zeros are one write, done when the gate was reached, the commit is another.
        inTime(for: "the commit to be written") {
            while shop.disk.count(.write) < written + 1 { sched_yield() }
        }
        for _ in 0..<1000 { sched_yield() }
        #expect(outcome.withLock { $0 == nil }, "the system tells of a lost write once")
        gate.open()
        threads.join()
        #expect(throws: StoreError.self) { try outcome.withLock { $0 }?.get() }
        #expect(try CommittersTests.content(shop.store).keys.sorted() == ["a", "b"])
        try shop.store.close()
    }

    @Test("After a commit that failed zeros are written ahead again")
    func zerosAfterFailure() throws {
        let shop = try Shop(fillBytes: 4096)
        for key in ["a", "b"] {
            try shop.put(key)
            shop.scheduler.run()
        }
        try shop.put("c")
        #expect(shop.scheduler.delays == [], "there are enough of them")
        shop.disk.fail(.write, with: .noSpace, afterWriting: 150)
        #expect(throws: StoreError.self) { try shop.put("d") }
        let end = try shop.size()
        #expect(end == shop.store.engine.registry.published().end.offset, "they are cut off")
        try shop.put("d")
        #expect(shop.scheduler.delays == [0])
        shop.scheduler.run()
        #expect(try shop.size() >= end + 4096)
        try shop.store.close()
    }

    @Test("A commit that fails behind the zeros is cut off with them")
    func cut() throws {
        let shop = try Shop(fillBytes: 4096)
        try shop.put("a")
        shop.scheduler.run()
        shop.disk.fail(.write, with: .noSpace, afterWriting: 150)
        #expect(throws: StoreError.self) { try shop.put("b") }
        #expect(try shop.reopened().keys == ["a"])
        try shop.put("c")
        shop.scheduler.run()
        try shop.put("d")
        #expect(try shop.reopened().keys == ["a", "c", "d"])
    }

    @Test("Committers and the thread that writes zeros do not touch each other's bytes")
    func together() throws {
        let base = MemoryFileSystem()
        var options = SampleStore.options(on: base, segmentBytes: 30_000)
        options.sizes.fillBytes = 512
        options.sizes.mostFillBytes = 2048
        let store = try LogStore.open(
            at: "/store", schema: try Schema(CommittersTests.model), options: options)
        let problems = Mutex<[String]>([])
        TestThreads.run(4) { thread in
            for number in 0..<100 {
                do {
                    _ = try store.execute(
                        BatchInsertRequest(
                            entityName: "Item",
                            objects: [["key": "\(thread)-\(number)", "value": number]]))
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(problems.withLock { $0 } == [])
        let image = try DiskImage(of: base)
        try store.close()
        for disk in [try image.disk(), base] {
            let again = try LogStore.open(at: "/store", options: SampleStore.options(on: disk))
            #expect(try CommittersTests.content(again).count == 400)
            #expect(try again.check().findings.isEmpty)
            try again.close()
        }
    }

    @Test("The close frame is synced where it is, also in a segment without a commit")
    func closingBehindARoll() throws {
        let shop = try Shop(durability: .relaxed, segmentBytes: 5000)
        var count = 0
        while try shop.size() < 5000 {
            try shop.put("\(count)")
            count += 1
        }
        // It finds the segment full and begins the next one, and then there is nothing to delete.
        _ = try shop.store.execute(BatchDeleteRequest(.ids([], entity: 0)))
        #expect(try shop.size(ofSegment: 2) > 0)
        try shop.store.close()
        let calls = shop.disk.history.filter {
            $0.path.lastComponent?.string.hasSuffix(".segment") == true
        }
        let last = try #require(calls.lastIndex { $0.operation == .write })
        #expect(
            calls[last...].contains {
                $0.operation == .synchronize && $0.path == calls[last].path
            })
        #expect(calls[last].path.lastComponent?.string == SegmentName.name(of: 2))
        let after = try shop.reopened()
        #expect(after.report.wasClosed)
        #expect(after.keys.count == count)
    }

    // MARK: Grouped commits

    @Test(
        "A grouped commit can be read at once, and is synced within its time, with its neighbours")
    func grouped() throws {
        let shop = try Shop(durability: .grouped)
        let before = shop.disk.count(.synchronize)
        for number in 0..<10 { try shop.put("\(number)") }
        #expect(shop.disk.count(.synchronize) == before)
        #expect(shop.scheduler.delays == [0.05])
        #expect(try CommittersTests.content(shop.store).count == 10)
        shop.scheduler.run()
        #expect(shop.disk.count(.synchronize) - before == 1)
        #expect(shop.store.engine.queue.durable == shop.store.engine.registry.published().end.lsn)
        try shop.put("more")
        #expect(shop.scheduler.delays == [0.05])
    }

    @Test("A grouped commit does not wait for its sync until a checkpoint or a compaction is done")
    func groupedBesideLongWork() throws {
        let schedulers = Mutex<[ManualScheduler]>([])
        var options = SampleStore.options(on: MemoryFileSystem(), durability: .grouped)
        options.sizes.checkpointBytes = 1
        options.sizes.compactionFloor = 1
        options.makeScheduler = {
            let scheduler = ManualScheduler()
            schedulers.withLock { $0.append(scheduler) }
            return scheduler
        }
        let store = try LogStore.open(
            at: "/store", schema: try Schema(CommittersTests.model), options: options)
        _ = try store.execute(
            BatchInsertRequest(entityName: "Item", objects: [["key": "a", "value": 1]]))
        let made = schedulers.withLock { $0 }
        #expect(made.map(\.delays) == [[0.05], [0, 0]])
        made[0].run()
        #expect(store.engine.queue.durable == store.engine.registry.published().end.lsn)
        made[1].run()
        #expect(store.engine.checkpoint.withLock { $0.bytes } > 0)
        try store.close()
    }

    @Test("A later sync that fails leaves what can be read, says from where on, and ends writing")
    func groupedFailure() throws {
        let shop = try Shop(durability: .grouped)
        try shop.put("a")
        shop.disk.fail(.synchronize, with: .ioError)
        shop.scheduler.run()
        let error = #expect(throws: StoreError.self) { try shop.put("b") }
        #expect(error?.code == .unusable)
        #expect(error?.message.contains("may not have reached the disk") == true)
        #expect(try CommittersTests.content(shop.store).keys.sorted() == ["a"])
        #expect(throws: StoreError.self) { try shop.store.synchronize() }
        #expect(throws: StoreError.self) { try shop.store.close() }
    }

    @Test("Closing says so if commits that waited for it may be lost, whatever has failed")
    func closingAfterFailedCut() throws {
        let shop = try Shop(durability: .relaxed)
        try shop.put("a")
        shop.disk.fail(.write, of: ".segment", with: .noSpace, afterWriting: 10)
        shop.disk.fail(.truncate, with: .ioError)
        #expect(throws: StoreError.self) { try shop.put("b") }
        let error = #expect(throws: StoreError.self) { try shop.store.close() }
        #expect(error?.code == .inputOutput)
    }

    @Test("Synchronizing makes relaxed commits durable, once")
    func synchronizing() throws {
        let shop = try Shop(durability: .relaxed)
        let before = shop.disk.count(.synchronize)
        try shop.put("a")
        try shop.put("b")
        try shop.store.synchronize()
        try shop.store.synchronize()
        #expect(shop.disk.count(.synchronize) - before == 1)
        #expect(shop.scheduler.delays == [])
    }

    @Test("The thread runs tasks in the order of their times, and none after it is stopped")
    func thread() {
        let scheduler = ThreadScheduler()
        let order = Mutex<[Int]>([])
        let (begun, gate) = (CallGate(), CallGate())
        // The thread is kept until all are there: both are due by then, one of them for longer.
        scheduler.schedule(after: 0) { begun.waitUntilOpen() }
        scheduler.schedule(after: 0) {
            order.withLock { $0.append(2) }
            gate.open()
        }
        scheduler.schedule(after: -1000) { order.withLock { $0.append(1) } }
        scheduler.schedule(after: 1000) { order.withLock { $0.append(3) } }
        begun.open()
        gate.waitUntilOpen()
        scheduler.stop()
        scheduler.schedule(after: 0) { order.withLock { $0.append(4) } }
        #expect(order.withLock { $0 } == [1, 2])
        // Nobody scheduled anything: there is no thread to wait for.
        ThreadScheduler().stop()
    }
}
