// Compaction of a store that is all in its newest segment: what it takes for that to be closed, how often that
// happens, and what it costs.

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

@Suite("Compaction of the newest segment")
struct NewestSegmentTests {
    /// A store of some sixty kilobytes in one segment, whose background work is done by hand.
    private struct Shop {
        static let rows = 160
        static let idle = 0.5

        let disk: FaultInjectingFileSystem
        let scheduler = ManualScheduler()
        let store: LogStore

        init(on base: any FileSystem = MemoryFileSystem(), waitsForPauses: Bool = true) throws {
            disk = FaultInjectingFileSystem(over: base)
            var options = SampleStore.options(on: disk)
            options.sizes.rowsPerBlock = 16
            options.sizes.mergedBlocks = 4
            options.sizes.compactionBlocks = 4
            // The floor is 8 KiB when nobody writes.
            options.sizes.compactionFloor = 64 << 10
            options.sizes.askedCompactionFloor = 1 << 10
            options.sizes.idleSeconds = waitsForPauses ? Self.idle : .infinity
            let scheduler = scheduler
            options.makeScheduler = { scheduler }
            store = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
        }

        func put(_ rows: some Sequence<Int>, round: Int) throws {
            var request = BatchInsertRequest(
                entityName: "Airport",
                objects: rows.map {
                    [
                        "code": "A\($0)", "elevation": round,
                        "note": BackgroundCompactionTests.Shop.note(round * 1000 + $0),
                    ]
                })
            request.mergePolicy = .mergeByPropertyObjectTrump
            _ = try store.execute(request)
        }

        /// Writes every row anew, in some commits.
        func putAll(round: Int) throws {
            for start in stride(from: 0, to: Self.rows, by: 40) {
                try put(start..<start + 40, round: round)
            }
        }

        var segments: LiveSet { store.engine.registry.published().segments }
        var mains: [UInt32] { segments.mains.map(\.number) }

        /// Bytes of the folder's files.
        func folderBytes() throws -> Int {
            try DiskImage(of: disk).files.values.reduce(0) { $0 + $1.count }
        }

