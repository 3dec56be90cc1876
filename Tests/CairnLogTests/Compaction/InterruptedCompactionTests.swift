// Compaction that fails, is closed under, or crashes in the middle: nothing is lost, and nothing is left lying about.

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

@Suite("Compaction that is interrupted")
struct InterruptedCompactionTests {
    /// A store with much that is dead, and what stands between it and the disk.
    private struct Shop {
        let base: MemoryFileSystem
        let disk: FaultInjectingFileSystem
        let scheduler = ManualScheduler()
        let store: LogStore

        init(
            on base: MemoryFileSystem = MemoryFileSystem(),
            durability: LogStoreOptions.Durability = .full,
            _ change: (inout LogStoreOptions) -> Void = { _ in }
        ) throws {
            self.base = base
            disk = FaultInjectingFileSystem(over: base)
            var options = CompactionTests.options(on: disk)
            options.durability = durability
            options.sizes.compactionFloor = .max
            let scheduler = scheduler
            options.makeScheduler = { scheduler }
            change(&options)
            store = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
        }

        /// The files of segments are those that are part of the store or wait to be removed, and no longer than that.
        func checkFiles(_ place: String = "") throws {
            // One that was begun and has no commit yet is unknown to what is published.
            let segments = store.engine.withTurnAnyway { $0.segments }
            let retired = store.engine.tools.retired.all.map(\.number)
            let wanted = Set(segments.all.map(\.number)).union(retired)
            let names = Set(wanted.map { SegmentName.name(of: $0) })
            #expect(Set(try DiskImage(of: base).segments) == names, "\(place)")
            for side in segments.sides {
                #expect(try side.segment.file.size() == side.end, "\(place)")
            }
        }

        /// The segments that take no more commits.
        func victims() throws -> Set<UInt32> {
            let segments = store.engine.registry.published().segments
            return Set(segments.all.map(\.number).filter { $0 != segments.current.number })
        }
    }

    private static func deleteAll(_ store: LogStore) throws {
        for entity in ["Airport", "Country"] {
            let index = try #require(store.schema.entity(named: entity)).index
            _ = try store.execute(BatchDeleteRequest(.fetch(StoreFetch(entity: index))))
        }
    }

    // MARK: Failing disks

    @Test(
        "A disk that is full in the middle keeps nothing of what was written for nothing, and the next compaction succeeds",
        arguments: [LogStoreOptions.Durability.full, .relaxed])
    func fullDisk(durability: LogStoreOptions.Durability) throws {
        var number = 1
        while true {
            let shop = try Shop(durability: durability)
            try CompactionTests.fill(shop.store)
            let before = try SampleStore.text(shop.store)
            let writes = shop.disk.count(.write)
            shop.disk.fail(.write, number: number, with: .noSpace, afterWriting: 50)
            let hasFailed: Bool
            do {
                _ = try shop.store.compact()
                hasFailed = false
            } catch {
                #expect(error.code == .noSpace)
                hasFailed = true
            }
            #expect(try SampleStore.text(shop.store) == before)
            try shop.checkFiles("write \(number)")
            #expect(try CompactionTests.text(try DiskImage(of: shop.base)).text == before)
            // A mark that could not be written fails nothing.
            if !hasFailed, shop.disk.count(.write) - writes < number { break }
            _ = try shop.store.compact()
            try shop.checkFiles("after write \(number)")
            #expect(try SampleStore.text(shop.store) == before)
            try shop.store.close()
            #expect(try CompactionTests.text(try DiskImage(of: shop.base)).text == before)
            number += 1
        }
        #expect(number > 6)
    }

    @Test("Compaction in the background goes on when a full disk has room again")
    func fullDiskInBackground() throws {
        let shop = try Shop { $0.sizes.compactionFloor = 8 << 10 }
        try CompactionTests.fill(shop.store)
        shop.disk.fail(.open, with: .noSpace, repeats: true)
        shop.scheduler.run()
        #expect(shop.store.engine.compaction.progress.withLock { $0.writtenBytes } == 0)
        shop.disk.clearFaults()
        for round in 0..<3 { try CompactionTests.update(shop.store, 0..<180, 50 + round) }
        let before = try SampleStore.text(shop.store)
        shop.scheduler.run()
        #expect(shop.store.engine.compaction.progress.withLock { $0.writtenBytes } > 0)
        #expect(try SampleStore.text(shop.store) == before)
        try shop.checkFiles()
    }

