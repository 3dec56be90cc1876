// Compaction: space comes back, nothing else changes, whenever it is cut off.

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

@Suite("Compaction")
struct CompactionTests {
    static func options(on disk: any FileSystem) -> LogStoreOptions {
        var options = SampleStore.options(on: disk, segmentBytes: 16 << 10)
        // Small blocks and merges, so that there is much to move.
        options.sizes.rowsPerBlock = 64
        options.sizes.mergedBlocks = 4
        options.sizes.compactionBlocks = 1
        options.sizes.askedCompactionFloor = 2 << 10
        return options
    }

    static func open(_ disk: any FileSystem) throws -> LogStore {
        try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options(on: disk))
    }

    /// What can be known of a store: its export; everything in it must fit together.
    static func text(_ image: DiskImage) throws -> (text: String, recovery: RecoveryReport) {
        let store = try open(try image.disk())
        defer { try? store.close() }
        #expect(try store.check().findings.isEmpty)
        return (try SampleStore.text(store), store.recovery)
    }

    /// Rows that are written again and again, and some of the sample's steps between.
    static func fill(_ store: LogStore, rounds: Int = 4) throws {
        for step in SampleStore.steps { try step(store) }
        for round in 0..<rounds {
            for part in 0..<3 { try update(store, part * 60..<(part + 1) * 60, round) }
            try SampleStore.largeValue(store)
        }
    }

    static func update(_ store: LogStore, _ rows: Range<Int>, _ round: Int) throws {
        var request = BatchInsertRequest(
            entityName: "Airport",
            objects: rows.map {
                [
                    "code": "A\($0)", "elevation": $0 * 31 + round,
                    "note": "round \(round) of \($0 * 7919)",
                ]
            })
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try store.execute(request)
    }

    static func all(_ store: LogStore) throws -> StoreFetch {
        StoreFetch(entity: try #require(store.schema.entity(named: "Airport")).index)
    }

    @Test("Space comes back, files that wait included, and the content is the same (CP2, CP4)")
    func givesBack() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try Self.fill(store)
        let before = try SampleStore.text(store)
        let ids = try store.snapshot().fetch(try Self.all(store)).ids
        let result = try store.compact()
        #expect(result.retiredSegments > 0)
        #expect(result.bytesAfter * 2 < result.bytesBefore, "\(result)")
        #expect(try SampleStore.text(store) == before)
        #expect(try store.check().findings.isEmpty)
        #expect(try store.snapshot().fetch(try Self.all(store)).ids == ids)
        let segments = try DiskImage(of: disk).segments.count
        #expect(segments == (try store.statistics().segments.count))
        // Once more gives back what the first time needed to say what it did.
        let again = try store.compact()
        #expect(again.bytesAfter <= result.bytesAfter, "\(again)")
        #expect(again.bytesWritten < result.bytesWritten / 2, "\(again)")
        try store.close()

        var image = try DiskImage(of: disk)
        let (text, recovery) = try Self.text(image)
        #expect(text == before)
        #expect(recovery.checkpoint != nil)
        for name in image.files.keys where name.hasPrefix("checkpoint") { image.files[name] = nil }
        let (whole, report) = try Self.text(image)
        #expect(whole == before)
        #expect(report.checkpoint == nil)
    }

    @Test("A side segment that was never finished is removed, also below the newest segment")
    func unfinishedSide() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try Self.fill(store, rounds: 2)
        // As compaction does before it makes the file; then the process ends.
        let number = store.engine.issueSegmentNumber()
        try store.engine.rollSegment()
        try Self.update(store, 0..<5, 7)
        let text = try SampleStore.text(store)
        let image = try DiskImage(of: disk)
        try store.close()
        for bytes in [0, 100, 4096] {
            var left = image
            left.files[SegmentName.name(of: number)] = [UInt8](repeating: 0, count: bytes)
            let other = try left.disk()
            let writer = try Self.open(other)
            #expect(try SampleStore.text(writer) == text)
            #expect(try DiskImage(of: other).segments == image.segments)
            try writer.close()
        }
    }

    @Test("Compacting from a compaction's own progress closure is refused, and it goes on")
    func fromItsOwnProgress() throws {
        let store = try Self.open(MemoryFileSystem())
        try Self.fill(store)
        let text = try SampleStore.text(store)
        var codes: [StoreError.Code?] = []
        let result = try store.compact { _ in
            let error = #expect(throws: StoreError.self) { try store.compact() }
            codes.append(error?.code)
        }
        #expect(!codes.isEmpty && codes.allSatisfy { $0 == .invalidRequest })
        #expect(result.bytesAfter < result.bytesBefore)
        #expect(try SampleStore.text(store) == text)
        // Afterwards it may be asked for again.
        _ = try store.compact()
        try store.close()
    }

    @Test("What was compacted takes commits, is compacted again, and opens each time")
    func again() throws {
        let disk = MemoryFileSystem()
        var text = ""
        for round in 0..<5 {
            let store = try Self.open(disk)
            if round > 0 { #expect(try SampleStore.text(store) == text, "round \(round)") }
            if round == 0 { try Self.fill(store) }
            try Self.update(store, round * 20..<round * 20 + 90, 100 + round)
            if round % 2 == 0 { try SampleStore.largeValue(store) }
            _ = try store.compact()
            try Self.update(store, 0..<30, 200 + round)
            text = try SampleStore.text(store)
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
        for name in try disk.list("/store") where name.hasPrefix("checkpoint") {
            try disk.unlink(FilePath("/store").appending(name))
        }
        #expect(try Self.text(try DiskImage(of: disk)).text == text)
    }

    @Test(
        "A step at a time, with commits between, each image opens with the content it had (CP1, CP2)"
    )
    func steps() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try Self.fill(store)
        try store.engine.rollSegment()
        try SampleStore.secondRows(store)
        let current = store.engine.registry.published().segments.current.number
        let victims = store.engine.registry.published().segments.all.map(\.number)
            .filter { $0 != current }
        var run: CompactionRun? = try CompactionRun(store.engine, victims: Set(victims))
        var round = 0
        var steps = 0
        while true {
            let image = try DiskImage(of: disk)
            #expect(try Self.text(image).text == (try SampleStore.text(store)), "step \(steps)")
            if steps % 2 == 0, round < 6 {
                // Rows change under it: their copies are dead ones.
                try Self.update(store, round * 30..<round * 30 + 15, 300 + round)
                if round == 2 { try SampleStore.largeValue(store) }
                round += 1
            }
            steps += 1
            if case .moved = try #require(run).step() { continue }
            break
        }
        run = nil
        #expect(steps > 5)
        let text = try SampleStore.text(store)
        #expect(try store.check().findings.isEmpty)
        #expect(store.engine.tools.retired.all.count == victims.count)
        // The files go when nothing needs them.
        store.engine.sweepRetired()
        #expect(store.engine.tools.retired.all.isEmpty)
        #expect(try Self.text(try DiskImage(of: disk)).text == text)
        try store.close()
        #expect(try Self.text(try DiskImage(of: disk)).text == text)
    }

    @Test("What is written anew while its copy waits stays, also at the same slot; so do metadata")
    func writtenMeanwhile() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try store.setMetadata(["turn": .integer(1)])
        try store.writeMetadata()
        for part in 0..<2 { try Self.update(store, part * 60..<(part + 1) * 60, 0) }
        try store.engine.rollSegment()
        try Self.update(store, 200..<201, 0)
        let state = store.engine.registry.published()
        let run = try CompactionRun(
            store.engine,
            victims: Set(state.segments.mains.map(\.number))
                .subtracting([state.segments.current.number]))
        try store.setMetadata(["turn": .integer(2)])
        try store.writeMetadata()
        var text = ""
        while case .moved(let bytes) = try run.step() {
            guard bytes > 0, text.isEmpty else { continue }
            // A block is full, and the rest of the second one is copied: its rows get a block like it.
            try Self.update(store, 60..<120, 1)
            text = try SampleStore.text(store)
        }
        run.end()
        func check(_ store: LogStore) throws {
            #expect(try SampleStore.text(store) == text)
            #expect(try store.metadata()["turn"] == .integer(2))
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
        try check(store)
        try check(Self.open(disk))
    }

    @Test("A snapshot stays readable over a compaction, and keeps the files of its segments (ST3)")
    func snapshots() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try Self.fill(store)
        let fetch = try Self.all(store)
        var snapshot: (any StoreSnapshot)? = try store.snapshot()
        let rows = try snapshot?.rows(try #require(try snapshot?.fetch(fetch).ids))
        let names = try DiskImage(of: disk).segments
        try Self.update(store, 0..<180, 77)
        let result = try store.compact()
        #expect(result.retiredSegments >= names.count)
        #expect(Set(try DiskImage(of: disk).segments).isSuperset(of: names))
        let later = try snapshot?.rows(try #require(try snapshot?.fetch(fetch).ids))
        let entity = try #require(store.schema.entity(named: "Airport"))
        #expect(later?.count == rows?.count)
        for case (let row?, let other?) in zip(rows ?? [], later ?? []) {
            #expect(row.id == other.id && row.version == other.version)
            for column in entity.columns.indices {
                #expect(row.cells.isEqual(other.cells, column: column, of: entity))
            }
        }
        snapshot = nil
        store.engine.sweepRetired()
        #expect(Set(try DiskImage(of: disk).segments).isDisjoint(with: names))
        try store.close()
    }
}
