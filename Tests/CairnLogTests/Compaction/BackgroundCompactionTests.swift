// Compaction in the background: when it begins, how fast it goes, and that nobody else notices.

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
@testable import CairnMoving

@Suite("Compaction in the background")
struct BackgroundCompactionTests {
    /// A store of segments with forty rows each, whose background work is done by hand.
    struct Shop {
        static let rows = 40

        let disk: FaultInjectingFileSystem
        let scheduler = ManualScheduler()
        let store: LogStore

        init(
            on base: any FileSystem = MemoryFileSystem(), rowsPerBlock: Int = 8,
            isReadOnly: Bool = false, idleSeconds: Double = .infinity,
            largestSegmentBytes: UInt64 = 1 << 30
        ) throws {
            disk = FaultInjectingFileSystem(over: base)
            var options = SampleStore.options(on: disk, segmentBytes: 12 << 10)
            options.sizes.rowsPerBlock = rowsPerBlock
            options.sizes.mergedBlocks = 4
            options.sizes.compactionBlocks = 1
            options.sizes.compactionFloor = 4 << 10
            options.sizes.compactionRate = 1000
            options.sizes.askedCompactionFloor = 1 << 10
            options.sizes.idleSeconds = idleSeconds
            options.sizes.largestSegmentBytes = largestSegmentBytes
            options.isReadOnly = isReadOnly
            options.followsWriter = false
            let scheduler = scheduler
            options.makeScheduler = { scheduler }
            store = try LogStore.open(
                at: "/store", schema: isReadOnly ? nil : try SampleStore.schema(), options: options)
        }

        /// Text that does not get smaller.
        static func note(_ seed: Int, bytes: Int = 400) -> String {
            var random = RandomSource(seed: UInt64(seed))
            return String(
                decoding: (0..<bytes).map { _ in UInt8(33 + random.next() % 90) }, as: UTF8.self)
        }

        func put(_ rows: some Sequence<Int>, noteBytes: Int? = 400) throws {
            var request = BatchInsertRequest(
                entityName: "Airport",
                objects: rows.map {
                    var row: [String: Any] = ["code": "A\($0)", "elevation": $0]
                    if let noteBytes { row["note"] = Self.note($0, bytes: noteBytes) }
                    return row
                })
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.setOnly = true
            _ = try store.execute(request)
        }

        /// Segments 1 to `count`, of which none is dead.
        func fill(_ count: Int) throws {
            for part in 0..<count {
                try put(part * Self.rows..<(part + 1) * Self.rows)
                try store.engine.rollSegment()
            }
        }

        /// Lets rows of a part of `fill` die.
        func delete(_ rows: Int, ofPart part: Int) throws {
            let codes = (part * Self.rows..<part * Self.rows + rows).map {
                Value.string("A\($0)")
            }
            guard rows > 0 else { return }
            let fetch = try SampleStore.fetch(store, .comparison(.init(.key("code"), .in, codes)))
            let result = try store.execute(BatchDeleteRequest(.fetch(fetch)))
            #expect(result.deletedCount == rows)
        }

        /// Commits as much as makes the dead space be looked at; nothing of it is dead.
        func goOn(_ number: Int = 0) throws {
            try put(10_000 + number * 20..<10_000 + number * 20 + 20)
        }

        /// The main segments that are live.
        var mains: [UInt32] {
            store.engine.registry.published().segments.mains.map(\.number)
        }

        var sides: [UInt32] {
            store.engine.registry.published().segments.sides.map(\.segment.number)
        }

        /// Runs what waits a task at a time; tells before each how long it was to wait.
        func run(steps: Int = .max, _ body: (Double) throws -> Void = { _ in }) throws -> Int {
            var done = 0
            while done < steps, let delay = scheduler.delays.first {
                #expect(scheduler.delays.count == 1)
                try body(delay)
                scheduler.runOnce()
                done += 1
            }
            return done
        }
    }

    // MARK: When

