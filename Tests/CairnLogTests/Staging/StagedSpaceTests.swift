// The space of staged values that are replaced: it is given back as that of any others.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import Testing

@testable import CairnLog

@Suite("The space of staged values")
struct StagedSpaceTests {
    private static let size = 100_000

    @Test(
        "A value that is replaced again and again does not fill the disk, and opening reads it no more than once"
    )
    func replaced() throws {
        let disk = MemoryFileSystem()
        let scheduler = ManualScheduler()
        func open() throws -> LogStore {
            var options = CompactionTests.options(on: disk)
            options.sizes.compactionFloor = 300_000
            options.sizes.checkpointBytes = 400_000
            options.makeScheduler = { scheduler }
            return try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
        }
        let store = try open()
        let id = try StagedStores.newID(store)
        try StagedStores.save(
            store, [("A", id, try StagedStores.stage(store, patternedBytes(10), for: id))])
        for round in 0..<24 {
            let value = patternedBytes(Self.size, seed: round)
            let staged = try StagedStores.stage(store, value, for: id)
            let row = try #require(try store.snapshot().rows([id])[0])
            var request = SaveRequest()
            request.updated = [
                .init(
                    id: id, entity: StagedStores.airport, base: row,
                    changes: [(try StagedStores.column("plan"), .binary(staged.standIn))])
            ]
            request.hasStagedValues = true
            _ = try store.save(request)
            scheduler.run()
            #expect(try StagedStores.plan(store, id) == value)
            let bytes = try StagedStores.sides(disk).values.reduce(0, +)
            #expect(bytes < 12 * UInt64(Self.size), "round \(round)")
        }
        // Such bytes count for checkpoints, too.
        #expect(store.engine.checkpoint.withLock { $0.lsn } > 0)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("Openings that each save one, and end without closing, do not read all of them for ever")
    func killed() throws {
        var disk = MemoryFileSystem()
        var checkpoints = 0
        for round in 0..<12 {
            let scheduler = ManualScheduler()
            var options = CompactionTests.options(on: disk)
            options.sizes.checkpointBytes = 400_000
            options.makeScheduler = { scheduler }
            let store = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
            if store.engine.checkpoint.withLock({ $0.lsn }) > 0 { checkpoints += 1 }
            // The log alone is far from being long enough for one.
            #expect(store.engine.volume(at: 0) < 4 * UInt64(Self.size) + 400_000)
            let id = try StagedStores.newID(store)
            let value = patternedBytes(Self.size, seed: round)
            try StagedStores.save(
                store, [("\(round)", id, try StagedStores.stage(store, value, for: id))])
            scheduler.run()
            disk = try DiskImage(of: disk).disk()
        }
        #expect(checkpoints >= 6)
    }

    @Test("A value that something is derived from is put together in memory")
    func derived() throws {
        var copied = AttributeDescription("plan", .binary)
        copied.derivationExpression = "building.plan"
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Building", attributes: [.init("plan", .binary)],
                relationships: [
                    .init("sheets", to: "Sheet", toMany: true, inverse: "building")
                ]),
            EntityDescription(
                "Sheet",
                attributes: [copied, .init("cover", .binary)],
                relationships: [.init("building", to: "Building", inverse: "sheets")]),
            EntityDescription("Attic", attributes: [.init("plan", .binary)]),
        ])
        let store = try LogStore.inMemory(schema: try Schema(model))
        for entity in store.schema.entities {
            let id = try store.obtainPermanentIDs(forEntities: [entity.index])[0]
            let column = try #require(
                entity.columnIndex(named: entity.name == "Sheet" ? "cover" : "plan"))
            let writer = try store.beginValue(column: column, of: id, entity: entity.index)
            #expect((writer != nil) == (entity.name == "Attic"))
            writer?.abandon()
        }
        try store.close()
    }
}
