// Which model rules in a store that is opened with one: its own in what is stored, the other in all else.

import Cairn
import CairnFileSystem
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("The model that a store is opened with")
struct OpenedModelTests {
    private static func model(_ change: (inout ManagedObjectModel) -> Void = { _ in })
        -> ManagedObjectModel
    {
        var rooms = AttributeDescription("rooms", .integer16, default: .integer(1))
        rooms.maximumValue = .integer(10)
        var model = ManagedObjectModel(entities: [
            EntityDescription(
                "Street", attributes: [.init("name", .string)],
                relationships: [
                    .init("houses", to: "House", toMany: true, inverse: "street")
                ]),
            EntityDescription(
                "House", attributes: [.init("number", .integer32), rooms],
                relationships: [.init("street", to: "Street", inverse: "houses")],
                uniquenessConstraints: [["street", "number"]]),
        ])
        change(&model)
        return model
    }

    /// Other limits, defaults, delete rules, requests and texts: the same version.
    private static let relaxed = model { model in
        model.entities[1].attributes[1].maximumValue = .integer(100)
        model.entities[1].attributes[1].defaultValue = .integer(7)
        model.entities[0].relationships[0].deleteRule = .cascade
        model.entities[0].userInfo["note"] = "relaxed"
        model.fetchRequestTemplates = [
            FetchRequestTemplate("large", entityName: "House", predicateFormat: "rooms > 50")
        ]
        // In another order.
        model.entities.reverse()
        model.entities[0].attributes.reverse()
        model.entities[0].uniquenessConstraints = [["number", "street"]]
    }

    /// Another version that stores the same.
    private static let marked = model { model in
        model.entities[0].versionHashModifier = "marked"
        model.entities[0].relationships[0].minimumCount = 1
        model.entities[1].attributes[1].maximumValue = .integer(100)
    }

    private static func make(_ path: String) throws {
        let container = try PersistentContainer(at: path, model: model())
        try Stack(store: container.store).store { context in
            let street = context.make("Street", ["name": "high"])
            context.make("House", ["number": 1, "street": street])
            return [street]
        }
        try container.store.close()
    }

    private static var strict: LogStoreOptions {
        var options = LogStoreOptions()
        options.shouldMigrateStoreAutomatically = false
        return options
    }