    @Test(
        "It begins with a segment that is half dead, and leaves the others alone",
        arguments: [(12, false), (28, true), (40, true)])
    func halfDeadSegment(dead: Int, begins: Bool) throws {
        let shop = try Shop()
        try shop.fill(6)
        _ = try shop.run()
        #expect(shop.sides == [])
        try shop.delete(dead, ofPart: 1)
        try shop.goOn()
        let text = try SampleStore.text(shop.store)
        let before = shop.mains
        _ = try shop.run()
        #expect(Set(before).subtracting(shop.mains) == (begins ? [2] : []))
        // Where nothing is alive nothing is written.
        #expect(shop.sides.count == (begins && dead < Shop.rows ? 1 : 0))
        #expect(try SampleStore.text(shop.store) == text)
        #expect(try shop.store.check().findings.isEmpty)
        let names = try DiskImage(of: shop.disk).segments
        #expect(names.count == shop.mains.count + shop.sides.count, "no file is left over")
        try shop.store.close()
    }

    @Test(
        "It begins when two fifths of the store are dead, though no segment is half dead",
        arguments: [(12, false), (22, true)])
    func deadStore(dead: Int, begins: Bool) throws {
        let shop = try Shop()
        try shop.fill(6)
        for part in 0..<6 { try shop.delete(dead, ofPart: part) }
        let uses = try SegmentUse.measure(
            shop.store.engine.registry.published(), shop.store.engine)
        for use in uses where use.segment.number <= 6 { #expect(use.deadShare < 0.5) }
        try shop.goOn()
        let text = try SampleStore.text(shop.store)
        _ = try shop.run()
        #expect(shop.mains.contains { $0 <= 6 } == !begins)
        #expect(try SampleStore.text(shop.store) == text)
        #expect(try shop.store.check().findings.isEmpty)
        try shop.store.close()
    }

    @Test(
        "When nobody writes it goes on until little of the store is dead, as many runs as that takes"
    )
    func idle() throws {
        // A run moves two segments.
        let shop = try Shop(idleSeconds: 0.5, largestSegmentBytes: 160 << 10)
        // What comes after the first look counts for the allowance.
        try shop.goOn(1)
        shop.scheduler.run()
        try shop.fill(6)
        for part in 0..<6 { try shop.delete(12, ofPart: part) }
        try shop.goOn()
        let text = try SampleStore.text(shop.store)
        while shop.scheduler.delays.contains(0) { shop.scheduler.runOnce() }
        #expect(shop.sides == [], "while others write it is not worth it")
        shop.scheduler.run()
        #expect(shop.sides.count > 1)
        let uses = try SegmentUse.measure(
            shop.store.engine.registry.published(), shop.store.engine)
        let dead = uses.reduce(0) { $0 + $1.deadBytes }
        #expect(Double(dead) < 0.15 * Double(uses.reduce(0) { $0 + $1.bytes }) || dead < 8 << 10)
        #expect(try SampleStore.text(shop.store) == text)
        #expect(try shop.store.check().findings.isEmpty)
        #expect(
            try DiskImage(of: shop.disk).segments.count == shop.mains.count + shop.sides.count)
        try shop.store.close()
    }

    @Test(
        "What is worth it when nobody writes is found with the first commit, however large the store"
    )
    func idleAfterOpening() throws {
        let base = MemoryFileSystem()
        let writer = try Shop(on: base)
        try writer.fill(24)
        for part in 0..<24 { try writer.delete(12, ofPart: part) }
        try writer.store.close()
        let shop = try Shop(on: base, idleSeconds: 0.5)
        let text = try SampleStore.text(shop.store)
        // A few hundred bytes of log, where a look waits for a thirty-second of the store.
        _ = try shop.store.execute(
            BatchInsertRequest(entityName: "Country", objects: [["name": "Austria"]]))
        shop.scheduler.run()
        let uses = try SegmentUse.measure(
            shop.store.engine.registry.published(), shop.store.engine)
        let dead = uses.reduce(0) { $0 + $1.deadBytes }
        #expect(Double(dead) < 0.15 * Double(uses.reduce(0) { $0 + $1.bytes }))
        #expect(shop.sides.count >= 1)
        #expect(try SampleStore.text(shop.store).count > text.count)
        #expect(try shop.store.check().findings.isEmpty)
        try shop.store.close()
    }

    @Test("What is little is left alone, however dead")
    func little() throws {
        let shop = try Shop()
        try shop.put(0..<6)
        try shop.store.engine.rollSegment()
        try shop.delete(6, ofPart: 0)
        try shop.goOn()
        _ = try shop.run()
        #expect(shop.mains.contains(1))
        try shop.store.close()
    }

