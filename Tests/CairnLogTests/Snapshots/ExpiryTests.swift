// Snapshots that keep too much space are given up, the oldest first; their readers are told, and nobody else notices.

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

@Suite("Expiry of snapshots (ST4)")
struct ExpiryTests {
    /// A store that gives snapshots up as soon as they keep more than `limit`, with work beside the committers by hand.
    struct Shop {
        let base = MemoryFileSystem()
        let disk: FaultInjectingFileSystem
        let scheduler = ManualScheduler()
        let store: LogStore

        init(limit: UInt64) throws {
            disk = FaultInjectingFileSystem(over: base)
            var options = CompactionTests.options(on: disk)
            options.snapshotLimit = limit
            // Blocks are read from the disk each time.
            options.cacheBytes = 0
            let scheduler = scheduler
            options.makeScheduler = { scheduler }
            store = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
            try CompactionTests.fill(store)
        }

        /// Makes all that is there dead, and gives it back.
        func renew(_ round: Int) throws {
            try CompactionTests.update(store, 0..<180, 1000 + round)
            _ = try store.compact()
        }

        var segments: Set<String> { get throws { Set(try DiskImage(of: base).segments) } }

        func ids(_ snapshot: (any StoreSnapshot)?) throws -> [ObjectID] {
            try #require(try snapshot?.fetch(CompactionTests.all(store)).ids)
        }
    }

    private static func expired(_ body: () throws -> Void) -> StoreError? {
        let error = #expect(throws: StoreError.self, performing: body)
        #expect(error?.code == .snapshotExpired)
        #expect(error?.code.rawValue == 134_062)
        return error
    }

    @Test(
        "Its reader is told who it was and why, whatever is asked; new snapshots read what is there now"
    )
    func told() throws {
        let shop = try Shop(limit: 1000)
        let store = shop.store
        let snapshot = try store.snapshot(named: "the yearly report")
        let ids = try shop.ids(snapshot)
        let entity = try #require(store.schema.entity(named: "Airport")).index
        try shop.renew(0)
        let questions: [() throws -> Void] = [
            { _ = try snapshot.fetch(CompactionTests.all(store)) },
            { _ = try snapshot.count(CompactionTests.all(store)) },
            { _ = try snapshot.rows(ids) },
            { _ = try snapshot.members(ofRelationship: 0, entity: entity, owners: ids) },
            { _ = try snapshot.referrers(toTarget: ids[0], relationship: 0, entity: entity) },
            { try store.export(of: snapshot) { _ in } },
        ]
        for question in questions {
            let message = try #require(Self.expired(question)).message
            #expect(message.contains("the yearly report"))
            #expect(message.contains("commit \(snapshot.commit)"))
            #expect(message.contains("1000 (snapshotLimit)"))
        }
        #expect(try shop.ids(try store.snapshot()) == ids)
        #expect(try store.check().findings.isEmpty)
        try store.close()
        _ = Self.expired { _ = try snapshot.rows(ids) }
    }

    @Test("The space comes back at once if nothing runs on it")
    func space() throws {
        let shop = try Shop(limit: 1000)
        let snapshot = try shop.store.snapshot()
        let before = try shop.segments
        try shop.renew(0)
        #expect(try shop.segments.isDisjoint(with: before))
        #expect(try shop.store.statistics().retiredBytes == 0)
        #expect(try shop.store.statistics().snapshots.isEmpty)
        #expect(shop.store.engine.registry.count == 1)
        withExtendedLifetime(snapshot) {}
        try shop.store.close()
    }

