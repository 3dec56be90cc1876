// Random work on a store with past states, each held against what the store showed at the time.

import CairnFileSystem
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Past states of a store, at random")
struct RandomPastTests {
    @Test(
        "Each is what a snapshot showed that was taken then, whatever is done meanwhile (HI1, PS1)")
    func random() throws {
        try Rounds.run("past states", everyDay: 2, whole: 10_000) { random in
            var run = PastRun(&random)
            try run.carryOut(steps: 25)
            #expect(run.problems == [], "seed \(random.seed)")
        }
    }
}

/// A store for some steps, and what it held after each.
private struct PastRun {
    private let disk = MemoryFileSystem()
    private let workload: Workload
    private var random: RandomSource
    private var scheduler = ManualScheduler()
    private var store: LogStore?
    private var contents = PastContents()
    private(set) var problems: [String] = []

    init(_ random: inout RandomSource) {
        workload = Workload([], &random)
        self.random = RandomSource(seed: random.next())
    }

    mutating func carryOut(steps: Int) throws {
        try open()
        try StoreOperation.insert(try #require(store), ["a0": 100, "a1": 1])
        try contents.note(try #require(store))
        for step in 0..<steps {
            try perform(step)
            guard let store else { return }
            try contents.note(store)
            if random.oneIn(6) { try compare("step \(step)", most: 6) }
            if !problems.isEmpty { return }
        }
        try compare("the end")
        // With everything that can be retired, and opened again, with its checkpoints and without.
        _ = try store?.compact()
        try contents.note(try #require(store))
        try compare("compacted")
        try reopen()
        try compare("opened again")
        try store?.close()
        for name in try disk.list("/store") where name.hasPrefix("checkpoint") {
            try disk.unlink(FilePath("/store").appending(name))
        }
        try open()
        try compare("without checkpoints")
        try checkReader()
        // Half of it goes, and in the end all.
        if let bounds = try store?.pastStateBounds() {
            try store?.purgePastStates(before: (bounds.horizon + bounds.last) / 2)
            try contents.note(try #require(store))
            try compare("purged")
        }
        _ = try store?.compact()
        try store?.engine.setPastStates(.off)
        try store?.engine.synchronize()
        try store?.engine.takeCheckpoint()
        store?.engine.sweepRetired()
        let waiting = try #require(store).engine.tools.retired.all.map(\.number)
        if !waiting.isEmpty { problems.append("segments \(waiting) stay for nothing") }
        try store?.close()
        let left = try DiskImage(of: disk).files.keys.filter { $0.hasPrefix("checkpoint") }
        if left.count > 1 { problems.append("checkpoints stay for nothing: \(left)") }
    }

    private mutating func open() throws {
        scheduler = ManualScheduler()
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.durability = workload.durability
        options.sizes = workload.sizes
        options.cacheBytes = workload.cacheBytes
        options.persistentHistoryTracking = workload.tracksHistory ? true : nil
        options.pastStates = random.oneIn(2) || store == nil ? .all : nil
        let scheduler = scheduler
        options.makeScheduler = { scheduler }
        let store = try LogStore.open(
            at: "/store", schema: StoreOperation.schema, options: options)
        self.store = store
    }

    private mutating func reopen() throws {
        try store?.close()
        try open()
    }

    private mutating func perform(_ step: Int) throws {
        guard let store else { return }
        let operation = StoreOperation.allCases.randomElement(using: &random)!
        switch operation {
        case .reopen: try reopen()
        default: try operation.perform(store, scheduler, step: step)
        }
    }

    private mutating func compare(_ place: String, most: Int = .max) throws {
        guard let store else { return }
        problems += try contents.problems(store, &random, most: most).map { "\(place): \($0)" }
        problems += try store.check().findings.map { "\(place): \($0)" }
    }

    /// Somebody who only reads can do so too.
    private mutating func checkReader() throws {
        try store?.engine.synchronize()
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.isReadOnly = true
        options.followsWriter = false
        let reader = try LogStore.open(at: "/store", options: options)
        problems += try contents.problems(reader, &random).map { "reader: \($0)" }
        try reader.close()
    }
}