    @Test("It never begins in a store that is only read")
    func readOnly() throws {
        let base = MemoryFileSystem()
        let writer = try Shop(on: base)
        try writer.fill(4)
        for part in 0..<4 { try writer.delete(30, ofPart: part) }
        try writer.store.close()
        let image = try DiskImage(of: base)
        let reader = try Shop(on: base, isReadOnly: true)
        var snapshot: (any StoreSnapshot)? = try reader.store.snapshot()
        _ = try snapshot?.fetch(CompactionTests.all(reader.store))
        snapshot = nil
        try reader.store.refresh()
        let error = #expect(throws: StoreError.self) { try reader.store.compact() }
        #expect(error?.code == .readOnly)
        #expect(reader.scheduler.delays == [])
        reader.store.engine.sweepRetired()
        try reader.store.close()
        #expect(try DiskImage(of: base) == image)
    }

    // MARK: How fast

    /// A store of which much is dead, also of its large values, to which rows elsewhere refer.
    private static func worn(on base: any FileSystem = MemoryFileSystem()) throws -> Shop {
        let shop = try Shop(on: base, rowsPerBlock: 4)
        try shop.fill(3)
        let large = 1000..<1040
        try shop.put(large, noteBytes: 6000)
        try shop.store.engine.rollSegment()
        for row in large.prefix(25) {
            let fetch = try SampleStore.fetch(
                shop.store, .compare("code", .equal, .string("A\(row)")))
            _ = try shop.store.execute(BatchDeleteRequest(.fetch(fetch)))
        }
        // The values stay where they are.
        try shop.put(large.suffix(15), noteBytes: nil)
        for part in 0..<3 { try shop.delete(28, ofPart: part) }
        try shop.goOn()
        return shop
    }

    @Test(
        "Each step waits as long as what the one before wrote takes at the rate, and is one commit at most (CP3)"
    )
    func rate() throws {
        let shop = try Self.worn()
        let engine = shop.store.engine
        let text = try SampleStore.text(shop.store)
        var waited = 0.0
        var longest = 0.0
        var last = engine.registry.published().commit
        let steps = try shop.run { delay in
            // What comes last looks whether files can go.
            guard engine.compaction.progress.withLock({ $0.isScheduled }) else { return }
            waited += delay
            longest = max(longest, delay)
            let commit = engine.registry.published().commit
            #expect(commit - last <= 1)
            last = commit
        }
        #expect(steps > 15, "\(steps)")
        let written = try shop.store.statistics().written.compacted
        #expect(written > 15 * 6000, "the large values are moved, too")
        #expect(abs(waited * 1000 - Double(written)) < 1)
        // A block of four rows, with their values.
        #expect(longest * 1000 < 40_000, "\(longest)")
        #expect(!shop.mains.contains { $0 <= 4 })
        #expect(try SampleStore.text(shop.store) == text)
        #expect(try shop.store.check().findings.isEmpty)
        try shop.store.close()
    }

    @Test("Commits get through between any two steps, and what they change is what counts")
    func commitsBetween() throws {
        let shop = try Self.worn()
        var expected: [String: Int] = [:]
        var round = 0
        _ = try shop.run { _ in
            guard round < 60 else { return }
            round += 1
            // Rows that are on their way, large values, new ones, deletions.
            let rows = [30 + round % 10, 1025 + round % 15, 20_000 + round]
            try shop.put(rows, noteBytes: round % 3 == 0 ? 5000 : nil)
            for row in rows { expected["A\(row)"] = row }
            if round % 7 == 0 {
                let fetch = try SampleStore.fetch(
                    shop.store, .compare("code", .equal, .string("A\(rows[2])")))
                _ = try shop.store.execute(BatchDeleteRequest(.fetch(fetch)))
                expected["A\(rows[2])"] = nil
            }
        }
        #expect(round > 15)
        #expect(!shop.mains.contains { $0 <= 4 })
        for (code, elevation) in expected {
            let fetch = try SampleStore.fetch(
                shop.store,
                .and([
                    .compare("code", .equal, .string(code)),
                    .compare("elevation", .equal, .integer(Int64(elevation))),
                ]))
            #expect(try shop.store.snapshot().count(fetch) == 1, "\(code)")
        }
        #expect(try shop.store.check().findings.isEmpty)
        let text = try SampleStore.text(shop.store)
        #expect(try DiskImage(of: shop.disk).content().text == text)
        try shop.store.close()
    }