    @Test("Below the limit it stays; statistics say who keeps how much")
    func below() throws {
        let shop = try Shop(limit: 1 << 40)
        let store = shop.store
        let first = try store.snapshot(named: "first")
        let ids = try shop.ids(first)
        try shop.renew(0)
        let second = try store.snapshot(named: "second")
        try shop.renew(1)
        let third = try store.snapshot(named: "third")
        let statistics = try store.statistics()
        #expect(statistics.snapshots.map(\.name) == ["first", "second", "third"])
        #expect(
            statistics.snapshots.map(\.commit) == [first.commit, second.commit, third.commit])
        #expect(statistics.snapshots[0].pinnedBytes > 0)
        #expect(statistics.snapshots[1].pinnedBytes > 0)
        #expect(statistics.snapshots[2].pinnedBytes == 0)
        #expect(
            statistics.retiredBytes
                == statistics.snapshots[0].pinnedBytes + statistics.snapshots[1].pinnedBytes)
        for snapshot in [first, second, third] { #expect(try shop.ids(snapshot) == ids) }
        try store.close()
        // Snapshots outlive the store.
        for snapshot in [first, second, third] {
            #expect(try snapshot.rows(ids).compactMap { $0 }.count == ids.count)
        }
    }

    @Test("The oldest goes first, and only as many as must")
    func oldestFirst() throws {
        let shop = try Shop(limit: 1 << 40)
        let first = try shop.store.snapshot(named: "first")
        try shop.renew(0)
        let kept = try shop.store.statistics().retiredBytes
        try shop.store.close()

        let other = try Shop(limit: kept + 100)
        let snapshots = try (0..<3).map { round -> any StoreSnapshot in
            let snapshot = try other.store.snapshot(named: "\(round)")
            try other.renew(round)
            return snapshot
        }
        let statistics = try other.store.statistics()
        let left = statistics.snapshots.compactMap(\.name)
        #expect(left == ["1", "2"])
        #expect(statistics.retiredBytes > 0 && statistics.retiredBytes <= kept + 100)
        _ = Self.expired { _ = try other.ids(snapshots[0]) }
        for snapshot in snapshots[1...] { #expect(try !other.ids(snapshot).isEmpty) }
        try other.store.close()
        withExtendedLifetime(first) {}
    }

    @Test("A snapshot keeps what it needs, and not the segments that came and went after it")
    func later() throws {
        let shop = try Shop(limit: 1 << 40)
        let snapshot = try shop.store.snapshot(named: "old")
        let text = try SampleStore.text(shop.store)
        try shop.renew(0)
        let kept = try shop.store.statistics().retiredBytes
        #expect(kept > 0)
        for round in 1..<6 {
            try shop.renew(round)
            #expect(try shop.store.statistics().retiredBytes == kept, "round \(round)")
        }
        #expect(try shop.store.statistics().snapshots.map(\.pinnedBytes) == [kept])
        var bytes: [UInt8] = []
        try shop.store.export(of: snapshot) { bytes.append(contentsOf: $0) }
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        try shop.store.close()
    }

    @Test(
        "What runs on it ends as if nothing were; then the space comes back, without a further compaction"
    )
    func running() throws {
        let shop = try Shop(limit: 1000)
        let (store, disk) = (shop.store, shop.disk)
        let expected = try store.snapshot().rows(try shop.ids(try store.snapshot()))
            .map { try #require($0).version }
        var snapshot: (any StoreSnapshot)? = try store.snapshot(named: "slow")
        let ids = try shop.ids(snapshot)
        let segments = try shop.segments
        let found = Mutex<Result<[UInt32], any Error>?>(nil)
        let threads = TestThreads()
        let gate = disk.hold(.read, number: 3)
        threads.start { [snapshot] in
            let result = Result { try snapshot?.rows(ids).compactMap { $0?.version } ?? [] }
            found.withLock { $0 = result }
        }
        gate.waitUntilReached()
        try shop.renew(0)
        _ = Self.expired { _ = try snapshot?.rows(ids) }
        // It still needs its files, and statistics say so.
        #expect(try shop.segments.isSuperset(of: segments))
        let kept = try store.statistics().snapshots.first { $0.name == "slow" }?.pinnedBytes
        #expect(try #require(kept) > 1000)
        gate.open()
        threads.join()
        #expect(try found.withLock { $0 }?.get() == expected)
        shop.scheduler.run()
        #expect(try shop.segments.isDisjoint(with: segments))
        snapshot = nil
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("An export that runs on it ends as if nothing were, and is named while it runs")
    func runningExport() throws {
        let shop = try Shop(limit: 1000)
        let (store, disk) = (shop.store, shop.disk)
        let expected = try SampleStore.text(store)
        let segments = try shop.segments
        let found = Mutex<Result<String, any Error>?>(nil)
        let threads = TestThreads()
        let gate = disk.hold(.read, number: 3)
        threads.start {
            let result = Result { try SampleStore.text(store) }
            found.withLock { $0 = result }
        }
        gate.waitUntilReached()
        try shop.renew(0)
        #expect(try store.statistics().snapshots.compactMap(\.name) == ["export"])
        #expect(try shop.segments.isSuperset(of: segments))
        gate.open()
        threads.join()
        #expect(try found.withLock { $0 }?.get() == expected)
        shop.scheduler.run()
        #expect(try shop.segments.isDisjoint(with: segments))
        try store.close()
    }

    @Test("Letting go of a snapshot gives the space back soon, without a further compaction")
    func release() throws {
        let shop = try Shop(limit: 1 << 40)
        var snapshot: (any StoreSnapshot)? = try shop.store.snapshot()
        let segments = try shop.segments
        try shop.renew(0)
        #expect(try shop.segments.isSuperset(of: segments))
        shop.scheduler.run()
        #expect(try shop.segments.isSuperset(of: segments))
        #expect(snapshot != nil)
        snapshot = nil
        #expect(shop.scheduler.delays == [1])
        shop.scheduler.run()
        #expect(try shop.segments.isDisjoint(with: segments))
        #expect(try shop.store.statistics().retiredBytes == 0)
        try shop.store.close()
    }

    @Test(
        "Readers on many threads see one state each or the error, while snapshots come, go and expire"
    )
    func many() throws {
        let shop = try Shop(limit: 20_000)
        let store = shop.store
        let problems = Mutex<[String]>([])
        let isOver = Atomic(false)
        let expirations = Atomic(0)
        let fetch = try CompactionTests.all(store)
        let threads = TestThreads()
        for _ in 0..<3 {
            threads.start {
                while !isOver.load(ordering: .relaxed) {
                    do {
                        let snapshot = try store.snapshot()
                        let first = try snapshot.fetch(fetch).ids
                        for _ in 0..<20 {
                            let rows = try snapshot.rows(first)
                            if rows.contains(where: { $0 == nil }) {
                                problems.withLock { $0.append("a row is missing") }
                            }
                        }
                    } catch let error as StoreError where error.code == .snapshotExpired {
                        expirations.add(1, ordering: .relaxed)
                    } catch {
                        problems.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        for round in 0..<12 { try shop.renew(round) }
        isOver.store(true, ordering: .relaxed)
        threads.join()
        #expect(problems.withLock { $0 } == [])
        #expect(store.engine.registry._checkInvariants() == [])
        store.engine.sweepRetired()
        #expect(try store.statistics().retiredBytes == 0)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("A snapshot of another store is no snapshot of this one")
    func foreign() throws {
        let (one, other) = (try Shop(limit: 1000), try Shop(limit: 1000))
        let snapshot = try other.store.snapshot()
        let error = #expect(throws: StoreError.self) {
            try one.store.export(of: snapshot) { _ in }
        }
        #expect(error?.code == .invalidRequest)
        try one.store.close()
        try other.store.close()
    }
}
