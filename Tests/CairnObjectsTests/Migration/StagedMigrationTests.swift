// Stores that are led through several versions of their model.

import Cairn
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

/// Versions of typed classes, as SwiftData's users write them.
private enum ZooV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentEntity.Type] { [Animal.self] }

    @Entity final class Animal: ManagedObject {
        var name: String = ""
        var keeper: String?
    }
}

private enum ZooV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentEntity.Type] { [Animal.self, Keeper.self] }

    @Entity final class Animal: ManagedObject {
        var name: String = ""
        var keeper: String?
        @Relationship(inverse: \Keeper.animals) var keptBy: Keeper?
    }
    @Entity final class Keeper: ManagedObject {
        var name: String = ""
        var animals: Set<Animal>
    }
}

private enum ZooV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentEntity.Type] { [Animal.self, Keeper.self] }

    @Entity final class Animal: ManagedObject {
        var name: String = ""
        @Relationship(inverse: \Keeper.animals) var keptBy: Keeper?
    }
    @Entity final class Keeper: ManagedObject {
        var name: String = ""
        var animals: Set<Animal>
    }
}

private enum ZooPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [ZooV1.self, ZooV2.self, ZooV3.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: ZooV1.self, toVersion: ZooV2.self,
                willMigrate: { context in
                    for animal in try context.fetch(FetchRequest<ZooV1.Animal>())
                    where animal.keeper?.isEmpty == true { animal.keeper = nil }
                    try context.save()
                },
                didMigrate: { context in
                    var keepers: [String: ZooV2.Keeper] = [:]
                    for animal in try context.fetch(FetchRequest<ZooV2.Animal>()) {
                        guard let name = animal.keeper else { continue }
                        let keeper = keepers[name] ?? ZooV2.Keeper(context: context)
                        keeper.name = name
                        keepers[name] = keeper
                        animal.keptBy = keeper
                    }
                    try context.save()
                }),
            .lightweight(fromVersion: ZooV2.self, toVersion: ZooV3.self),
        ]
    }
}

@Suite("Staged migrations")
struct StagedMigrationTests {
    // MARK: Pets

    private static let v1 = ManagedObjectModel(entities: [
        EntityDescription(
            "User", attributes: [.init("name", .string), .init("petName", .string)])
    ])
    private static let v2: ManagedObjectModel = {
        var model = v1
        model.entities[0].attributes.append(
            .init("age", .integer32, optional: false, default: .integer(1)))
        return model
    }()
    private static let v3: ManagedObjectModel = {
        var model = v2
        model.entities[0].relationships = [.init("pet", to: "Pet", inverse: "owner")]
        model.entities.append(
            EntityDescription(
                "Pet", attributes: [.init("name", .string)],
                relationships: [.init("owner", to: "User", inverse: "pet")]))
        return model
    }()
    private static let v4: ManagedObjectModel = {
        var model = v3
        model.entities[0].attributes.removeAll { $0.name == "petName" }
        return model
    }()

    private final class Calls: Sendable {
        let list = Mutex<[String]>([])
        func note(_ call: String) { list.withLock { $0.append(call) } }
        var all: [String] { list.withLock { $0 } }
    }

    private struct Ended: Error {}

    /// - Parameter endsIn: the handler that ends the process, so to speak.
    private static func manager(_ calls: Calls, endsIn: String? = nil) -> StagedMigrationManager {
        var stage = CustomMigrationStage(
            currentModel: ModelReference(v2), nextModel: ModelReference(v3), label: "pets")
        stage.willMigrateHandler = { context in
            calls.note("will \(try context.count("User")) \(context.schemaNames)")
            if endsIn == "will" { throw Ended() }
        }
        stage.didMigrateHandler = { context in
            calls.note("did \(context.schemaNames)")
            for user in try context.all("User") where user.object("pet") == nil {
                guard let name = user.string("petName") else { continue }
                context.make("Pet", ["name": name, "owner": user])
            }
            try context.save()
            if endsIn == "did" { throw Ended() }
        }
        return StagedMigrationManager(
            [
                LightweightMigrationStage([v1.versionChecksum, v2.versionChecksum]), stage,
                LightweightMigrationStage([ModelReference(v4)]),
            ], models: [ModelReference(v1)])
    }

    private static func makeStore(_ path: String, _ model: ManagedObjectModel, _ count: Int) throws
    {
        let store = try LogStore.open(at: path, schema: try Schema(model))
        try Stack(store: store).store { context in
            (0..<count).map { context.make("User", ["name": "u\($0)", "petName": "p\($0)"]) }
        }
        try store.close()
    }

    private static func checkPets(_ path: String, _ count: Int) throws {
        let store = try LogStore.open(at: path, schema: try Schema(v4))
        let context = Stack(store: store).context()
        let users = try context.all("User")
        #expect(users.count == count)
        for user in users {
            let number = user.string("name")?.dropFirst() ?? ""
            #expect(user.object("pet")?.string("name") == "p\(number)")
            #expect(user.int("age") == 1)
        }
        #expect(try context.count("Pet") == count)
        #expect(try store.metadata().values.isEmpty, "no note stays behind")
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test(
        "A custom stage between two lightweight ones moves petName of 12 users into Pet objects (B160)"
    )
    func pets() throws {
        try withTemporaryDirectory { folder in
            let path = folder.path("users.cairn")
            try Self.makeStore(path, Self.v1, 12)
            let calls = Calls()
            let manager = Self.manager(calls)
            #expect(try manager.migrateStore(at: path, to: Self.v4) == 3)
            #expect(calls.all == ["will 12 User", "did Pet User"])
            try Self.checkPets(path, 12)
            // What is of the model is left alone, and so is nothing at all.
            #expect(try manager.migrateStore(at: path, to: Self.v4) == 0)
            #expect(try manager.migrateStore(at: path + "x", to: Self.v4) == 0)
            #expect(calls.all.count == 2)
            #expect(
                storeError { try manager.migrateStore(at: path, to: Self.v2) }?.code
                    == .stagedMigrationBackwards)
        }
    }

