// Blocks of few rows are merged, and nobody notices but by their number.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Small blocks")
struct SmallBlocksTests {
    private static func put(_ store: LogStore, _ key: String, _ value: Int) throws {
        var request = BatchInsertRequest(
            entityName: "Item", objects: [["key": key, "value": value]])
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try store.execute(request)
    }

    private static func open(_ disk: any FileSystem, _ sizes: StoreSizes = StoreSizes()) throws
        -> LogStore
    {
        var options = SampleStore.options(on: disk, durability: .relaxed)
        options.sizes = sizes
        options.sizes.fillBytes = 0
        return try LogStore.open(
            at: "/store", schema: try Schema(CommittersTests.model), options: options)
    }

    /// Whether fewer blocks of the smaller levels are there than are merged.                    BL5
    private static func isMerged(_ store: LogStore) -> Bool {
        let state = store.engine.registry.published()
        return state.catalog.entities.indices.allSatisfy { entity in
            [BlockLevel.tiny, .partial].allSatisfy {
                state.blocks.count(ofEntity: entity, $0) < store.engine.sizes.mergedBlocks
            }
        }
    }

    /// How many rows all blocks of the log have, dead or alive.
    private static func writtenRows(_ disk: MemoryFileSystem) throws -> Int {
        let files = StoreFiles(
            folder: "/store", fileSystem: disk, lock: try disk.open("/store/lock", .read))
        var reader = LogReader(files, mark: nil, limit: nil)
        guard case .log(let log) = try reader.read() else { return 0 }
        return log.blocks.reduce(0) { $0 + $1.rows }
    }

    @Test("Commits of one row make few blocks, and each row is written at most three times (BL5)")
    func ones() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        for number in 0..<2100 {
            try Self.put(store, "key \(number)", number)
            if number % 16 == 0 { #expect(Self.isMerged(store)) }
        }
        #expect(Self.isMerged(store))
        let state = store.engine.registry.published()
        #expect(state.blocks.count < 2100 / 1024 + 31 + 31 + 2)
        #expect(state.blocks._checkInvariants() == [])
        #expect(try Self.writtenRows(disk) <= 2100 * 3)
        // What merging writes again is told apart; the rest is off.
        let written = try store.statistics().written
        #expect(written.merged > 0 && written.commits > written.merged)
        #expect(written.compacted == 0 && written.checkpoints == 0 && written.zeros == 0)
        let needed = written.commits - written.merged
        #expect(written.amplification == Double(written.commits) / Double(needed))
        let text = try SampleStore.text(store)
        #expect(try store.check().findings.isEmpty)
        try store.close()
        let again = try Self.open(disk)
        #expect(try SampleStore.text(again) == text)
        #expect(again.engine.registry.published().blocks.count == state.blocks.count)
        try again.close()
    }

    @Test("Merging writes no large value again")
    func largeValues() throws {
        let disk = MemoryFileSystem()
        var sizes = StoreSizes()
        sizes.mergedBlocks = 4
        sizes.largeValueBytes = 100
        var options = SampleStore.options(on: disk)
        options.sizes = sizes
        options.sizes.fillBytes = 0
        options.sizes.closingCheckpointBytes = .max
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        for number in 0..<9 {
            var request = BatchInsertRequest(
                entityName: "Airport",
                objects: [
                    ["code": "\(number)", "note": String(repeating: "large \(number) ", count: 90)]
                ])
            request.mergePolicy = .mergeByPropertyObjectTrump
            _ = try store.execute(request)
        }
        #expect(Self.isMerged(store))
        try store.close()
        let bytes = try #require(try DiskImage(of: disk).files["0000000001.segment"])
        let values = try SegmentFrames(bytes).frames.count { $0.header.kind == .value }
        #expect(values == 9)
    }

    @Test("An object that is updated all the time leaves no blocks behind")
    func updates() throws {
        let store = try Self.open(MemoryFileSystem())
        for number in 0..<500 { try Self.put(store, "same", number) }
        let state = store.engine.registry.published()
        #expect(state.blocks.count == 1)
        #expect(try CommittersTests.content(store) == ["same": 499])
        #expect(try SampleStore.text(store).contains("\"version\":500"))
        try store.close()
    }

    @Test("Wide rows that fill their blocks are not merged again and again")
    func wideRows() throws {
        let disk = MemoryFileSystem()
        let model = ManagedObjectModel(entities: [
            EntityDescription("Text", attributes: [.init("text", .string)])
        ])
        let store = try LogStore.open(
            at: "/store", schema: try Schema(model), options: SampleStore.options(on: disk))
        var random = RandomSource()
        for _ in 0..<80 {
            // Forty rows of three kilobytes.
            let rows = (0..<40).map { _ in
                [
                    "text": (0..<188).map { _ in String(random.next(), radix: 16) }.joined()
                ]
            }
            _ = try store.execute(BatchInsertRequest(entityName: "Text", objects: rows))
        }
        #expect(try Self.writtenRows(disk) == 80 * 40)
        try store.close()
    }