    @Test(
        "Of one version the model that is given rules in what is not stored, though the store keeps its own",
        arguments: [false, true])
    func rules(_ hasMigrated: Bool) throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("town.cairn")
        if hasMigrated {
            // Numbers that do not follow from the model.
            let old = Self.model { $0.entities.insert(EntityDescription("Gone"), at: 0) }
            try PersistentContainer(at: path, model: old).store.close()
            try PersistentContainer(at: path, model: Self.model()).store.close()
        }
        try Self.make(path)
        do {
            let container = try PersistentContainer(
                at: path, model: Self.relaxed, options: Self.strict)
            let stack = Stack(store: container.store)
            let context = stack.context()
            let street = try #require(try context.all("Street").first)
            let house = context.make("House", ["number": 2, "street": street])
            #expect(house.int("rooms") == 7)
            house["rooms"] = 60
            try context.save()
            let model = container.schema.model
            #expect(try context.fetch(model.fetchRequest(fromTemplate: "large")) == [house])
            #expect(street.entity.description.userInfo["note"] == "relaxed")
            let own = try container.metadata().model
            #expect(own == Self.model())
            #expect(
                storeError {
                    try stack.store { context in
                        let street = try #require(try context.all("Street").first)
                        return [context.make("House", ["number": 2, "street": street])]
                    }
                }?.code == .constraintConflict)
            // The delete rule is that of the given model, in a batch too.
            let streets = BatchDeleteRequest(objectIDs: [street.objectID])
            _ = try container.store.execute(streets)
            #expect(try stack.context().count("House") == 0)
            let log = try #require(container.store as? LogStore)
            #expect(try log.check().findings.isEmpty)
            _ = try log.compact()
            try log.close()
        }
        #expect(try LogStore.metadata(forStoreAt: path).model == Self.model())
        let log = try LogStore.open(at: path)
        #expect(log.schema.model == Self.model())
        try log.close()
        // Whoever migrates leaves the new defaults and delete rules to those who have no model.
        try PersistentContainer(at: path, model: Self.relaxed).store.close()
        #expect(try LogStore.metadata(forStoreAt: path).model == Self.relaxed)
    }

    @Test("Limits and requests that change cost no migration, and count at once")
    func limits() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("town.cairn")
        try Self.make(path)
        func save(_ rooms: Int, _ model: ManagedObjectModel, _ options: LogStoreOptions) throws
            -> StoreError?
        {
            let container = try PersistentContainer(at: path, model: model, options: options)
            defer { try? container.store.close() }
            return storeError {
                try Stack(store: container.store).store { [$0.make("House", ["rooms": rooms])] }
            }
        }
        let wide = Self.model { $0.entities[1].attributes[1].maximumValue = .integer(100) }
        let before = try LogStore.metadata(forStoreAt: path).model
        let refused = try save(50, Self.model(), LogStoreOptions())
        #expect(refused?.context.key == "rooms", "\(String(describing: refused))")
        #expect(try save(50, wide, LogStoreOptions()) == nil)
        #expect(try save(51, wide, Self.strict) == nil)
        #expect(try save(50, Self.model(), LogStoreOptions())?.code == refused?.code)
        #expect(try LogStore.metadata(forStoreAt: path).model == before)
        // In a batch as well.
        let container = try PersistentContainer(at: path, model: wide)
        _ = try container.store.execute(
            BatchInsertRequest(entityName: "House", objects: [["rooms": 99]]))
        try container.store.close()
    }

    @Test(
        "B148: another version is refused though it stores the same (134100), unless versions are ignored"
    )
    func ignoring() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("town.cairn")
        try Self.make(path)
        let hashes = try LogStore.metadata(forStoreAt: path).modelVersionHashes
        func open(_ model: ManagedObjectModel, _ change: (inout LogStoreOptions) -> Void) throws
            -> PersistentContainer
        {
            var options = Self.strict
            change(&options)
            return try PersistentContainer(at: path, model: model, options: options)
        }
        let error = storeError { _ = try open(Self.marked) { _ in } }
        #expect(error?.code.rawValue == 134_100)
        #expect(error?.message.contains("hash modifier changed to marked") == true)
        #expect((error?.cause as? ModelMismatch)?.entities == ["Street"])
        #expect(
            storeError { try open(Self.marked) { $0.isReadOnly = true }.store.close() }?.code
                == .incompatibleModel)

        for isReadOnly in [true, false] {
            let container = try open(Self.marked) {
                $0.ignoresModelVersion = true
                $0.isReadOnly = isReadOnly
            }
            let context = Stack(store: container.store).context()
            let street = try #require(try context.all("Street").first)
            #expect(street.members("houses").count == 1)
            #expect(street.entity.description.versionHashModifier == "marked")
            if !isReadOnly {
                context.make("House", ["number": 5, "rooms": 99, "street": street])
                try context.save()
                _ = try (container.store as? LogStore)?.compact()
            }
            #expect(try container.metadata().modelVersionHashes == hashes)
            try container.store.close()
        }
        // It is of its own version still: with that it opens, and whoever migrates leads it to the other.
        #expect(try LogStore.metadata(forStoreAt: path).modelVersionHashes == hashes)
        let own = try open(Self.model()) { _ in }
        #expect(try Stack(store: own.store).context().count("House") == 2)
        try own.store.close()
        try open(Self.marked) { $0.shouldMigrateStoreAutomatically = true }.store.close()
        #expect(
            try LogStore.metadata(forStoreAt: path).modelVersionHashes
                == Self.marked.entityVersionHashesByName)
    }

    @Test("What is stored otherwise is not ignored: it is refused, or followed")
    func notIgnored() throws {
        let changes: [(inout ManagedObjectModel) -> Void] = [
            { $0.entities[1].attributes[0].type = .integer64 },
            { $0.entities[1].attributes[0].isOptional = false },
            { $0.entities[1].attributes.append(.init("floors", .integer16)) },
            { $0.entities[1].attributes.removeLast() },
            { $0.entities[1].uniquenessConstraints = [] },
            { $0.entities.append(EntityDescription("Town")) },
            { $0.entities[0].relationships[0].isOrdered = true },
            {
                $0.entities[0].name = "Road";
                $0.entities[1].relationships[0].destinationEntityName = "Road"
            },
        ]
        for (number, change) in changes.enumerated() {
            let folder = try TemporaryDirectory()
            let path = folder.path("town.cairn")
            try Self.make(path)
            var options = Self.strict
            options.ignoresModelVersion = true
            let model = Self.model(change)
            let error = storeError {
                _ = try PersistentContainer(at: path, model: model, options: options)
            }
            #expect(error?.code == .incompatibleModel, "change \(number)")
            #expect(try LogStore.metadata(forStoreAt: path).model == Self.model())
        }
        let folder = try TemporaryDirectory()
        let path = folder.path("town.cairn")
        try Self.make(path)
        var options = LogStoreOptions()
        options.ignoresModelVersion = true
        let model = Self.model { $0.entities[1].attributes.append(.init("floors", .integer16)) }
        try PersistentContainer(at: path, model: model, options: options).store.close()
        #expect(try LogStore.metadata(forStoreAt: path).model == model)
    }

    @Test(
        "A reader keeps the model that it was opened with, whatever becomes of the store's schema")
    func follower() throws {
        var options = LogStoreOptions()
        options.fileSystem = MemoryFileSystem()
        options.sizes.askedCompactionFloor = 1
        let schema = try Schema(Self.model())
        let writer = try LogStore.open(at: "/store", schema: schema, options: options)
        let rows = (0..<500).map { ["number": $0, "rooms": 2] }
        _ = try writer.execute(BatchInsertRequest(entityName: "House", objects: rows))
        try writer.synchronize()
        var reading = options
        reading.isReadOnly = true
        reading.followsWriter = false
        let reader = try LogStore.open(
            at: "/store", schema: Schema(Self.relaxed), options: reading)
        let place = writer.engine.registry.read { $0.catalog.place }
        _ = try writer.execute(
            BatchDeleteRequest(fetchRequest: FetchRequest(entityName: "House")))
        _ = try writer.compact()
        try writer.synchronize()
        #expect(writer.engine.registry.read { $0.catalog.place } != place)
        _ = try reader.refresh()
        #expect(try reader.snapshot().count(StoreFetch(entity: 1)) == 0)
        let largest = reader.schema.entity(named: "House")?.attributes
            .first { $0.description.name == "rooms" }?.description.maximumValue
        #expect(largest == .integer(100))
        #expect(reader.schema.entities.map(\.name) == ["Street", "House"])
        try reader.close()
        try writer.close()
    }

    @Test(
        "Coordinators open a store whose entities stand in another order, which keeps its version if that is ignored",
        arguments: [false, true])
    func coordinator(_ ignores: Bool) throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("town.cairn")
        try Self.make(path)
        let hashes = try LogStore.metadata(forStoreAt: path).modelVersionHashes
        var description = PersistentStoreDescription(at: path)
        description.ignoresModelVersion = ignores
        var model = ignores ? Self.marked : Self.model()
        model.entities.reverse()
        for _ in 0..<2 {
            let container = try PersistentContainer(model: model, stores: [description])
            let context = ManagedObjectContext(store: container.store)
            #expect(try context.count("House") == 1 && context.count("Street") == 1)
            try container.persistentStoreCoordinator?.close()
            #expect(try LogStore.metadata(forStoreAt: path).modelVersionHashes == hashes)
        }
        try PersistentContainer(at: path, model: Self.model(), options: Self.strict).store.close()
    }

    @Test("Whoever comes second is let in as the first one was")
    func second() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("town.cairn")
        try Self.make(path)
        var reading = LogStoreOptions()
        reading.isReadOnly = true
        for options in [Self.strict, reading] {
            let first = try PersistentContainer(at: path, model: Self.relaxed, options: options)
            let second = try PersistentContainer(at: path, model: Self.relaxed, options: options)
            #expect(try Stack(store: second.store).context().count("House") == 1)
            // With the store's own, too, be it that the other one's defaults rule.
            let third = try PersistentContainer(at: path, model: Self.model(), options: options)
            for container in [first, second, third] { try container.store.close() }
        }
        // Nobody is led anywhere by another order alone.
        let commit = try LogStore.status(at: path).commit
        let reordered = Self.model { $0.entities[1].attributes.reverse() }
        try PersistentContainer(at: path, model: reordered).store.close()
        #expect(try LogStore.status(at: path).commit == commit)
    }

    @Test("A renaming identifier that comes before the renaming is remembered")
    func renamingIdentifiers() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("town.cairn")
        try Self.make(path)
        let named = Self.model { $0.entities[0].attributes[0].renamingIdentifier = "id-of-name" }
        #expect(named.entityVersionHashesByName == Self.model().entityVersionHashesByName)
        try PersistentContainer(at: path, model: named).store.close()
        let renamed = Self.model { model in
            model.entities[0].attributes[0].name = "title"
            model.entities[0].attributes[0].renamingIdentifier = "id-of-name"
        }
        let container = try PersistentContainer(at: path, model: renamed)
        let street = try #require(try Stack(store: container.store).context().all("Street").first)
        #expect(street.string("title") == "high")
        try container.store.close()
    }

    @Test("What stands against a constraint is asked of the store's own model, whoever has it open")
    func duplicates() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("town.cairn")
        let container = try PersistentContainer(at: path, model: Self.model())
        try Stack(store: container.store).store { context in
            (0..<3).map { _ in context.make("Street", ["name": "high"]) }
        }
        try container.store.close()
        let named = Self.model { $0.entities[0].attributes[0].renamingIdentifier = "id-of-name" }
        let renamed = try Schema(
            Self.model { model in
                model.entities[0].attributes[0].name = "title"
                model.entities[0].attributes[0].renamingIdentifier = "id-of-name"
                model.entities[0].uniquenessConstraints = [["title"]]
            })
        #expect(try LogStore.duplicates(at: path, for: renamed).isEmpty, "the name is gone")
        var reading = LogStoreOptions()
        reading.isReadOnly = true
        let reader = try PersistentContainer(at: path, model: named, options: reading)
        #expect(try LogStore.duplicates(at: path, for: renamed).isEmpty)
        try reader.store.close()
    }
}
