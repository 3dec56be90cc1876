// Stores that are saved as others while contexts are at work.

import Cairn
import CairnLog
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("Stores that a coordinator moves")
struct CoordinatedMovingTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Building",
            attributes: [
                .init("name", .string), .init("plan", .binary), .init("floors", .integer64),
            ],
            uniquenessConstraints: [["name"]])
    ])

    private func coordinator() throws -> PersistentStoreCoordinator {
        PersistentStoreCoordinator(try Schema(Self.model))
    }

    private func url(_ path: String) -> URL { URL(fileURLWithPath: path) }

    /// What the store in a folder has, by name.
    private func floors(_ path: String) throws -> [String: Int] {
        let store = try LogStore.open(at: path)
        defer { try? store.close() }
        #expect(try store.check().findings.isEmpty)
        let objects = try ManagedObjectContext(store: store).all("Building")
        return Dictionary(
            uniqueKeysWithValues: objects.map {
                ($0.string("name") ?? "", $0["floors"] as? Int ?? 0)
            })
    }

    @Test("A draft in memory goes on in a folder, with the edits and ids that contexts have")
    func draft() throws {
        try withTemporaryDirectory { directory in
            let coordinator = try coordinator()
            let draft = try coordinator.addPersistentStore(.init(inMemoryFor: nil))
            let other = try coordinator.addPersistentStore(.init(inMemoryFor: nil))
            let context = ManagedObjectContext(store: coordinator)
            let first = try context.make("Building", in: draft, ["name": "A", "floors": 1])
            let second = try context.make("Building", in: other, ["name": "B", "floors": 2])
            try context.save()
            try coordinator.setMetadata(["token": .string("t")], for: draft)
            first["floors"] = 10
            let new = try context.make("Building", in: draft, ["name": "C", "floors": 3])
            let numbered = try context.make("Building", in: draft, ["name": "D", "floors": 4])
            try context.obtainPermanentIDs(for: [numbered])
            let path = directory.path("shop")
            let shop = try coordinator.migratePersistentStore(draft, to: url(path))
            #expect(coordinator.persistentStores.map { $0 === shop } == [true, false])
            #expect(coordinator.url(for: shop)?.path == path && !shop.isReadOnly)
            #expect(shop.identity.identifier == draft.identity.identifier)
            #expect(storeError { _ = try draft.snapshot() }?.code == .unusable)
            #expect(try context.count("Building") == 4)
            #expect(first["floors"] as? Int == 10 && first.hasChanges && new.isInserted)
            #expect(try coordinator.metadata(for: shop)["token"] == .string("t"))
            try context.save()
            #expect(new.objectID.store == shop.identity.identifier && second["floors"] as? Int == 2)
            // Numbers that were given are not given once more.
            let more = try (0..<3).map {
                try context.make("Building", in: shop, ["name": "E\($0)", "floors": 5])
            }
            try context.save()
            #expect(Set((more + [first, new, numbered]).map(\.objectID)).count == 6)
            try coordinator.close()
            #expect(
                try floors(path) == ["A": 10, "C": 3, "D": 4, "E0": 5, "E1": 5, "E2": 5])
            #expect(
                try PersistentContainer.metadata(forPersistentStoreAt: path)["token"]
                    == .string("t"))
        }
    }

    @Test("The folder before stays as it was; it is told which store is gone and which is there")
    func told() throws {
        try withTemporaryDirectory { directory in
            let coordinator = try coordinator()
            let (old, new) = (directory.path("old"), directory.path("new"))
            let store = try coordinator.addPersistentStore(.init(at: old))
            let context = ManagedObjectContext(store: coordinator)
            let building = context.make("Building", ["name": "A", "floors": 1])
            try context.save()
            let seen = Mutex<[String]>([])
            let names = [
                ("will", PersistentStoreCoordinator.storesWillChangeNotification),
                ("remove", PersistentStoreCoordinator.willRemoveStoreNotification),
                ("did", PersistentStoreCoordinator.storesDidChangeNotification),
            ]
            nonisolated(unsafe) let observed = context
            nonisolated(unsafe) let object = building
            // Posted by this thread alone.
            let tokens = names.map { text, name in
                NotificationCenter.default.addObserver(
                    forName: name, object: coordinator, queue: nil
                ) { notification in
                    let (added, removed, changed) = (
                        notification.persistentStores(.addedPersistentStores).count,
                        notification.persistentStores(.removedPersistentStores).count,
                        notification.persistentStores(.uuidChangedPersistentStores).count
                    )
                    seen.withLock { $0.append("\(text) \(added) \(removed) \(changed)") }
                    // There is time to save what is to be in the copy.
                    guard text == "will" else { return }
                    object["floors"] = 2
                    try? observed.save()
                }
            }
            defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
            let moved = try coordinator.migratePersistentStore(store, to: url(new))
            #expect(seen.withLock { $0 } == ["will 0 1 0", "remove 0 1 0", "did 1 1 0"])
            #expect(!context.hasChanges && building["floors"] as? Int == 2)
            building["floors"] = 3
            try context.save()
            #expect(coordinator.persistentStore(for: url(new)) === moved)
            #expect(coordinator.persistentStore(for: url(old)) == nil)
            // A second time, from the folder that it is in now, under another identifier.
            seen.withLock { $0 = [] }
            let third = try coordinator.migratePersistentStore(
                moved, to: url(directory.path("third")), identifier: UUID())
            #expect(seen.withLock { $0 } == ["will 0 1 0", "remove 0 1 0", "did 1 1 2"])
            #expect(third.identity.identifier != moved.identity.identifier)
            #expect(try context.count("Building") == 1)
            #expect(building.isDeleted)
            let id = try #require(third.identity.id(movedFrom: building.objectID))
            #expect(try context.existingObject(with: id)["floors"] as? Int == 2)
            try coordinator.close()
            #expect(try floors(old) == ["A": 2])
            #expect(try floors(new) == ["A": 2])
            try PersistentContainer.destroyPersistentStore(at: old)
            #expect(try floors(directory.path("third")) == ["A": 2])
        }
    }

    @Test("A move that is refused leaves the store, the contexts and the folder as they were")
    func refused() throws {
        try withTemporaryDirectory { directory in
            let coordinator = try coordinator()
            let path = directory.path("store")
            let store = try coordinator.addPersistentStore(.init(at: path))
            let other = try coordinator.addPersistentStore(.init(inMemoryFor: nil))
            let dictionary = try Backend.dictionary.makeStore(coordinator.schema)
            try coordinator.add(dictionary)
            let context = ManagedObjectContext(store: coordinator)
            let building = try context.make("Building", in: store, ["name": "A", "floors": 1])
            try context.save()
            let free = directory.path("free")
            func refusal(
                _ store: any PersistentStore, _ path: String, _ identifier: UUID? = nil,
                options: LogStoreOptions? = nil
            ) -> StoreError? {
                storeError {
                    try coordinator.migratePersistentStore(
                        store, to: url(path), identifier: identifier, options: options)
                }
            }
            #expect(refusal(store, path)?.code == .invalidRequest)
            #expect(refusal(store, path + "/inside")?.code == .invalidRequest)
            #expect(refusal(dictionary, free)?.code == .invalidRequest)
            let stranger = try LogStore.inMemory(schema: coordinator.schema)
            #expect(refusal(stranger, free)?.code == .invalidRequest)
            // The identifier of another store.
            #expect(refusal(store, free, other.identity.identifier)?.code == .invalidRequest)
            #expect(!FileManager.default.fileExists(atPath: free))
            // It is copied, and then not opened.
            var options = LogStoreOptions()
            options.recoveryProgress = { _ in false }
            #expect(refusal(store, free, options: options)?.code == .cancelled)
            #expect(!FileManager.default.fileExists(atPath: free))
            #expect(
                coordinator.persistentStores.map { $0.identity.identifier }
                    == [store, other, dictionary].map {
                        ($0 as any PersistentStore).identity.identifier
                    })
            building["floors"] = 2
            try context.save()
            #expect(!context.hasChanges)
            try coordinator.close()
            #expect(try floors(path) == ["A": 2])
        }
    }

    @Test("No save is lost while stores are moved, and none goes to the folder before")
    func concurrent() async throws {
        let directory = try TemporaryDirectory()
        let coordinator = try coordinator()
        var store = try coordinator.addPersistentStore(.init(inMemoryFor: nil))
        let container = PersistentContainer(store: coordinator)
        let rounds = 6
        let saved = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<3 {
                group.addTask {
                    try await container.performBackgroundTask { context in
                        for number in 0..<60 {
                            context.make("Building", ["name": "\(task)-\(number)", "floors": 1])
                            try context.save()
                            if number % 20 == 19 {
                                #expect(try context.count("Building") >= number + 1)
                            }
                        }
                        return 60
                    }
                }
            }
            for round in 0..<rounds {
                var options = LogStoreOptions()
                options.durability = .relaxed
                store = try coordinator.migratePersistentStore(
                    store, to: url(directory.path("\(round)")), options: options)
                await Task.yield()
            }
            return try await group.reduce(0, +)
        }
        #expect(saved == 180)
        let count = try await container.performBackgroundTask { try $0.count("Building") }
        #expect(count == 180)
        let last = directory.path("\(rounds - 1)")
        #expect(coordinator.url(for: store)?.path == last)
        try coordinator.close()
        #expect(try floors(last).count == 180)
        // What came later is in none before.
        var counts: [Int] = []
        for round in 0..<rounds { counts.append(try floors(directory.path("\(round)")).count) }
        #expect(counts == counts.sorted())
    }
}
