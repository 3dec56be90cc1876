// Reading a store as it was after a commit of the past, and how far back that goes.

import CairnFileSystem
import CairnFormat
import CairnMigration
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Past states of a store")
struct PastStateTests {
    static func open(
        _ disk: any FileSystem, _ retention: PastStateRetention? = .all,
        _ change: (inout LogStoreOptions) -> Void = { _ in }
    ) throws -> LogStore {
        var options = CompactionTests.options(on: disk)
        options.pastStates = retention
        let scheduler = ManualScheduler()
        options.makeScheduler = { scheduler }
        change(&options)
        return try LogStore.open(at: "/store", schema: try SampleStore.schema(), options: options)
    }

    /// Work with much that is compacted away, with what there was after each part of it.
    static func work(_ store: LogStore, _ contents: inout PastContents) throws {
        try contents.note(store)
        for step in SampleStore.steps {
            try step(store)
            try contents.note(store)
        }
        for round in 0..<4 {
            for part in 0..<3 {
                try CompactionTests.update(store, part * 60..<(part + 1) * 60, round)
                try contents.note(store)
            }
            try SampleStore.largeValue(store)
            try contents.note(store)
        }
    }

    private static func bytes(_ disk: MemoryFileSystem) throws -> Int {
        try DiskImage(of: disk).files.values.reduce(0) { $0 + $1.count }
    }

    @Test(
        "Whatever compaction has retired, each is what was shown then; purging gives the space back"
    )
    func retired() throws {
        var random = RandomSource(seed: 1)
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        var contents = PastContents()
        try Self.work(store, &contents)
        let result = try store.compact()
        #expect(result.retiredSegments > 2)
        #expect(try contents.problems(store, &random) == [])
        let full = try Self.bytes(disk)
        let bounds = try #require(try store.pastStateBounds())
        #expect(bounds.retention == .all && bounds.bytes > 0)
        #expect(UInt64(full) > bounds.bytes)

        try store.purgePastStates(before: bounds.last)
        #expect(try store.pastStateBounds()?.horizon == bounds.last)
        #expect(try store.pastStateBounds()?.bytes == 0)
        #expect(try Self.bytes(disk) * 2 < full)
        #expect(try contents.problems(store, &random) == [])
        let error = #expect(throws: StoreError.self) { _ = try store.snapshot(at: bounds.last - 1) }
        #expect(error?.message.contains("after commit \(bounds.last)") == true)
        try store.close()
        let (text, _) = try CompactionTests.text(try DiskImage(of: disk))
        #expect(text == contents.texts[contents.texts.keys.max() ?? 0])
    }