    @Test("A failing sync of a side segment fails the compaction, and nothing else")
    func failedSync() throws {
        let shop = try Shop()
        try CompactionTests.fill(shop.store)
        let before = try SampleStore.text(shop.store)
        var run: CompactionRun? = try CompactionRun(shop.store.engine, victims: try shop.victims())
        shop.disk.fail(.synchronize, with: .ioError)
        let error = #expect(throws: StoreError.self) {
            while case .moved = try #require(run).step() {}
        }
        #expect(error?.code == .inputOutput)
        run?.end()
        run = nil
        try shop.checkFiles()
        try CompactionTests.update(shop.store, 0..<9, 70)
        #expect(try SampleStore.text(shop.store) != before)
        let result = try shop.store.compact()
        #expect(result.retiredSegments > 0)
        try shop.checkFiles()
        let text = try SampleStore.text(shop.store)
        try shop.store.close()
        #expect(try CompactionTests.text(try DiskImage(of: shop.base)).text == text)
    }

    @Test(
        "What changes before its turn comes is not moved: compaction beside updates of all rows writes each once"
    )
    func besideUpdates() throws {
        let disk = MemoryFileSystem()
        var options = PatchedSample.options(on: disk)
        options.sizes.rowsPerBlock = 64
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        try PatchedSample.insert(store, 0..<4000)
        try store.engine.rollSegment()
        try PatchedSample.update(store, ["small": .value(.integer(0))])
        let state = store.engine.registry.published()
        let victims = Set(state.segments.mains.map(\.number))
            .subtracting([state.segments.current.number])
        let live = try SegmentUse.measure(state, store.engine).reduce(0) { $0 + $1.liveBytes }
        let run = try CompactionRun(store.engine, victims: victims)
        var steps = 0
        while case .moved = try run.step() {
            steps += 1
            if steps % 3 == 0 {
                try PatchedSample.update(store, ["small": .value(.integer(Int64(steps)))])
            }
        }
        run.end()
        #expect(steps > 10)
        #expect(run.writtenBytes < 2 * live, "\(run.writtenBytes) bytes of \(live)")
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("Segments in which nothing lives go without a trace")
    func nothingLeft() throws {
        let shop = try Shop()
        try CompactionTests.fill(shop.store)
        try Self.deleteAll(shop.store)
        let result = try shop.store.compact()
        #expect(result.retiredSegments > 2)
        try shop.checkFiles()
        // The schema has been moved by now: a run over what is dead since writes nothing at all.
        let schema = shop.store.engine.registry.published().catalog.place.segment
        for round in 0..<4 { try CompactionTests.update(shop.store, 0..<180, round) }
        try Self.deleteAll(shop.store)
        try shop.store.engine.rollSegment()
        try SampleStore.secondRows(shop.store)
        let run = try CompactionRun(
            shop.store.engine, victims: try shop.victims().subtracting([schema]))
        while case .moved = try run.step() {}
        #expect(run.writtenBytes == 0)
        run.end()
        try shop.checkFiles()
        try shop.store.close()
    }

    // MARK: Crashes

    @Test(
        "After a crash at any call a compaction of what is left, side segments of the unfinished run among it, changes nothing",
        arguments: [LogStoreOptions.Durability.full, .relaxed])
    func crashes(durability: LogStoreOptions.Durability) throws {
        // What there is to compact, with a side segment that holds deaths of others.
        let start = try Shop(durability: durability)
        try CompactionTests.fill(start.store, rounds: 2)
        let first = try #require(try start.victims().min())
        let run = try CompactionRun(start.store.engine, victims: [first])
        while case .moved = try run.step() {}
        try CompactionTests.update(start.store, 40..<100, 9)
        try SampleStore.deletedRows(start.store)
        let before = try SampleStore.text(start.store)
        try start.store.synchronize()
        let image = try DiskImage(of: start.base)
        var random = RandomSource()
        let step = Campaign.step(16)
        var number = Int.random(in: 1...step, using: &random)
        while true {
            let shop = try Shop(on: try image.disk(), durability: durability)
            shop.disk.crash(atMutation: shop.disk.mutationCount + number, afterWriting: 100)
            do {
                _ = try shop.store.compact()
            } catch {
                #expect(error.code == .inputOutput || error.code == .unusable)
            }
            let left = try DiskImage(of: shop.base)
            try? shop.store.close()
            let again = try Shop(on: try left.disk())
            #expect(try SampleStore.text(again.store) == before, "crash at call \(number)")
            // What is left is compacted a part at a time, with commits between.
            let rest = try CompactionRun(again.store.engine, victims: try again.victims())
            var round = 0
            while case .moved = try rest.step() {
                try CompactionTests.update(again.store, round * 9..<round * 9 + 9, 900)
                round += 1
            }
            rest.end()
            #expect(try again.store.check().findings.isEmpty, "crash at call \(number)")
            let text = try SampleStore.text(again.store)
            again.store.engine.sweepRetired()
            try again.checkFiles("crash at call \(number)")
            #expect(try CompactionTests.text(try DiskImage(of: again.base)).text == text)
            try again.store.close()
            guard shop.disk.hasCrashed else { break }
            number += step
        }
        #expect(number > 15)
    }

    // MARK: Closing

    @Test("A store that is closed in the middle of a run lets go of its engine")
    func closedInTheMiddle() throws {
        weak var engine: Engine?
        let base = MemoryFileSystem()
        var text = ""
        do {
            let shop = try Shop(on: base) { $0.sizes.compactionFloor = 8 << 10 }
            try CompactionTests.fill(shop.store)
            text = try SampleStore.text(shop.store)
            engine = shop.store.engine
            for _ in 0..<3 { shop.scheduler.runOnce() }
            let isUnderWay = shop.store.engine.compaction.run.withLock { $0 != nil }
            try #require(isUnderWay)
            try shop.store.close()
        }
        #expect(engine == nil)
        #expect(try CompactionTests.text(try DiskImage(of: base)).text == text)
    }

    @Test("Once the store is closed a run makes and removes no file, and no checkpoint is taken")
    func closedBefore() throws {
        let shop = try Shop()
        try CompactionTests.fill(shop.store)
        let victims = try shop.victims()
        let run = try CompactionRun(shop.store.engine, victims: victims)
        _ = try run.step()
        _ = try run.step()
        let engine = shop.store.engine
        try shop.store.close()
        let left = try DiskImage(of: shop.base)
        let error = #expect(throws: StoreError.self) {
            _ = try CompactionRun(engine, victims: victims)
        }
        #expect(error?.code == .unusable)
        run.end()
        #expect(throws: StoreError.self) { try engine.takeCheckpoint() }
        #expect(try DiskImage(of: shop.base) == left)
    }

    @Test("A snapshot that outlives closing reads the large values of segments that are gone")
    func snapshotAfterClosing() throws {
        let shop = try Shop()
        try CompactionTests.fill(shop.store)
        let snapshot = try shop.store.snapshot()
        var fetch = try CompactionTests.all(shop.store)
        fetch.includesRows = true
        let rows = try snapshot.fetch(fetch).rows
        for round in 0..<2 { try CompactionTests.update(shop.store, 0..<180, 80 + round) }
        try SampleStore.largeValue(shop.store)
        let before = try shop.victims()
        _ = try shop.store.compact()
        try #require(try shop.victims().isDisjoint(with: before))
        try shop.store.close()
        let later = try snapshot.fetch(fetch).rows
        let entity = shop.store.schema.entities[fetch.entity]
        #expect(later.map(\.id) == rows.map(\.id))
        for (row, other) in zip(rows, later) {
            for column in entity.columns.indices {
                #expect(row.cells.isEqual(other.cells, column: column, of: entity))
            }
        }
    }

    // MARK: Threads

    @Test("Compaction asked for in a batch's closure that has the turn is refused at once")
    func reentry() throws {
        let shop = try Shop { $0.sizes.stagingBytes = 1 }
        let store = shop.store
        let entity = try #require(store.schema.entity(named: "Country"))
        let errors = Mutex<[StoreError.Code]>([])
        let count = Mutex(0)
        _ = try store.execute(
            BatchInsertRequest(entity: entity) { row in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number > 3000 { return true }
                guard row.set(0, .string("country \(number)")) else { return true }
                if number == 3000 {
                    do throws(StoreError) {
                        _ = try store.compact()
                    } catch {
                        errors.withLock { $0.append(error.code) }
                    }
                }
                return false
            })
        #expect(errors.withLock { $0 } == [.invalidRequest])
    }

    @Test("What is due in the background waits for no compaction that was asked for")
    func besideAsked() throws {
        let shop = try Shop { $0.sizes.compactionFloor = 8 << 10 }
        try CompactionTests.fill(shop.store)
        try #require(!shop.scheduler.delays.isEmpty)
        let gate = shop.disk.hold(.synchronize)
        let threads = TestThreads()
        let store = shop.store
        threads.start { _ = try? store.compact() }
        gate.waitUntilReached()
        shop.scheduler.run()
        gate.open()
        threads.join()
        #expect(try store.check().findings.isEmpty)
        try shop.checkFiles()
    }

    @Test(
        "Threads that write, delete, read and take checkpoints beside compactions lose nothing",
        arguments: LogStoreOptions.Durability.allCases)
    func threads(durability: LogStoreOptions.Durability) throws {
        let shop = try Shop(durability: durability) { $0.sizes.checkpointBytes = 4 << 10 }
        let store = shop.store
        let airport = try CompactionTests.all(store).entity
        let problems = Mutex<[String]>([])
        let isOver = Atomic(false)
        let threads = TestThreads()
        func start(_ body: @escaping @Sendable () throws -> Void) {
            threads.start {
                do { try body() } catch { problems.withLock { $0.append("\(error)") } }
            }
        }
        let writers = TestThreads()
        for writer in 0..<2 {
            writers.start {
                do {
                    for round in 0..<25 {
                        // Each has keys of its own, and deletes some.
                        let first = writer * 100 + round % 5 * 10
                        try CompactionTests.update(store, first..<first + 20, round)
                        try SampleStore.largeValue(store)
                        if round % 3 == 0 {
                            let few = PredicateNode.compare(
                                "code", .equal, .string("A\(first + 3)"))
                            _ = try store.execute(
                                BatchDeleteRequest(
                                    .fetch(StoreFetch(entity: airport, predicate: few))))
                        }
                    }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
        }
        start {
            while !isOver.load(ordering: .acquiring) { _ = try store.compact() }
        }
        start {
            while !isOver.load(ordering: .acquiring) { try store.engine.takeCheckpoint() }
        }
        start {
            while !isOver.load(ordering: .acquiring) {
                let snapshot = try store.snapshot()
                var fetch = StoreFetch(entity: airport)
                fetch.includesRows = true
                let result = try snapshot.fetch(fetch)
                let count = try snapshot.count(fetch)
                if result.rows.count != count {
                    problems.withLock { $0.append("\(result.rows.count) rows of \(count)") }
                }
            }
        }
        writers.join()
        isOver.store(true, ordering: .releasing)
        threads.join()
        #expect(problems.withLock { $0 } == [])
        #expect(try store.check().findings.isEmpty)
        var keys: Set<String> = ["A20"]
        for writer in 0..<2 {
            for round in 0..<25 {
                let first = writer * 100 + round % 5 * 10
                keys.formUnion((first..<first + 20).map { "A\($0)" })
                if round % 3 == 0 { keys.remove("A\(first + 3)") }
            }
        }
        let text = try SampleStore.text(store)
        _ = try store.compact()
        #expect(try SampleStore.text(store) == text)
        try shop.checkFiles()
        for key in 0..<200 {
            #expect(text.contains("\"code\":\"A\(key)\"") == keys.contains("A\(key)"), "A\(key)")
        }
        try store.close()
        var image = try DiskImage(of: shop.base)
        #expect(try CompactionTests.text(image).text == text)
        for name in image.files.keys where name.hasPrefix("checkpoint") { image.files[name] = nil }
        #expect(try CompactionTests.text(image).text == text)
    }

    @Test("Two checkpoints are taken one after the other, and the newer one stays")
    func checkpoints() throws {
        let shop = try Shop()
        try CompactionTests.fill(shop.store)
        let gate = shop.disk.hold(.synchronize)
        let threads = TestThreads()
        let engine = shop.store.engine
        threads.start { try? engine.takeCheckpoint() }
        gate.waitUntilReached()
        #expect(engine.isReleased.withLockIfAvailable { _ in true } == nil)
        threads.start { try? engine.takeCheckpoint() }
        gate.open()
        threads.join()
        try SampleStore.secondRows(shop.store)
        try engine.takeCheckpoint()
        let names = try DiskImage(of: shop.base).files.keys.filter { $0.hasPrefix("checkpoint") }
        #expect(names == [CheckpointName.name(of: engine.registry.published().commit)])
    }

    @Test("Segments that wait for another checkpoint at opening go with the first compaction")
    func waitingSegments() throws {
        let image = try RichStore.made.get()
        let waiting = image.closed.segments.filter { !image.live.contains($0) }
        try #require(!waiting.isEmpty)
        let disk = try image.closed.disk()
        var options = RichStore.options(on: disk)
        // Nothing is worth moving.
        options.sizes.askedCompactionFloor = .max
        options.sizes.segmentBytes = 8
        options.sizes.checkpointBytes = 64 << 20
        let store = try LogStore.open(at: "\(DiskImage.folder)", options: options)
        #expect(Set(try DiskImage(of: disk).segments).isSuperset(of: waiting))
        let result = try store.compact()
        #expect(result.retiredSegments == 0 && result.bytesAfter < result.bytesBefore)
        #expect(Set(try DiskImage(of: disk).segments) == image.live)
        #expect(try store.exported() == image.content)
        try store.close()
    }
}