        func check(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
            #expect(try SampleStore.text(store) == text, sourceLocation: sourceLocation)
            #expect(try store.check().findings.isEmpty, sourceLocation: sourceLocation)
            #expect(
                try DiskImage(of: disk).content().text == text, sourceLocation: sourceLocation)
        }
    }

    /// Bytes of the folder of a store that every row was put into once.
    private static func freshBytes() throws -> Int {
        let shop = try Shop()
        try shop.putAll(round: 0)
        shop.scheduler.run()
        #expect(shop.mains == [1])
        return try shop.folderBytes()
    }

    // MARK: What comes back

    @Test(
        "After three updates of everything and a pause the folder is at most 1.3 times a fresh one",
        arguments: [1, 3, 12])
    func threeUpdates(pauses: Int) throws {
        let fresh = try Self.freshBytes()
        let shop = try Shop()
        try shop.putAll(round: 0)
        shop.scheduler.run()
        var commits = 0
        for round in 1...3 {
            for start in stride(from: 0, to: Shop.rows, by: 40) {
                try shop.put(start..<start + 40, round: round)
                commits += 1
                if commits % (12 / pauses) == 0 { shop.scheduler.run() }
            }
        }
        let text = try SampleStore.text(shop.store)
        #expect(try Double(shop.folderBytes()) <= 1.3 * Double(fresh))
        #expect(!shop.mains.contains(1))
        try shop.check(text)
        try shop.store.close()
        try #expect(DiskImage(of: shop.disk).content().text == text)
    }

    @Test("Opened again and written to, a store is rid of what was dead when it was closed")
    func reopened() throws {
        let fresh = try Self.freshBytes()
        let base = MemoryFileSystem()
        let shop = try Shop(on: base)
        for round in 0...2 { try shop.putAll(round: round) }
        try shop.store.close()
        let again = try Shop(on: base)
        again.scheduler.run()
        #expect(again.mains == [1], "nobody writes to it")
        try again.put(0..<1, round: 3)
        again.scheduler.run()
        #expect(try Double(again.folderBytes()) <= 1.3 * Double(fresh))
        try again.check(try SampleStore.text(again.store))
        try again.store.close()
    }

    // MARK: When

    @Test("A look waits as long as somebody writes, and one waits at a time")
    func pause() throws {
        let shop = try Shop()
        for part in 0..<2 {
            try shop.put(part * 40..<part * 40 + 40, round: 0)
            #expect(shop.scheduler.delays == [Shop.idle])
        }
        shop.scheduler.runOnce()
        #expect(shop.scheduler.delays == [Shop.idle], "somebody has written")
        let looked = shop.store.engine.compaction.progress.withLock { $0.lookedLSN }
        shop.scheduler.runOnce()
        #expect(shop.scheduler.delays == [])
        let end = shop.store.engine.registry.published().end.lsn
        #expect(looked < end)
        #expect(shop.store.engine.compaction.progress.withLock { $0.lookedLSN } == end)
        // Too little to look again.
        try shop.put(0..<4, round: 1)
        #expect(shop.scheduler.delays == [])
        try shop.put(0..<40, round: 2)
        #expect(shop.scheduler.delays == [Shop.idle])
        // Those who write have enough by now: what runs for them is all there is.
        try shop.putAll(round: 3)
        #expect(shop.scheduler.delays == [Shop.idle, 0])
    }

    @Test(
        "While others write the newest segment is closed as soon as the floor and two fifths of it are dead"
    )
    func busy() throws {
        let shop = try Shop(waitsForPauses: false)
        try shop.putAll(round: 0)
        shop.scheduler.run()
        #expect(shop.mains == [1])
        var largest = 0
        var rounds: [UInt32] = []
        for round in 1...20 {
            for start in stride(from: 0, to: Shop.rows, by: 40) {
                try shop.put(start..<start + 40, round: round)
                shop.scheduler.run()
                largest = max(largest, try shop.folderBytes())
            }
            #expect(shop.mains.count == 1)
            rounds.append(shop.mains[0])
        }
        #expect(Set(rounds).count > 5)
        let fresh = try Self.freshBytes()
        // The floor, what is written until it is looked again, and what is moved before anything is given back.
        #expect(largest < 2 * fresh + 3 * (64 << 10), "\(largest)")
        try Self.checkCost(shop, given: 64 << 10)
        try shop.check(try SampleStore.text(shop.store))
    }

    // MARK: What it costs

    /// Checks that no more was written for it than CW2 says, and that segments were begun only to give much back.
    private static func checkCost(_ shop: Shop, given floor: UInt64) throws {
        let written = try shop.store.statistics().written
        #expect(written.compacted <= 2 * written.commits)
        let amplification = try #require(written.amplification)
        #expect(amplification < 3.2, "\(amplification)")
        // Two numbers for each run.
        let runs = UInt64(shop.store.engine.lastSegment.load(ordering: .relaxed)) / 2
        #expect(runs <= written.commits / floor, "\(runs)")
    }

    @Test(
        "Updates without end with pauses between cost two more bytes for each at most, and keep the folder small",
        arguments: [(160, 1.3), (80, 1.6), (40, 1.8), (8, 1.8)])
    func withoutEnd(rows: Int, most: Double) throws {
        let fresh = try Self.freshBytes()
        let shop = try Shop()
        try shop.putAll(round: 0)
        shop.scheduler.run()
        var largest = 0
        for round in 1...12 * Shop.rows / rows {
            let start = round * rows % Shop.rows
            try shop.put(start..<start + rows, round: round)
            shop.scheduler.run()
            largest = max(largest, try shop.folderBytes())
        }
        #expect(Double(largest) <= most * Double(fresh), "\(Double(largest) / Double(fresh))")
        try Self.checkCost(shop, given: 8 << 10)
        #expect(shop.mains.count == 1)
        try shop.check(try SampleStore.text(shop.store))
    }

    @Test("Where nothing is dead nothing is closed, moved or committed")
    func nothingDead() throws {
        let shop = try Shop()
        for part in 0..<40 {
            try shop.put(part * 40..<part * 40 + 40, round: 0)
            let commit = shop.store.engine.registry.published().commit
            shop.scheduler.run()
            #expect(shop.store.engine.registry.published().commit == commit)
        }
        #expect(shop.mains == [1])
        #expect(shop.segments.sides.isEmpty)
        #expect(try shop.store.statistics().written.compacted == 0)
    }

    @Test("What is little is left alone, however large a part of the store it is")
    func little() throws {
        let shop = try Shop()
        // Four rows of 400 bytes, again and again.
        for round in 0..<4 {
            try shop.put(0..<4, round: round)
            shop.scheduler.run()
        }
        #expect(shop.mains == [1])
        #expect(shop.store.engine.lastSegment.load(ordering: .relaxed) == 1)
    }

    @Test("Another segment than the one that was measured is not closed")
    func closedMeanwhile() throws {
        let shop = try Shop()
        try shop.store.engine.rollSegment(ifNewest: 7)
        try shop.put(0..<4, round: 1)
        #expect(shop.mains == [1])
        try shop.store.engine.rollSegment(ifNewest: 1)
        try shop.store.engine.rollSegment(ifNewest: 1)
        try shop.put(0..<4, round: 2)
        #expect(shop.mains == [1, 2])
    }

    // MARK: Interrupted

    @Test(
        "Commits between any two steps count, also those that come before the new segment has any")
    func commitsBetween() throws {
        let shop = try Shop()
        for round in 0...3 { try shop.putAll(round: round) }
        var steps = 0
        while !shop.scheduler.delays.isEmpty, steps < 200 {
            shop.scheduler.runOnce()
            steps += 1
            if steps < 12 { try shop.put([steps * 13, 500 + steps], round: 10 + steps) }
        }
        #expect(!shop.mains.contains(1))
        for step in 1..<12 {
            let fetch = try SampleStore.fetch(
                shop.store, .compare("elevation", .equal, .integer(Int64(10 + step))))
            #expect(try shop.store.snapshot().count(fetch) == 2, "step \(step)")
        }
        try shop.check(try SampleStore.text(shop.store))
        try shop.store.close()
    }

    @Test("A crash at any call of it changes nothing, and the next writer's pause finishes it")
    func crashes() throws {
        let start = try Shop()
        for round in 0...2 { try start.putAll(round: round) }
        let text = try SampleStore.text(start.store)
        let image = try DiskImage(of: start.disk)
        var random = RandomSource()
        let step = Campaign.step(16)
        var number = Int.random(in: 1...step, using: &random)
        var hasClosed = false
        while true {
            let base = try image.disk()
            let shop = try Shop(on: base)
            // The segment of a store that was not closed takes no more commits.
            for round in 3...4 { try shop.putAll(round: round) }
            let before = try SampleStore.text(shop.store)
            #expect(before != text)
            let newest = shop.segments.current.number
            shop.disk.crash(atMutation: shop.disk.mutationCount + number, afterWriting: 100)
            shop.scheduler.run()
            let left = try DiskImage(of: base)
            try? shop.store.close()
            let again = try Shop(on: try left.disk())
            #expect(try SampleStore.text(again.store) == before, "crash at call \(number)")
            try again.putAll(round: 5)
            let later = try SampleStore.text(again.store)
            again.scheduler.run()
            #expect(!again.mains.contains(newest), "crash at call \(number)")
            hasClosed = hasClosed || shop.mains.contains { $0 > newest }
            try again.check(later)
            try again.store.close()
            guard shop.disk.hasCrashed else { break }
            number += step
        }
        #expect(number > 10)
        #expect(hasClosed)
    }

    @Test(
        "When there is no room for a new segment writers go on as soon as there is, and it is tried again later"
    )
    func noRoom() throws {
        let shop = try Shop()
        for round in 0...2 { try shop.putAll(round: round) }
        let text = try SampleStore.text(shop.store)
        shop.disk.fail(.open, with: .noSpace, repeats: true)
        shop.scheduler.run()
        #expect(shop.mains == [1])
        #expect(try SampleStore.text(shop.store) == text)
        shop.disk.clearFaults()
        try shop.putAll(round: 3)
        let later = try SampleStore.text(shop.store)
        shop.scheduler.run()
        #expect(!shop.mains.contains(1))
        try shop.check(later)
        try shop.store.close()
    }
}
