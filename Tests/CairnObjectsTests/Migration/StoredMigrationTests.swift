// Migrations by mappings of stores on a disk: ids, content, crashes, and what is left behind.

import Cairn
import CairnFileSystem
import CairnTestSupport
import FoundationEssentials
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving
@testable import CairnObjects

@Suite("Migrations of stores by mappings")
struct StoredMigrationTests {
    /// A store on a disk in memory.
    private struct Disk {
        var options = LogStoreOptions()
        let base: MemoryFileSystem

        init(_ base: MemoryFileSystem = MemoryFileSystem()) {
            self.base = base
            options.fileSystem = base
        }

        func open(_ model: ManagedObjectModel, isReadOnly: Bool = false) throws -> LogStore {
            var options = options
            options.isReadOnly = isReadOnly
            return try LogStore.open(at: "/store", schema: try Schema(model), options: options)
        }

        /// Opens the store, does something with it, and closes it.
        @discardableResult
        func with<Result>(
            _ model: ManagedObjectModel, isReadOnly: Bool = false,
            _ body: (Stack) throws -> Result
        ) throws -> Result {
            let store = try open(model, isReadOnly: isReadOnly)
            defer { try? store.close() }
            return try body(Stack(store: store))
        }

        func migrate(
            to model: ManagedObjectModel, _ mapping: MappingModel,
            progress: MappingProgress = MappingProgress()
        ) throws {
            let migration = try LogStore.beginMigration(
                at: "/store", to: try Schema(model), options: options)
            try MigrationManager(migration, mapping: mapping, progress: progress).migrate()
        }

        var names: [String] { (try? base.list("/store")) ?? [] }
    }

    private static func draft(_ old: ManagedObjectModel, _ new: ManagedObjectModel) throws
        -> MappingModel
    {
        MappingModel(drafting: try ModelMigrationPlan(from: old, to: new))
    }

    // MARK: The whole

    private static func fill(_ stack: Stack, _ count: Int, seed: UInt64) throws {
        var random = RandomSource(seed: seed)
        let context = stack.context()
        let (people, departments) = PeopleAtRandom.make(
            count, departments: 4, in: context, &random)
        for number in people.indices {
            context.make("Desk", ["number": number, "department": random.pick(departments)])
        }
        try context.save()
        // Numbers are not without gaps.
        for person in people where random.chance(20) { context.delete(person) }
        try context.save()
    }

    @Test(
        "Objects keep their ids and their graph; the store is whole, also when opened again and compacted"
    )
    func graph() throws {
        for seed in RandomSource.seeds(1) {
            let disk = Disk()
            var new = Models.people
            new.entities[0].attributes.append(.init("greeting", .string))
            var mapping = try Self.draft(Models.people, new)
            mapping["PersonToPerson"]?["greeting"]?.valueExpression = try ExpressionNode(
                format: "$source.name")
            let (before, ids) = try disk.with(Models.people) { stack in
                try Self.fill(stack, 700, seed: seed)
                let people = try stack.context().all("Person", sortedBy: "name")
                return (
                    try Content(stack, keys: PeopleAtRandom.keys),
                    people.map { ($0.string("name"), $0.objectID) }
                )
            }
            try disk.migrate(to: new, mapping)
            func check(_ stack: Stack) throws {
                let context = stack.context()
                for (name, id) in ids {
                    let person = try context.existingObject(with: id)
                    #expect(person.string("name") == name && person.string("greeting") == name)
                }
                let after = try Content(stack, keys: PeopleAtRandom.keys)
                let plain = after.lines.map { line in
                    line.split(separator: " ").filter { !$0.hasPrefix("greeting=") }
                        .joined(separator: " ")
                }
                #expect(plain == before.lines, "seed \(seed)")
                let store = try #require(stack.store as? LogStore)
                #expect(try store.check().findings.isEmpty)
            }
            #expect(!disk.names.contains("migration"))
            try disk.with(new, check)
            try disk.with(new) { stack in
                let added = try stack.store { [$0.make("Person", ["name": "new"])] }
                #expect(!ids.contains { $0.1 == added[0] }, "no number is given twice")
                try stack.store { context in
                    let new = try context.existingObject(with: added[0])
                    context.delete(new)
                    return []
                }
                _ = try (stack.store as? LogStore)?.compact()
                try check(stack)
            }
            try disk.with(new, isReadOnly: true, check)
        }
    }

