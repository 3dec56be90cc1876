// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import Testing

// TheUpgradeThatAddsAConstraint 1 begins
enum AccountsV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentEntity.Type] { [Account.self] }

    @Entity final class Account: ManagedObject {
        var uniqueId: String?
        var name: String = ""
        var lastSeen: Date?
    }
}

enum AccountsV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentEntity.Type] { [Account.self] }

    @Entity final class Account: ManagedObject {
        @Attribute(.unique) var uniqueId: String?
        var name: String = ""
        var lastSeen: Date?
    }
}
// TheUpgradeThatAddsAConstraint 1 ends

// TheUpgradeThatAddsAConstraint 3 begins
final class KeepLastSeen: EntityMigrationPolicy {
    override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
        var request = FetchRequest(entityName: "Account")
        request.sortDescriptors = [SortKey("lastSeen", ascending: false)]
        var known: Set<String> = []
        for account in try manager.sourceContext.fetch(request) {
            guard let id = account["uniqueId"] as? String else { continue }
            if !known.insert(id).inserted { manager.sourceContext.delete(account) }
        }
        try super.begin(mapping, with: manager)
    }
}
// TheUpgradeThatAddsAConstraint 3 ends

@Suite("The upgrade that adds a constraint")
struct TheUpgradeThatAddsAConstraint {
    @Test("Duplicates stand against a new constraint, are told, and go as a policy says")
    func upgrade() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("accounts.cairn")
        let first = try PersistentContainer(at: path, for: AccountsV1.Account.self)
        let context = ManagedObjectContext(store: first.store, classes: first.classes)
        let rows: [(String?, String, Int)] = [
            ("a", "anna", 1), ("b", "bert", 2), ("a", "Anna", 5), (nil, "guest", 3),
            (nil, "guest", 4),
        ]
        for (id, name, day) in rows {
            let account = AccountsV1.Account(context: context)
            account.uniqueId = id
            account.name = name
            account.lastSeen = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
        }
        try context.save()
        try first.store.close()

        var told: [String] = []
        func print(_ text: any Error) { told.append("\(text)") }
        // TheUpgradeThatAddsAConstraint 2 begins
        let (old, new) = (AccountsV1.managedObjectModel, AccountsV2.managedObjectModel)
        do {
            try LogStore.migrate(at: path, to: Schema(new))
        } catch let error as StoreError where error.code == .migrationConstraintViolation {
            print(error)  // which entity and attributes, how many keys and objects
        }
        // TheUpgradeThatAddsAConstraint 2 ends
        #expect(told.count == 1 && told[0].contains("Account") && told[0].contains("uniqueId"))
        // The store is as it was.
        try PersistentContainer(at: path, for: AccountsV1.Account.self).store.close()

        // TheUpgradeThatAddsAConstraint 4 begins
        var mapping = try MappingModel.inferredMappingModel(
            forSourceModel: old, destinationModel: new)
        mapping["AccountToAccount"]?.entityMigrationPolicy = KeepLastSeen.self
        try PersistentContainer.migrateStore(at: path, to: new, mapping: mapping)

