// Staged values when the process ends or the power fails: they come with the save that refers to them, or leave nothing.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Staged values that are interrupted")
struct InterruptedStagingTests {
    private static let first = patternedBytes(StagingArea.pieceSize + 1000, seed: 1)
    private static let second = patternedBytes(9000, seed: 2)
    private static let lost = patternedBytes(7000, seed: 3)

    /// Two values that are saved, by two saves, and one that is not.
    private static func change(_ store: LogStore) throws {
        let ids = try (0..<3).map { _ in try StagedStores.newID(store) }
        let one = try StagedStores.stage(store, first, for: ids[0])
        var nobodys: StagedValue? = try StagedStores.stage(store, lost, for: ids[2])
        let two = try StagedStores.stage(store, second, for: ids[1])
        try StagedStores.save(store, [("ONE", ids[0], one)])
        nobodys = nil
        try StagedStores.save(store, [("TWO", ids[1], two)])
        _ = nobodys
    }

    private static func start() throws -> DiskImage {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        try SampleStore.manyRows(store)
        try store.close()
        return try DiskImage(of: disk)
    }

    /// What is left is whole, and can be gone on with.
    private static func look(_ image: DiskImage, isDone: Bool, _ what: String) throws {
        let disk = try image.disk()
        var sides = 0
        for _ in 0..<2 {
            let store = try CompactionTests.open(disk)
            #expect(try store.check().findings.isEmpty, "\(what)")
            let plans = try plans(store)
            #expect(plans["ONE"] ?? first == first, "\(what)")
            #expect(plans["TWO"] ?? second == second, "\(what)")
            #expect(plans["ONE"] != nil || plans["TWO"] == nil, "\(what)")
            #expect(!isDone || plans["TWO"] != nil, "\(what)")
            // A file that no save refers to is gone when somebody has opened the store to write.
            sides = try StagedStores.sides(disk).count
            #expect(plans["ONE"] == nil ? sides == 0 : sides > 0, "\(what)")
            try store.close()
        }
        let store = try CompactionTests.open(disk)
        let id = try StagedStores.newID(store)
        try StagedStores.save(
            store, [("THREE", id, try StagedStores.stage(store, lost, for: id))])
        #expect(try StagedStores.plan(store, id) == lost, "\(what)")
        #expect(try store.check().findings.isEmpty, "\(what)")
        try store.close()
    }

    private static func plans(_ store: LogStore) throws -> [String: Data] {
        var plans: [String: Data] = [:]
        for code in ["ONE", "TWO"] {
            let fetch = StoreFetch(
                entity: StagedStores.airport, predicate: .compare("code", .equal, .string(code)))
            guard let id = try store.snapshot().fetch(fetch).ids.first else { continue }
            plans[code] = try StagedStores.plan(store, id)
        }
        return plans
    }

    @Test("The process ends at any call")
    func processEnds() throws {
        let image = try Self.start()
        var random = RandomSource()
        let calls = try Interruption.ofProcess(oneIn: 5, using: &random) { number, what in
            let disk = try image.disk()
            let faulty = FaultInjectingFileSystem(over: disk)
            faulty.crash(atMutation: number, afterWriting: number % 3 * 50)
            var isDone = false
            if let store = try? CompactionTests.open(faulty) {
                isDone = (try? Self.change(store)) != nil
                FollowingStores.abandon(store)
            }
            try Self.look(try DiskImage(of: disk), isDone: isDone, what)
            return isDone
        }
        #expect(calls > 10)
    }

    @Test("The power fails at any call")
    func powerFails() throws {
        var random = RandomSource()
        let disk = PowerLossDisk()
        let store = try CompactionTests.open(disk)
        try SampleStore.manyRows(store)
        let start = disk.changeCount
        try Self.change(store)
        try Interruption.ofPower(
            disk, after: start, oneIn: 5, images: (1, 50), using: &random
        ) { image, isDone, what in try Self.look(try #require(image), isDone: isDone, what) }
        try store.close()
    }
}