    @Test("Large values come along, and ordered relationships keep their order")
    func valuesAndOrder() throws {
        var tracks = RelationshipDescription("tracks", to: "Track", toMany: true, inverse: "list")
        tracks.isOrdered = true
        let old = ManagedObjectModel(entities: [
            EntityDescription(
                "List", attributes: [.init("name", .string)], relationships: [tracks]),
            EntityDescription(
                "Track", attributes: [.init("name", .string), .init("sound", .binary)],
                relationships: [.init("list", to: "List", inverse: "tracks")]),
        ])
        var new = old
        new.entities[1].attributes[0].versionHashModifier = "2"
        let disk = Disk()
        let sounds = (0..<8).map { number in
            Data((0..<(number * 40_000)).map { UInt8(truncatingIfNeeded: $0 &* (number + 3)) })
        }
        try disk.with(old) { stack in
            try stack.store { context in
                let list = context.make("List", ["name": "all"])
                let all = sounds.enumerated().map {
                    context.make("Track", ["name": "t\($0)", "sound": $1])
                }
                list["tracks"] = [5, 2, 7, 0, 1, 6, 4, 3].map { all[$0] }
                return [list]
            }
        }
        try disk.migrate(to: new, Self.draft(old, new))
        try disk.with(new) { stack in
            let list = try #require(try stack.context().all("List").first)
            let all = try #require(list["tracks"] as? [ManagedObject])
            #expect(all.map { $0.string("name") } == [5, 2, 7, 0, 1, 6, 4, 3].map { "t\($0)" })
            for (track, number) in zip(all, [5, 2, 7, 0, 1, 6, 4, 3]) {
                #expect(track["sound"] as? Data == sounds[number])
            }
        }
    }

    // MARK: The constraint that is added