    @Test("Committers on threads are not starved by it, and lose nothing")
    func threads() throws {
        let base = MemoryFileSystem()
        var options = SampleStore.options(on: base, segmentBytes: 12 << 10)
        options.sizes.rowsPerBlock = 8
        options.sizes.compactionBlocks = 1
        options.sizes.compactionFloor = 4 << 10
        options.sizes.compactionRate = 1e9
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        let problems = Mutex<[String]>([])
        TestThreads.run(3) { thread in
            for round in 0..<30 {
                do {
                    var request = BatchInsertRequest(
                        entityName: "Airport",
                        objects: (0..<10).map {
                            [
                                "code": "T\(thread)-\($0)", "elevation": round,
                                "note": Shop.note(round * 100 + $0, bytes: $0 == 0 ? 5000 : 200),
                            ]
                        })
                    request.mergePolicy = .mergeByPropertyObjectTrump
                    _ = try store.execute(request)
                    let fetch = StoreFetch(
                        entity: try #require(store.schema.entity(named: "Airport")).index)
                    let snapshot = try store.snapshot()
                    let ids = try snapshot.fetch(fetch).ids
                    if try snapshot.rows(ids).contains(where: { $0 == nil }) {
                        problems.withLock { $0.append("a row is missing") }
                    }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(problems.withLock { $0 } == [])
        let last = try SampleStore.fetch(store, .compare("elevation", .equal, .integer(29)))
        #expect(try store.snapshot().count(last) == 30)
        #expect(try store.check().findings.isEmpty)
        let text = try SampleStore.text(store)
        try store.close()
        #expect(try DiskImage(of: base).content().text == text)
    }

    // MARK: One state

    @Test("A snapshot, exports and backups during it see one state each")
    func oneState() throws {
        let shop = try Self.worn()
        let snapshot = try shop.store.snapshot()
        let text = try SampleStore.text(shop.store)
        var round = 0
        _ = try shop.run { _ in
            round += 1
            if round % 3 == 0, round < 60 { try shop.put([30 + round % 10], noteBytes: nil) }
            var bytes: [UInt8] = []
            try shop.store.export(of: snapshot) { bytes.append(contentsOf: $0) }
            #expect(String(decoding: bytes, as: UTF8.self) == text, "step \(round)")
            guard round % 4 == 0 else { return }
            let present = try SampleStore.text(shop.store)
            // Into an earlier one, and into a new one.
            for folder in ["/backup", "/backup-\(round)"] {
                _ = try shop.store.backup(to: folder, on: shop.disk)
                let image = try DiskImage(of: shop.disk, FilePath(folder))
                #expect(try image.content().text == present, "step \(round)")
            }
        }
        #expect(round > 15)
        try shop.store.close()
    }

    @Test("A backup and an export that it overtakes end with the state that they began with")
    func overtaken() throws {
        for isBackup in [true, false] {
            let shop = try Self.worn()
            let text = try SampleStore.text(shop.store)
            let outcome = Mutex<Result<String, any Error>?>(nil)
            let threads = TestThreads()
            // Nothing was decoded yet by an engine that was just opened.
            try shop.store.close()
            let base = try DiskImage(of: shop.disk).disk()
            let again = try Shop(on: base, rowsPerBlock: 4)
            try again.goOn(1)
            let expected = try SampleStore.text(again.store)
            #expect(expected != text)
            let gate = again.disk.hold(isBackup ? .write : .syncDirectory, number: isBackup ? 3 : 1)
            threads.start {
                let result = Result {
                    if isBackup {
                        _ = try again.store.backup(to: "/backup", on: again.disk)
                        return try DiskImage(of: base, "/backup").content().text
                    }
                    var bytes: [UInt8] = []
                    var isFirst = true
                    try again.store.export {
                        // In the middle of it.
                        if isFirst { try again.disk.syncDirectory("/store") }
                        isFirst = false
                        bytes.append(contentsOf: $0)
                    }
                    return String(decoding: bytes, as: UTF8.self)
                }
                outcome.withLock { $0 = result }
            }
            gate.waitUntilReached()
            // Until only sweeps are left, which what runs lets wait.
            _ = try again.run(steps: 200)
            #expect(!again.mains.contains { $0 <= 4 })
            let kept = try again.store.statistics().snapshots.first?.pinnedBytes ?? 0
            #expect(kept > 0)
            gate.open()
            threads.join()
            #expect(try outcome.withLock { $0 }?.get() == expected)
            again.scheduler.run()
            #expect(try again.store.statistics().retiredBytes == 0)
            try again.store.close()
        }
    }

    // MARK: Stopping

    @Test(
        "It stops when the store is closed, wherever it is, and goes on when it is opened and written to"
    )
    func closing() throws {
        for steps in stride(from: 1, to: 40, by: 3) {
            let base = MemoryFileSystem()
            let shop = try Self.worn(on: base)
            let done = try shop.run(steps: steps)
            let text = try SampleStore.text(shop.store)
            try shop.store.close()
            #expect(shop.scheduler.delays == [])
            let image = try DiskImage(of: base)
            shop.scheduler.run()
            #expect(try DiskImage(of: base) == image)

            let again = try Shop(on: base, rowsPerBlock: 4)
            #expect(try SampleStore.text(again.store) == text, "step \(steps)")
            try again.put([50_000], noteBytes: 10)
            let later = try SampleStore.text(again.store)
            // The parts of the checkpoint, too.
            again.scheduler.run()
            #expect(!again.mains.contains { $0 <= 4 }, "step \(steps)")
            #expect(try SampleStore.text(again.store) == later)
            #expect(try again.store.check().findings.isEmpty)
            #expect(
                try DiskImage(of: base).segments.count == again.mains.count + again.sides.count)
            try again.store.close()
            if done < steps { break }
        }
    }

    // MARK: Failing

    @Test("When there is no room it leaves no file behind, and tries again when more was written")
    func noRoom() throws {
        for number in 1...12 {
            let shop = try Self.worn()
            let text = try SampleStore.text(shop.store)
            _ = try shop.run(steps: 1)
            shop.disk.fail(.write, number: number, of: ".segment", with: .noSpace)
            _ = try shop.run()
            shop.disk.clearFaults()
            #expect(try SampleStore.text(shop.store) == text, "write \(number)")
            let files = try DiskImage(of: shop.disk)
            // One that was begun and has no commit yet is among these.
            let known = shop.store.engine.withTurnAnyway { $0.segments.all.map(\.number) }
            #expect(
                files.segments == known.map { SegmentName.name(of: $0) }.sorted(),
                "write \(number)")
            for side in shop.store.engine.registry.published().segments.sides {
                let bytes = files.files[SegmentName.name(of: side.segment.number)]
                #expect(bytes?.count == Int(side.end), "what is not adopted is given back")
            }
            try shop.goOn(1)
            let later = try SampleStore.text(shop.store)
            _ = try shop.run()
            #expect(!shop.mains.contains { $0 <= 4 }, "write \(number)")
            #expect(try SampleStore.text(shop.store) == later)
            #expect(try shop.store.check().findings.isEmpty)
            try shop.store.close()
            #expect(try DiskImage(of: shop.disk).content().text == later)
        }
    }

    @Test(
        "A damaged segment stays as it is, is not tried again and again, and stops nobody who writes"
    )
    func damage() throws {
        let base = MemoryFileSystem()
        let shop = try Self.worn(on: base)
        let name = SegmentName.name(of: 2)
        let file = try base.open(FilePath("/store").appending(name), .readWrite)
        try [UInt8](repeating: 0x5A, count: 64).withUnsafeBytes { try file.write($0, at: 6000) }
        let damaged = try DiskImage(of: base).files[name]
        _ = try shop.run()
        #expect(try shop.store.statistics().compactionFailure?.code == .damaged)
        try shop.goOn(1)
        try shop.goOn(2)
        #expect(shop.scheduler.delays == [])
        #expect(shop.mains.contains(2))
        #expect(try DiskImage(of: base).files[name] == damaged)
        try shop.store.close()
    }
}
