// The room that a migration needs is asked of the disk before it begins.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMigration

@Suite("The room that a migration needs")
struct MigrationSpaceTests {
    private typealias Store = MigratedStore

    /// Recipes with one tag, or with many.
    private static func model(many: Bool, notes: Bool = false) -> ManagedObjectModel {
        var attributes: [AttributeDescription] = [.init("n", .integer32), .init("text", .string)]
        if notes { attributes.append(.init("note", .string)) }
        return Store.model(
            Store.entity(
                "Recipe", attributes,
                [.init("tags", to: "Tag", toMany: many, inverse: "recipes")]),
            Store.entity(
                "Tag", [.init("n", .integer32)],
                [.init("recipes", to: "Recipe", toMany: true, inverse: "tags")]))
    }

    /// A store, and its disk, of which can be said how much room it has.
    private static func filled(_ model: ManagedObjectModel) throws -> (
        store: Store, disk: FaultInjectingFileSystem, base: MemoryFileSystem
    ) {
        let base = MemoryFileSystem()
        let disk = FaultInjectingFileSystem(over: base)
        let store = Store(on: disk)
        try store.with(model) { log in
            _ = try log.execute(
                BatchInsertRequest(entityName: "Tag", objects: (0..<40).map { ["n": $0] }))
            let tags = try log.snapshot().fetch(
                StoreFetch(entity: try #require(log.schema.entity(named: "Tag")).index)
            ).ids
            let isMany = log.schema.entities[0].relationships[0].description.isToMany
            _ = try log.execute(
                BatchInsertRequest(
                    entityName: "Recipe",
                    objects: (0..<3_000).map { index -> [String: Any] in
                        let chosen = tags[index % tags.count]
                        return [
                            "n": index, "text": "recipe \(index * 7_919 % 104_729)",
                            "tags": isMany ? [chosen] as Any : chosen,
                        ]
                    }))
        }
        return (store, disk, base)
    }

    private static func size(_ disk: MemoryFileSystem) throws -> UInt64 {
        try disk.list("/store").reduce(0) {
            $0 + (try disk.open(FilePath("/store/\($1)"), .read).size())
        }
    }

    @Test("What writes no rows anew is not asked for any")
    func metadataOnly() throws {
        let (store, disk, _) = try Self.filled(Self.model(many: false))
        disk.say(availableBytes: 0)
        let report = try store.migrate(to: Self.model(many: false, notes: true))
        #expect(report.commit != nil && report.plan.cost == .metadata)
    }

    @Test(
        "One that does is refused before it begins, in words; with room, or unasked, it goes on",
        arguments: [true, false])
    func rewriting(toMany: Bool) throws {
        let (old, new) = (Self.model(many: !toMany), Self.model(many: toMany))
        let (store, disk, base) = try Self.filled(old)
        let before = try store.with(old) { try Store.content($0) }
        let size = try Self.size(base)
        disk.say(availableBytes: 1 << 10)
        let error = #expect(throws: StoreError.self) { try store.migrate(to: new) }
        #expect(error?.code == .noSpace)
        #expect(error?.context.path == "/store")
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("needs about 1 MiB of disk space, but the disk has 0 MiB"), "\(text)")
        #expect(try Self.size(base) == size)
        #expect(try store.check(before, old) == before)

        disk.say(availableBytes: 1 << 30)
        try store.migrate(to: new)
        _ = try store.check(nil, new)
        disk.say(availableBytes: 0)
        try store.migrate(to: old) { $0.checksSpaceBeforeMigration = false }
        _ = try store.check(nil, old)
    }

    @Test("The estimate is near what is written")
    func estimate() throws {
        for toMany in [true, false] {
            let (old, new) = (Self.model(many: !toMany), Self.model(many: toMany))
            let (store, _, base) = try Self.filled(old)
            let plan = try ModelMigrationPlan(from: old, to: new)
            let log = try store.open(old)
            let estimate = try log.engine.bytesToMigrate(plan)
            try log.close()
            try store.removeCheckpoints()
            let before = try Self.size(base)
            try store.migrate(to: new)
            try store.removeCheckpoints()
            let written = try Self.size(base) - before
            #expect(estimate > written / 4, "\(estimate) of \(written)")
            #expect(estimate < written * 4, "\(estimate) of \(written)")
        }
    }

    @Test("Large values that stay where they are take no room; of a mapping they do")
    func largeValues() throws {
        let (old, new) = (Self.model(many: false), Self.model(many: true))
        let (store, _, _) = try Self.filled(old)
        let large = 1 << 20
        let log = try store.open(old)
        let before = (
            try log.engine.bytesToMigrate(.init(from: old, to: new)), try log.engine.bytesInUse()
        )
        _ = try log.execute(
            BatchInsertRequest(
                entityName: "Recipe",
                objects: (0..<8).map {
                    ["n": $0, "text": String(repeating: "\($0)", count: large)]
                }))
        let plan = try ModelMigrationPlan(from: old, to: new)
        #expect(try log.engine.bytesToMigrate(plan) < before.0 + UInt64(large))
        #expect(try log.engine.bytesInUse() > before.1 + 8 * UInt64(large))
        try log.close()
    }
}