    @Test("A constraint is added to a store with duplicates, as a policy says: the whole story")
    func addedConstraint() throws {
        let disk = Disk()
        let old = UsersWithDuplicates.model(unique: false)
        let new = UsersWithDuplicates.model(unique: true)
        let ids = try disk.with(old) { stack in
            try stack.store { context in
                let ids: [String?] = ["a", "b", nil, "a", "b", "c", "b", nil]
                return ids.enumerated().map { number, id in
                    let user = context.make("User", ["uniqueId": id, "age": number])
                    context.make("Note", ["text": "n\(number)", "user": user])
                    return user
                }
            }
        }
        #expect(storeError { try disk.with(new) { _ in } }?.code == .incompatibleModel)
        var mapping = try Self.draft(old, new)
        let refused = storeError { try disk.migrate(to: new, mapping) }
        #expect(refused?.code == .migrationConstraintViolation)
        #expect(refused?.context.entity == "User" && refused?.context.key == "uniqueId")
        try disk.with(old) { stack in
            let count = try stack.context().count("User")
            #expect(count == 8, "the old store is as it was")
        }
        #expect(!disk.names.contains("migration"))
        mapping["UserToUser"]?.entityMigrationPolicy = UsersWithDuplicates.KeepFirst.self
        try disk.migrate(to: new, mapping)
        for isReadOnly in [false, true] {
            try disk.with(new, isReadOnly: isReadOnly) { stack in
                let users = try stack.context().all("User", sortedBy: "age")
                #expect(users.map { $0.int("age") } == [0, 1, 2, 5, 7])
                #expect(users.map(\.objectID) == [0, 1, 2, 5, 7].map { ids[$0] })
                for user in users {
                    let notes = user.members("notes").compactMap { $0.string("text") }
                    #expect(notes == ["n\(user.int("age") ?? -1)"])
                }
                #expect(
                    storeError { _ = try stack.context().existingObject(with: ids[3]) }?.code
                        == .objectNotFound)
            }
        }
        try disk.with(new) { stack in
            let context = stack.context(.mergeByPropertyObjectTrump)
            context.make("User", ["uniqueId": "a", "age": 40])
            try context.save()
            #expect(try context.count("User") == 5)
            #expect(
                storeError { try stack.store { [$0.make("User", ["uniqueId": "a"])] } }?.code
                    == .constraintConflict)
        }
        #expect(storeError { try disk.with(old) { _ in } }?.code == .incompatibleModel)
    }

    // MARK: What stores keep besides

    @Test("A store with a history, past states and values of a program goes on with them")
    func besides() throws {
        var disk = Disk()
        disk.options.persistentHistoryTracking = true
        disk.options.pastStates = .all
        let old = UsersWithDuplicates.model(unique: false)
        let new = UsersWithDuplicates.model(unique: true)
        let ids = try disk.with(old) { stack in
            let store = try #require(stack.store as? LogStore)
            try store.setMetadata(["purpose": .string("test")])
            return try stack.store { context in
                (0..<5).map { (number: Int) in
                    let id = "u" + String(number)
                    return context.make("User", ["uniqueId": id, "age": number])
                }
            }
        }
        try disk.migrate(to: new, Self.draft(old, new))
        try disk.with(new) { stack in
            let store = try #require(stack.store as? LogStore)
            #expect(try store.metadata()["purpose"] == .string("test"))
            let before = try stack.container.fetchHistory(.fetchHistory(after: nil))
            var token: PersistentHistoryToken?
            while let transaction = try before.next() { token = transaction.token }
            try stack.store { context in
                let user = try context.existingObject(with: ids[2])
                user["age"] = 50
                return [user]
            }
            let after = try stack.container.fetchHistory(.fetchHistory(after: token))
            let changed = try #require(try after.next())
            #expect(changed.changes?.map(\.changedObjectID) == [ids[2]])
            #expect(try after.next() == nil)
            #expect(try store.check().findings.isEmpty)
        }
    }

    // MARK: Breaking off

    private struct Refusal: Error {}

    private final class Refuser: EntityMigrationPolicy {
        override func endRelationshipCreation(
            forMapping mapping: EntityMapping, manager: MigrationManager
        ) throws { throw Refusal() }
    }

    /// The files of the store, but for the mark, which opening writes anew.
    private static func files(_ disk: Disk) throws -> [String: Int] {
        var files: [String: Int] = [:]
        for name in disk.names where name != "lock" {
            files[name] = Int(
                try disk.base.open(FilePath("/store/\(name)"), .read).size())
        }
        return files
    }

    @Test(
        "A migration that throws half-way, or is cancelled, leaves the store as it was, and nothing beside (B167)"
    )
    func breakingOff() throws {
        let disk = Disk()
        let before = try disk.with(Models.people) { stack in
            try Self.fill(stack, 600, seed: 5)
            return try Content(stack, keys: PeopleAtRandom.keys)
        }
        var new = Models.people
        new.entities[0].versionHashModifier = "2"
        var mapping = try Self.draft(Models.people, new)
        let progress = MappingProgress { if $0.fractionCompleted > 0.4 { $0.cancel() } }
        let cancelled = storeError { try disk.migrate(to: new, mapping, progress: progress) }
        #expect(cancelled?.code == .migrationCancelled)
        mapping["PersonToPerson"]?.entityMigrationPolicy = Refuser.self
        let thrown = storeError { try disk.migrate(to: new, mapping) }
        #expect(thrown?.code == .migrationPolicy && thrown?.cause is Refusal)
        #expect(!disk.names.contains("migration"))
        try disk.with(Models.people) { stack in
            let after = try Content(stack, keys: PeopleAtRandom.keys)
            #expect(after == before)
        }
    }

    @Test("Nobody opens the store meanwhile, and a store that is open is not migrated")
    func inUse() throws {
        var disk = Disk()
        disk.options.timeout = 0
        let store = try disk.open(Models.shop)
        let mapping = try Self.draft(Models.shop, Models.shop)
        #expect(storeError { try disk.migrate(to: Models.shop, mapping) }?.code == .storeInUse)
        try store.close()
        let migration = try LogStore.beginMigration(
            at: "/store", to: try Schema(Models.shop), options: disk.options)
        #expect(storeError { _ = try disk.open(Models.shop) }?.code == .storeInUse)
        migration.cancel()
        try disk.with(Models.shop) { _ in }
    }

    @Test("It is refused before it begins if the disk has less room than for what is there, twice")
    func space() throws {
        var disk = Disk()
        let full = FaultInjectingFileSystem(over: disk.base)
        disk.options.fileSystem = full
        try disk.with(Models.shop) { _ = try $0.products(500) }
        let mapping = try Self.draft(Models.shop, Models.shop)
        full.say(availableBytes: 100)
        let names = disk.names
        #expect(storeError { try disk.migrate(to: Models.shop, mapping) }?.code == .noSpace)
        #expect(disk.names == names)
        // It may become full while objects are made.
        full.say(availableBytes: 1 << 30)
        let migration = try LogStore.beginMigration(
            at: "/store", to: try Schema(Models.shop), options: disk.options)
        full.say(availableBytes: 100)
        let error = storeError {
            try MigrationManager(migration, mapping: mapping, progress: MappingProgress()).migrate()
        }
        #expect(error?.code == .noSpace)
        #expect(!disk.names.contains("migration"))
        disk.options.checksSpaceBeforeMigration = false
        try disk.migrate(to: Models.shop, mapping)
        let count = try disk.with(Models.shop) { try $0.context().count("Product") }
        #expect(count == 500)
    }

    @Test(
        "What a process that ended has left is removed by the next writer, read past by readers, and goes with the store"
    )
    func leftovers() throws {
        let disk = Disk()
        try disk.with(Models.shop) { _ = try $0.products(3) }
        func leave() throws {
            let migration = try LogStore.beginMigration(
                at: "/store", to: try Schema(Models.shop), options: disk.options)
            _ = try Stack(store: migration.destination).products(3)
            try disk.base.makeDirectory("/kept")
            for name in try disk.base.list("/store/migration") {
                _ = try disk.base.open(FilePath("/kept/\(name)"), .create)
            }
            migration.cancel()
            try disk.base.makeDirectory("/store/migration")
            for name in try disk.base.list("/kept") {
                _ = try disk.base.open(FilePath("/store/migration/\(name)"), .create)
                try disk.base.unlink(FilePath("/kept/\(name)"))
            }
            try disk.base.removeDirectory("/kept")
            #expect(disk.names.contains("migration"))
        }
        try leave()
        try disk.with(Models.shop, isReadOnly: true) { stack in
            let count = try stack.context().count("Product")
            #expect(count == 3)
        }
        #expect(disk.names.contains("migration"))
        let count = try disk.with(Models.shop) { try $0.context().count("Product") }
        #expect(count == 3)
        #expect(!disk.names.contains("migration"))
        try leave()
        try disk.migrate(to: Models.shop, Self.draft(Models.shop, Models.shop))
        #expect(!disk.names.contains("migration"))
        try leave()
        try LogStore.destroy(at: "/store", on: disk.base)
        #expect(try !disk.base.exists("/store"))
    }

    @Test("A crash at any call leaves the old store or the new one, and never a mixture (SC2)")
    func crashes() throws {
        let old = UsersWithDuplicates.model(unique: false)
        var new = UsersWithDuplicates.model(unique: true)
        new.entities[1].attributes[0].name = "words"
        new.entities[1].attributes[0].renamingIdentifier = "text"
        func mapping() throws -> MappingModel {
            var mapping = try Self.draft(old, new)
            mapping["UserToUser"]?.entityMigrationPolicy = UsersWithDuplicates.KeepFirst.self
            return mapping
        }
        var random = RandomSource()
        let step = Campaign.step(4)
        var mutation = Int.random(in: 1...step, using: &random)
        var (olds, news) = (0, 0)
        while true {
            let base = MemoryFileSystem()
            try Disk(base).with(old) { stack in
                try stack.store { context in
                    (0..<40).map { number in
                        let user = context.make(
                            "User", ["uniqueId": "u\(number / 2)", "age": number])
                        context.make("Note", ["text": "n\(number)", "user": user])
                        return user
                    }
                }
            }
            let faulty = FaultInjectingFileSystem(over: base)
            faulty.crash(atMutation: mutation)
            var disk = Disk(base)
            disk.options.fileSystem = faulty
            let error = storeError { try disk.migrate(to: new, mapping()) }
            if !faulty.hasCrashed {
                #expect(error == nil)
                break
            }
            // A reader, then a writer.
            for isReadOnly in [true, false] {
                let isOld =
                    try LogStore.metadata(
                        forStoreAt: "/store", on: base
                    ).model.entity(named: "Note")?.attributes[0].name == "text"
                try Disk(base).with(isOld ? old : new, isReadOnly: isReadOnly) { stack in
                    let context = stack.context()
                    #expect(try context.count("User") == (isOld ? 40 : 20), "call \(mutation)")
                    for user in try context.all("User") {
                        let texts = user.members("notes").compactMap {
                            $0.string(isOld ? "text" : "words")
                        }
                        #expect(texts == ["n\(user.int("age") ?? -1)"], "call \(mutation)")
                    }
                    #expect(try context.count("Note") == 40)
                    if !isReadOnly {
                        let store = try #require(stack.store as? LogStore)
                        #expect(try store.check().findings.isEmpty)
                        #expect(try !base.list("/store").contains("migration"))
                    }
                }
                if isReadOnly { if isOld { olds += 1 } else { news += 1 } }
            }
            mutation += step
        }
        #expect(olds * step > 10 && (news > 1 || step > 1), "\(olds) old, \(news) new")
    }
}