    @Test("A store may begin in the middle of the stages")
    func middle() throws {
        try withTemporaryDirectory { folder in
            let path = folder.path("users.cairn")
            try Self.makeStore(path, Self.v2, 3)
            let calls = Calls()
            let container = try PersistentContainer(
                at: path, model: Self.v4, stagedMigration: Self.manager(calls))
            #expect(calls.all.count == 2)
            try container.store.close()
            try Self.checkPets(path, 3)
        }
    }

    @Test(
        "Code that did not run to its end runs again: before the stage, and after it",
        arguments: ["will", "did"])
    func again(_ handler: String) throws {
        try withTemporaryDirectory { folder in
            let path = folder.path("users.cairn")
            try Self.makeStore(path, Self.v1, 4)
            let calls = Calls()
            let error = storeError {
                try Self.manager(calls, endsIn: handler).migrateStore(at: path, to: Self.v4)
            }
            #expect(error?.code == .migrationFailed && error?.cause is Ended)
            #expect(error?.message.contains("the stage pets") == true)
            let version = try LogStore.metadata(forStoreAt: path).model
            #expect(version == (handler == "will" ? Self.v2 : Self.v3))
            try Self.manager(calls).migrateStore(at: path, to: Self.v4)
            let expected =
                handler == "will"
                ? ["will 4 User", "will 4 User", "did Pet User"]
                : ["will 4 User", "did Pet User", "did Pet User"]
            #expect(calls.all == expected)
            try Self.checkPets(path, 4)
        }
    }

    @Test("Several versions one after the other, one of them by a mapping")
    func progressive() throws {
        try withTemporaryDirectory { folder in
            let path = folder.path("users.cairn")
            try Self.makeStore(path, Self.v1, 5)
            // From version 2 to 3 a mapping says what becomes of the names.
            var mapping = MappingModel(
                drafting: try ModelMigrationPlan(from: Self.v2, to: Self.v3))
            mapping["AddPet"] = EntityMapping("UserToPet", from: "User", to: "Pet")
            mapping["AddPet"] = nil
            var pets = EntityMapping("UserToPet", from: "User", to: "Pet")
            pets.attributeMappings = [PropertyMapping("name", copying: "petName")]
            mapping["UserToPet"] = pets
            mapping["UserToUser"]?["pet"] = PropertyMapping("pet") { user, manager in
                manager.destinationInstances(
                    forEntityMappingName: "UserToPet", sourceInstances: [user])
            }
            let manager = StagedMigrationManager(
                [
                    LightweightMigrationStage([ModelReference(Self.v1), ModelReference(Self.v2)]),
                    CustomMigrationStage(
                        currentModel: ModelReference(Self.v2), nextModel: ModelReference(Self.v3),
                        mapping: mapping),
                ])
            #expect(try manager.migrateStore(at: path, to: Self.v4) == 3)
            try Self.checkPets(path, 5)
        }
    }

    // MARK: SwiftData's way

    @Test("A plan of versioned classes: code before sees the old classes, code after the new ones")
    func plan() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.path("zoo.cairn")
            let old = try PersistentContainer(at: path, for: ZooV1.Animal.self)
            try await old.performBackgroundTask { context in
                for (name, keeper) in [
                    ("lion", "ann"), ("bear", "ann"), ("owl", "bob"), ("ant", ""),
                ] {
                    let animal = ZooV1.Animal(context: context)
                    animal.name = name
                    animal.keeper = keeper
                }
                try context.save()
            }
            try old.store.close()
            let container = try PersistentContainer(at: path, migrationPlan: ZooPlan.self)
            let found = try await container.performBackgroundTask { context in
                try context.fetch(FetchRequest<ZooV3.Keeper>(sortBy: [SortKey("name")])).map {
                    "\($0.name): \($0.animals.map(\.name).sorted().joined(separator: " "))"
                }
            }
            #expect(found == ["ann: bear lion", "bob: owl"])
            let count = try await container.performBackgroundTask { context in
                try context.count(for: FetchRequest<ZooV3.Animal>())
            }
            #expect(count == 4)
            try container.store.close()
            // Opened again, nothing happens; a new store is of the newest version at once.
            try PersistentContainer(at: path, migrationPlan: ZooPlan.self).store.close()
            try PersistentContainer(at: folder.path("new.cairn"), migrationPlan: ZooPlan.self)
                .store.close()
        }
    }
}

extension ManagedObjectContext {
    /// The names of the entities.
    fileprivate var schemaNames: String {
        ["Pet", "User"].filter { knows($0) }.joined(separator: " ")
    }

    private func knows(_ entity: String) -> Bool {
        (try? count(for: FetchRequest<ManagedObject>(entityName: entity))) != nil
    }
}
