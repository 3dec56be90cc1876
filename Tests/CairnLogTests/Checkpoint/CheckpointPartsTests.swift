// Parts of a checkpoint that many threads need at the same time, and those that nobody has needed yet.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Dispatch
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Loading the parts of a checkpoint")
struct CheckpointPartsTests {
    private static let entities = 24
    private static let rows = 700

    /// A closed store of many entities, each of which has parts of its own.
    private static func closed() throws -> MemoryFileSystem {
        let disk = MemoryFileSystem()
        let store = try open(disk)
        for entity in 0..<entities {
            _ = try store.execute(
                BatchInsertRequest(
                    entityName: "Kind\(entity)",
                    objects: (0..<rows).map { ["key": $0 * 3, "number": $0 * entity] }))
        }
        try store.close()
        return disk
    }

    private static func open(_ disk: any FileSystem, _ scheduler: ManualScheduler? = nil) throws
        -> LogStore
    {
        let model = ManagedObjectModel(
            entities: (0..<entities).map { entity in
                EntityDescription(
                    "Kind\(entity)",
                    attributes: [.init("key", .integer64), .init("number", .integer64)],
                    uniquenessConstraints: [["key"]])
            })
        var options = SampleStore.options(on: disk)
        options.sizes.closingCheckpointBytes = 1
        if let scheduler { options.makeScheduler = { scheduler } }
        return try LogStore.open(at: "/store", schema: Schema(model), options: options)
    }

    /// The number of the object with a key.
    private static func look(_ store: LogStore, _ entity: Int, _ key: Int) throws -> Int64? {
        let kind = try #require(store.schema.entity(named: "Kind\(entity)"))
        let (keys, number) = (
            try kind.column("key", as: Int64?.self), try kind.column("number", as: Int64?.self)
        )
        var found: Int64?
        try store.snapshot().lookUp(StoreLookup(kind, by: ColumnSet(keys)), keys, [Int64(key)]) {
            found = $0[number]
        }
        return found
    }

    @Test("Threads that need the same parts, and others, find all rows")
    func threads() throws {
        let disk = try Self.closed()
        for _ in 0..<5 {
            let store = try Self.open(disk)
            let wrong = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 6) { thread in
                for step in 0..<Self.entities {
                    let entity = thread < 3 ? step : (step * 7 + thread) % Self.entities
                    let row = (step * 31 + thread) % Self.rows
                    let isRight =
                        (try? Self.look(store, entity, row * 3)) == Int64(row * entity)
                        && (try? Self.look(store, entity, row * 3 + 1)) == .some(nil)
                    if !isRight { wrong.wrappingAdd(1, ordering: .relaxed) }
                }
            }
            #expect(wrong.load(ordering: .relaxed) == 0)
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
    }

    @Test("Once many were needed, the others are loaded in the background; before that none is")
    func rest() throws {
        let disk = FaultInjectingFileSystem(over: try Self.closed())
        let scheduler = ManualScheduler()
        let store = try Self.open(disk, scheduler)
        let image = try #require(store.engine.image)
        let parts = image.progress.parts
        #expect(parts >= 2 * Self.entities)
        scheduler.run()
        #expect(image.progress.loaded == 0)
        var entity = 0
        // An index and a directory each.
        while entity < 7 {
            #expect(try Self.look(store, entity, 3) == Int64(entity))
            entity += 1
        }
        scheduler.run()
        #expect(image.progress.loaded == 14)
        #expect(try Self.look(store, entity, 3) == Int64(entity))
        #expect(image.progress.loaded == 16)
        // What cannot be read in the background is left to whoever needs it.
        disk.fail(.read, with: .ioError, repeats: true)
        scheduler.run()
        #expect(image.progress.loaded == 16)
        #expect(image.failure == nil)
        #expect(try Self.look(store, 0, 6) == 0)
        disk.clearFaults()
        image.loadAhead(wholly: true)
        #expect(image.progress.loaded == parts)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }
}