        let container = try PersistentContainer(at: path, for: AccountsV2.Account.self)
        // TheUpgradeThatAddsAConstraint 4 ends
        let after = ManagedObjectContext(store: container.store, classes: container.classes)
        let accounts = try after.fetch(
            FetchRequest<AccountsV2.Account>(sortBy: [SortKey("lastSeen")]))
        #expect(accounts.map(\.name) == ["bert", "guest", "guest", "Anna"])
        try container.store.close()
    }

    @Test("A mapping model of Xcode says the same as the one that is inferred")
    func drawn() throws {
        let directory = try TemporaryDirectory()
        let (old, new) = (AccountsV1.managedObjectModel, AccountsV2.managedObjectModel)
        let text = MappingText([
            .init(
                from: "Account", to: "Account",
                [.attribute("uniqueId"), .attribute("name"), .attribute("lastSeen")],
                ["migrationpolicyclassname": "Accounts.KeepLastSeen"])
        ])
        let file = directory.path("xcmapping.xml")
        try Data(text.xml.utf8).write(to: URL(filePath: file))
        // TheUpgradeThatAddsAConstraint 5 begins
        let drawn = try MappingModel(
            contentsOfFile: file, forSourceModel: old, destinationModel: new,
            policies: ["KeepLastSeen": KeepLastSeen.self])
        // TheUpgradeThatAddsAConstraint 5 ends
        let path = directory.path("accounts.cairn")
        let first = try PersistentContainer(at: path, for: AccountsV1.Account.self)
        let context = ManagedObjectContext(store: first.store, classes: first.classes)
        for name in ["anna", "Anna"] {
            let account = AccountsV1.Account(context: context)
            account.uniqueId = "a"
            account.name = name
            account.lastSeen = Date(timeIntervalSinceReferenceDate: name == "Anna" ? 5 : 1)
        }
        try context.save()
        try first.store.close()
        try PersistentContainer.migrateStore(at: path, to: new, mapping: drawn)
        let container = try PersistentContainer(at: path, for: AccountsV2.Account.self)
        let after = ManagedObjectContext(store: container.store, classes: container.classes)
        #expect(try after.fetch(FetchRequest<AccountsV2.Account>()).map(\.name) == ["Anna"])
        try container.store.close()
    }

    // TheUpgradeThatAddsAConstraint 6 begins
    enum AccountsPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [AccountsV1.self, AccountsV2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: AccountsV1.self, toVersion: AccountsV2.self,
                    willMigrate: { context in
                        let all = FetchRequest<AccountsV1.Account>(
                            sortBy: [SortKey("lastSeen", ascending: false)])
                        var known: Set<String> = []
                        for account in try context.fetch(all) {
                            guard let id = account.uniqueId else { continue }
                            if !known.insert(id).inserted { context.delete(account) }
                        }
                        try context.save()
                    }, didMigrate: nil)
            ]
        }
    }
    // TheUpgradeThatAddsAConstraint 6 ends

    @Test("The same as a stage of a plan, with the classes of the version before")
    func plan() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("accounts.cairn")
        let first = try PersistentContainer(at: path, for: AccountsV1.Account.self)
        let context = ManagedObjectContext(store: first.store, classes: first.classes)
        for name in ["x", "y"] {
            let account = AccountsV1.Account(context: context)
            account.uniqueId = "a"
            account.name = name
        }
        try context.save()
        try first.store.close()

        // TheUpgradeThatAddsAConstraint 7 begins
        let container = try PersistentContainer(at: path, migrationPlan: AccountsPlan.self)
        // TheUpgradeThatAddsAConstraint 7 ends
        let after = ManagedObjectContext(store: container.store, classes: container.classes)
        #expect(try after.count(for: FetchRequest<AccountsV2.Account>()) == 1)
        try container.store.close()
    }

    @Test(
        "With a declared rule it goes through without code, and two writers of one id leave one row"
    )
    func rule() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("accounts.cairn")
        let first = try PersistentContainer(at: path, for: AccountsV1.Account.self)
        let before = ManagedObjectContext(store: first.store, classes: first.classes)
        var ids: [String: ObjectID] = [:]
        for (id, name, day) in [("a", "anna", 1), ("b", "bert", 2), ("a", "Anna", 5)] {
            let account = AccountsV1.Account(context: before)
            account.uniqueId = id
            account.name = name
            account.lastSeen = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
            try before.save()
            ids[name] = account.objectID
        }
        try first.store.close()

        // TheUpgradeThatAddsAConstraint 8 begins
        var options = LogStoreOptions()
        options.deduplicateWhenMigrating([
            DeduplicationRequest(
                AccountsV2.Account.self, by: [\.uniqueId], keeping: .newest(by: "lastSeen"))
        ])
        let container = try PersistentContainer(
            at: path, for: AccountsV2.Account.self, options: options)
        // TheUpgradeThatAddsAConstraint 8 ends
        let after = ManagedObjectContext(store: container.store, classes: container.classes)
        let all = FetchRequest<AccountsV2.Account>(sortBy: [SortKey("lastSeen")])
        #expect(try after.fetch(all).map(\.name) == ["bert", "Anna"])
        let old = try #require(ids["anna"])
        #expect(try after.existingObject(with: old)["name"] as? String == "Anna")

        let meeting = Meeting(of: 2)
        // TheUpgradeThatAddsAConstraint 9 begins
        try await withThrowingTaskGroup(of: Void.self) { writers in
            for device in ["phone", "tablet"] {
                writers.addTask {
                    try await container.performBackgroundTask { context in
                        context.mergePolicy = .mergeByPropertyObjectTrump
                        let account = AccountsV2.Account(context: context)
                        account.uniqueId = "c"
                        account.name = device
                        // TheUpgradeThatAddsAConstraint 9 pauses
                        await meeting.arrive()
                        // TheUpgradeThatAddsAConstraint 9 goes on
                        try context.save()
                    }
                }
            }
            try await writers.waitForAll()
        }
        let same = try FetchRequest<AccountsV2.Account>(where: "uniqueId == %@", "c")
        print(try after.count(for: same))  // 1
        // TheUpgradeThatAddsAConstraint 9 ends
        #expect(try after.count(for: same) == 1)
        let name = try #require(try after.fetch(same).first).name
        #expect(["phone", "tablet"].contains(name))
        try container.store.close()
    }
}

/// Lets nobody on until all have come.
private actor Meeting {
    private let count: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(of count: Int) { self.count = count }

    func arrive() async {
        if waiting.count + 1 < count {
            await inTime(for: "the others to come") {
                await withCheckedContinuation { waiting.append($0) }
            }
        } else {
            for one in waiting { one.resume() }
            waiting = []
        }
    }
}
