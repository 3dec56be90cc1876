// The backup that a migration leaves: the log up to it.

import CairnFileSystem
import CairnModel
import CairnStore
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("The store as it was before its migration")
struct UnmigratedBackupTests {
    private typealias Store = MigratedStore
    private static let models = MigratedSample.models

    /// A copy on a disk of its own.
    private static func backup(_ log: LogStore) throws -> Store {
        let disk = MemoryFileSystem()
        try log.backupBeforeMigration(to: "/store", on: disk)
        return Store(on: disk)
    }

    @Test(
        "The copy is what the store was, opens with the old model and follows anew; what came later stays out"
    )
    func whole() throws {
        let store = Store()
        var contents: [Store.Content] = []
        for version in Self.models.indices {
            if version > 0 { try store.migrate(to: Self.models[version]) }
            try store.with(Self.models[version]) { log in
                if version > 0 {
                    // Of the rows of the new model and without them it is the same.
                    for isLater in [false, true] {
                        if isLater { try MigratedSample.fill(log, version: version) }
                        let copy = try Self.backup(log)
                        let old = try copy.check(contents[version - 1], Self.models[version - 1])
                        #expect(old == contents[version - 1])
                        try copy.migrate(to: Self.models[version])
                        _ = try copy.check(nil, Self.models[version])
                    }
                } else {
                    try MigratedSample.fill(log, version: version)
                }
                contents.append(try Store.content(log))
            }
        }
        #expect(contents[0] != contents[1] && contents[1] != contents[2])
    }

    @Test("A store that is only read gives it, too")
    func readOnly() throws {
        let store = Store()
        let content = try store.with(Self.models[0]) { log in
            try MigratedSample.fill(log, version: 0)
            return try Store.content(log)
        }
        try store.migrate(to: Self.models[1])
        let log = try store.open(nil) { $0.isReadOnly = true }
        let copy = try Self.backup(log)
        try log.close()
        #expect(try copy.with(Self.models[0]) { try Store.content($0) } == content)
    }

    @Test("It is refused, and nothing is made, where no other model was or compaction has been")
    func refused() throws {
        let store = Store()
        let disk = MemoryFileSystem()
        func refusal(_ model: Int) throws -> StoreError? {
            try store.with(Self.models[model]) { log in
                do throws(StoreError) {
                    try log.backupBeforeMigration(to: "/store", on: disk)
                    return nil
                } catch {
                    return error
                }
            }
        }
        try store.with(Self.models[0]) { try MigratedSample.fill($0, version: 0) }
        let never = try refusal(0)
        #expect(never?.code == .pastStateUnavailable)
        #expect(never?.message.contains("never had another model") == true)
        try store.migrate(to: Self.models[1])
        #expect(try refusal(1) == nil)
        for name in try disk.list("/store") { try disk.unlink(FilePath("/store").appending(name)) }
        try disk.removeDirectory("/store")
        try store.with(Self.models[1]) { _ = try $0.compact() }
        let gone = try refusal(1)
        #expect(gone?.code == .pastStateUnavailable)
        #expect(gone?.message.contains("compaction") == true)
        #expect(try disk.exists("/store") == false)
    }

    @Test("A schema that says more of the same model is no migration, whatever it is opened with")
    func sameModel() throws {
        let store = Store()
        func model(limit: Int64?) -> ManagedObjectModel {
            var name = AttributeDescription("number", .integer16)
            name.maximumValue = limit.map { .integer($0) }
            var songs = RelationshipDescription("songs", to: "Song", toMany: true, inverse: "list")
            songs.isOrdered = true
            return Store.model(
                Store.entity("List", [name], [songs]),
                Store.entity("Song", [], [.init("list", to: "List", inverse: "songs")]))
        }
        try store.open(model(limit: nil)) { $0.sizes.keepsOrder = false }.close()
        for limit in [nil, 10] as [Int64?] {
            try store.with(model(limit: limit)) { log in
                #expect(log.engine.registry.published().catalog.version == 2)
                let error = #expect(throws: StoreError.self) {
                    try log.backupBeforeMigration(to: "/copy", on: MemoryFileSystem())
                }
                #expect(error?.code == .pastStateUnavailable)
                #expect(error?.message.contains("never had another model") == true)
            }
        }
        // Behind it the model changes.
        var next = model(limit: 10)
        next.entities[0].attributes.append(.init("name", .string))
        try store.migrate(to: next)
        let copy = try store.with(next) { try Self.backup($0) }
        try copy.with(model(limit: nil)) { log in
            #expect(log.schema.entity(named: "List")?.attributes.count == 1)
        }
    }
}
