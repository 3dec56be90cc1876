// Past states of a store that crashes: what they need is never removed early, and goes in the end.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Past states that are interrupted")
struct InterruptedPastTests {
    private static func open(_ disk: any FileSystem, _ durability: LogStoreOptions.Durability)
        throws
        -> LogStore
    {
        try PastStateTests.open(disk, .all) { $0.durability = durability }
    }

    /// The files are those of the store, and those that wait for something.
    private static func checkFiles(_ store: LogStore, _ disk: MemoryFileSystem, _ what: String)
        throws
    {
        let segments = store.engine.withTurnAnyway { $0.segments }
        let retired = store.engine.tools.retired.all.map(\.number)
        let wanted = Set(segments.all.map(\.number)).union(retired)
        #expect(
            Set(try DiskImage(of: disk).segments)
                == Set(wanted.map { SegmentName.name(of: $0) }), "\(what)")
    }

    /// Work that retires segments, moves the horizon, and lets go of some.
    private static func change(_ store: LogStore, _ contents: inout PastContents, _ middle: UInt64)
        throws
    {
        _ = try store.compact()
        try contents.note(store)
        try CompactionTests.update(store, 0..<60, 50)
        try contents.note(store)
        try store.purgePastStates(before: middle)
        try contents.note(store)
        try CompactionTests.update(store, 60..<120, 51)
        try contents.note(store)
        _ = try store.compact()
        try contents.note(store)
    }

    private static func look(
        _ image: DiskImage, _ contents: PastContents, _ durability: LogStoreOptions.Durability,
        _ random: inout RandomSource, _ what: String
    ) throws {
        let disk = try image.disk()
        for round in 0..<2 {
            let store = try open(disk, durability)
            var known = contents
            known.cut(to: try store.snapshot().commit)
            #expect(try known.problems(store, &random, most: 8) == [], "\(what)")
            #expect(try store.check().findings.isEmpty, "\(what)")
            try checkFiles(store, disk, what)
            if round == 1 {
                _ = try store.compact()
                try store.engine.setPastStates(.off)
                try store.engine.takeCheckpoint()
                store.engine.sweepRetired()
                #expect(store.engine.tools.retired.all.isEmpty, "\(what)")
                try checkFiles(store, disk, what)
            }
            try store.close()
        }
    }

    @Test(
        "The process ends at any call", arguments: [LogStoreOptions.Durability.full, .relaxed])
    func processEnds(durability: LogStoreOptions.Durability) throws {
        var random = RandomSource()
        var chosen = RandomSource(seed: random.seed)
        let base = MemoryFileSystem()
        let store = try Self.open(base, durability)
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        let middle = try store.snapshot().commit - 5
        try store.synchronize()
        let image = try DiskImage(of: base)
        try store.close()
        let calls = try Interruption.ofProcess(oneIn: 31, using: &random) { number, what in
            let disk = try image.disk()
            let faulty = FaultInjectingFileSystem(over: disk)
            faulty.crash(atMutation: number, afterWriting: number % 3 * 50)
            var isDone = false
            var known = contents
            if let store = try? Self.open(faulty, durability) {
                isDone = (try? Self.change(store, &known, middle)) != nil
                FollowingStores.abandon(store)
            }
            try Self.look(try DiskImage(of: disk), known, durability, &chosen, what)
            return isDone
        }
        #expect(calls > 20)
    }

    @Test("The power fails at any call")
    func powerFails() throws {
        var random = RandomSource()
        var chosen = RandomSource(seed: random.seed)
        let disk = PowerLossDisk()
        let store = try Self.open(disk, .full)
        var contents = PastContents()
        try PastStateTests.work(store, &contents)
        let start = disk.changeCount
        try Self.change(store, &contents, try store.snapshot().commit - 5)
        try Interruption.ofPower(
            disk, after: start, oneIn: 12, images: (1, 1), using: &random
        ) { image, _, what in
            try Self.look(try #require(image), contents, .full, &chosen, what)
        }
        try store.close()
    }
}