    @Test("Wide rows that encode to little are merged once, in a store that was opened too")
    func narrowValues() throws {
        let disk = MemoryFileSystem()
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Wide",
                attributes: (0..<40).map { .init("n\($0)", .integer64) } + [.init("text", .string)])
        ])
        func open() throws -> LogStore {
            try LogStore.open(
                at: "/store", schema: try Schema(model),
                options: SampleStore.options(on: disk, durability: .relaxed))
        }
        func row(_ number: Int) -> [String: Any] {
            var row: [String: Any] = ["text": String(repeating: "text ", count: 100)]
            for column in 0..<40 { row["n\(column)"] = (number &* 7 + column) % 50 }
            return row
        }
        var store = try open()
        // A block of these has room for 145 rows by their plain bytes, and takes a few kilobytes.
        _ = try store.execute(
            BatchInsertRequest(entityName: "Wide", objects: (0..<6000).map { row($0) }))
        #expect(Self.isMerged(store))
        #expect(store.engine.registry.published().blocks.count < 10)
        for _ in 0..<2 {
            let before = store.engine.registry.published().end.lsn
            for number in 0..<5 {
                _ = try store.execute(
                    BatchInsertRequest(entityName: "Wide", objects: [row(number)]))
            }
            #expect(store.engine.registry.published().end.lsn - before < 20_000)
            #expect(Self.isMerged(store))
            #expect(try store.check().findings.isEmpty)
            try store.close()
            store = try open()
        }
        #expect(try Self.writtenRows(disk) <= 6000 * 2 + 10)
        try store.close()
    }

    @Test(
        "Random commits with merging all the time, some of which fail, hold what a dictionary holds, pinned states too"
    )
    func random() throws {
        var random = RandomSource()
        let sizes = [(8, 2), (64, 3), (64, 4), (1024, 3), (1024, 5)]
        for (rowsPerBlock, merged) in Campaign.sample(sizes, oneIn: 2, using: &random) {
            let disk = FaultInjectingFileSystem(over: MemoryFileSystem())
            var sizes = StoreSizes()
            sizes.rowsPerBlock = rowsPerBlock
            sizes.mergedBlocks = merged
            sizes.segmentBytes = 20_000
            var store = try Self.open(disk, sizes)
            var model: [String: Int64] = [:]
            var pins: [(snapshot: any StoreSnapshot, model: [String: Int64])] = []
            for step in 0..<300 {
                if random.oneIn(4), let key = model.keys.sorted().randomElement(using: &random) {
                    var fetch = StoreFetch(entity: 0)
                    fetch.predicate = try PredicateNode(format: "key == '\(key)'")
                        .bound(to: store.schema.entities[0])
                    _ = try store.execute(BatchDeleteRequest(.fetch(fetch)))
                    model[key] = nil
                } else {
                    let rows = (0..<1 + random.next() % 6).map { _ in
                        ("key \(random.next() % 60)", Int64(random.next() % 1000))
                    }
                    var request = BatchInsertRequest(
                        entityName: "Item", objects: rows.map { ["key": $0.0, "value": $0.1] })
                    request.mergePolicy = .mergeByPropertyObjectTrump
                    // What fails is forgotten, in what is kept for merging too: its places are used again.
                    let fails = random.oneIn(8)
                    if fails {
                        disk.fail(
                            .write, with: .noSpace, afterWriting: Int(random.next() % 400))
                    }
                    do {
                        _ = try store.execute(request)
                        for row in rows { model[row.0] = row.1 }
                    } catch {
                        #expect(fails)
                    }
                    disk.clearFaults()
                }
                #expect(Self.isMerged(store))
                if random.oneIn(10) { pins.append((try store.snapshot(), model)) }
                if pins.count > 3 { pins.removeFirst() }
                if step % 30 == 29 {
                    #expect(try CommittersTests.content(store) == model)
                    for pin in pins {
                        #expect(try CommittersTests.content(pin.snapshot, store) == pin.model)
                    }
                    #expect(try store.check().findings.isEmpty)
                    pins.removeAll()
                    try store.close()
                    store = try Self.open(disk, sizes)
                    #expect(try CommittersTests.content(store) == model)
                }
            }
            try store.close()
        }
    }
}