    @Test("A store that keeps none says so, and of one that is none any more everything goes")
    func off() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk, nil)
        try CompactionTests.update(store, 200..<210, 1)
        let last = try store.snapshot().commit
        #expect(try store.pastStateBounds() == nil)
        #expect(storeErrorCode { _ = try store.snapshot(at: last - 1) } == .invalidRequest)
        #expect(storeErrorCode { try store.purgePastStates(before: 1) } == .invalidRequest)
        #expect(storeErrorCode { _ = try store.transactionNumber(at: Date()) } == .invalidRequest)
        // The newest one is there anyway.
        #expect(try store.snapshot(at: last).commit == last)
        #expect(throws: StoreError.self) { try store.engine.setPastStates(.transactions(-1)) }
        try store.engine.setPastStates(.all)
        var contents = PastContents()
        try Self.work(store, &contents)
        _ = try store.compact()
        let waiting = store.engine.tools.retired.all.count
        #expect(waiting > 0)
        try store.engine.setPastStates(.off)
        #expect(try store.pastStateBounds() == nil)
        let segments = store.engine.registry.published().segments.all.map(\.number)
        #expect(try DiskImage(of: disk).segments.count == segments.count)
        try store.close()
    }

    @Test("Of the last commits so many are kept, and of the last seconds")
    func retention() throws {
        for isByTime in [false, true] {
            let disk = MemoryFileSystem()
            let clock = ManualClock(1000)
            var random = RandomSource(seed: 2)
            let store = try Self.open(disk, isByTime ? .seconds(3600) : .transactions(20)) {
                $0.clock = clock
            }
            var contents = PastContents()
            try Self.work(store, &contents)
            _ = try store.compact()
            let first = try #require(try store.pastStateBounds())
            clock.set(9000)
            for round in 0..<24 {
                try CompactionTests.update(store, 0..<180, 100 + round)
                try contents.note(store)
            }
            _ = try store.compact()
            let bounds = try #require(try store.pastStateBounds())
            #expect(bounds.horizon > first.horizon)
            #expect(isByTime || bounds.last - bounds.horizon >= 20)
            #expect(try contents.problems(store, &random) == [])
            let held = store.engine.heldSegments
            #expect(!held.isEmpty)
            let waiting = Set(store.engine.tools.retired.all.map(\.number))
            #expect(waiting == held)
            #expect(bounds.retention == (isByTime ? .seconds(3600) : .transactions(20)))
            try store.close()
        }
    }

    @Test("Two are kept, and more only as long as somebody reads them")
    func kept() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        var contents = PastContents()
        try Self.work(store, &contents)
        let numbers = contents.texts.keys.sorted()
        let first = try store.snapshot(at: numbers[1]) as? LogSnapshot
        for number in [numbers[5], numbers[3], numbers[8], numbers[2]] {
            _ = try store.snapshot(at: number)
        }
        #expect(store.engine.past.epochs.count == 2)
        let again = try store.snapshot(at: numbers[1]) as? LogSnapshot
        #expect(again?.pinned === first?.pinned)
        // It outlives the purge, the removal of its files, and the store.
        _ = try store.compact()
        try store.purgePastStates(before: try store.snapshot().commit)
        store.engine.past.removeAll()
        let early = try #require(first)
        #expect(try PastContents.text(store, early) == contents.texts[numbers[1]])
        var fetch = try CompactionTests.all(store)
        fetch.includesRows = true
        let rows = try early.fetch(fetch).rows.count
        try store.close()
        #expect(try early.fetch(fetch).rows.count == rows)
    }

    @Test("A moment is that of the last commit up to it")
    func moments() throws {
        let disk = MemoryFileSystem()
        let clock = ManualClock(1000)
        let store = try Self.open(disk) { $0.clock = clock }
        var commits: [UInt64] = []
        for (index, step) in SampleStore.steps.enumerated() {
            clock.set(2000 + Double(index) * 10)
            try step(store)
            commits.append(try store.snapshot().commit)
            if index == 3 { try store.engine.rollSegment() }
        }
        func number(_ seconds: Double) throws -> UInt64 {
            try store.transactionNumber(at: Date(timeIntervalSinceReferenceDate: seconds))
        }
        for (index, commit) in commits.enumerated() {
            #expect(try number(2000 + Double(index) * 10) == commit, "\(index)")
            #expect(try number(2009 + Double(index) * 10) == commit, "\(index)")
        }
        #expect(try number(1e9) == commits.last)
        #expect(storeErrorCode { _ = try number(10) } == .pastStateUnavailable)
        try store.close()
    }

    @Test("A copy of the store holds the newest state, and says that others are missing")
    func copies() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        var contents = PastContents()
        try Self.work(store, &contents)
        _ = try store.compact()
        let other = MemoryFileSystem()
        _ = try store.backup(to: "/store", on: other)
        try store.close()
        var random = RandomSource(seed: 3)
        for _ in 0..<2 {
            let copy = try Self.open(other, nil)
            let bounds = try #require(try copy.pastStateBounds())
            #expect(bounds.horizon > 2)
            #expect(try contents.problems(copy, &random) == [])
            for round in 0..<9 {
                try CompactionTests.update(copy, 0..<180, 200 + round)
                try contents.note(copy)
            }
            _ = try copy.compact()
            #expect(try contents.problems(copy, &random) == [])
            #expect(try copy.check().findings.isEmpty)
            try copy.close()
        }
    }

    @Test("What a damaged checkpoint holds is read from the log")
    func damagedCheckpoint() throws {
        let disk = MemoryFileSystem()
        var random = RandomSource(seed: 4)
        var store = try Self.open(disk) { $0.sizes.checkpointBytes = 12 << 10 }
        var contents = PastContents()
        try Self.work(store, &contents)
        for _ in 0..<3 {
            try store.engine.takeCheckpoint()
            try CompactionTests.update(store, 0..<180, 77)
            try contents.note(store)
        }
        _ = try store.compact()
        let names = try DiskImage(of: disk).files.keys.filter { $0.hasPrefix("checkpoint") }
        #expect(names.count > 1)
        try store.close()
        var image = try DiskImage(of: disk)
        for name in names { image.files[name]?[200] ^= 1 }
        store = try Self.open(try image.disk(), nil)
        #expect(try contents.problems(store, &random) == [])
        try store.close()
    }

    @Test("Who knows nothing of them reads the store and does not write to it (F-797)")
    func flag() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        let flags = store.engine.withTurnAnyway { $0.segments.current.header.flags }
        #expect(flags.allowsPastStates && flags.allowsMetadata && !flags.allowsHistory)
        #expect(flags.readOnlyCompatible == 17)
        try store.close()
    }

    @Test(
        "Settings that cannot be are refused, and what contradicts the store is found (F-791 to F-793)"
    )
    func settings() throws {
        typealias Held = AsOfSettings.Held
        let held = Held(segment: 3, commit: 9, time: 5)
        #expect(AsOfSettings(horizon: 4, seconds: 5, held: [held]).isPossible)
        for impossible in [
            AsOfSettings(horizon: 1 << 62), AsOfSettings(horizon: 1, transactions: 1, seconds: 1),
            AsOfSettings(horizon: 1, transactions: 1 << 53),
            AsOfSettings(horizon: 1, held: [held, held]),
            AsOfSettings(horizon: 1, held: [Held(segment: 0, commit: 9, time: 5)]),
            AsOfSettings(horizon: 1, held: [Held(segment: 1, commit: 0, time: 5)]),
        ] { #expect(!impossible.isPossible, "\(impossible)") }

        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try Self.lie(store, AsOfSettings(horizon: 1 << 20))
        #expect(try store.check().findings.map(\.message).contains { $0.contains("F-792") })
        try Self.lie(
            store, AsOfSettings(horizon: 1, held: [Held(segment: 1, commit: 2, time: 0)]))
        #expect(try store.check().findings.map(\.message).contains { $0.contains("F-793") })
        try store.close()
    }

    @Test("A state of another model is not read, even where the settings say that it is kept")
    func otherModel() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try SampleStore.firstObjects(store)
        let last = try store.snapshot().commit
        try store.close()
        var options = CompactionTests.options(on: disk)
        options.pastStates = .all
        var model = SampleStore.model
        model.entities[2].attributes.append(.init("code", .string))
        _ = try LogStore.migrate(at: "/store", to: Schema(model), options: options)
        let migrated = try LogStore.open(at: "/store", schema: Schema(model), options: options)
        #expect(storeErrorCode { _ = try migrated.snapshot(at: last) } == .pastStateUnavailable)
        try Self.lie(migrated, AsOfSettings(horizon: 1))
        #expect(storeErrorCode { _ = try migrated.snapshot(at: last) } == .incompatibleModel)
        try migrated.close()
    }

    /// Has a store say something else of its past states.
    static func lie(_ store: LogStore, _ settings: AsOfSettings) throws {
        _ = try store.engine.commit(author: nil, contextName: nil, isSilent: true) {
            builder throws(StoreError) in
            try builder.write([:], identifier: nil, history: nil, asOf: settings)
        }
    }
}
