// Containers over several stores on the disk and in memory.

import Cairn
import CairnTestSupport
import FoundationEssentials
import Testing

@Suite("Containers of several stores")
struct CoordinatedContainerTests {
    private func description(
        _ directory: TemporaryDirectory, _ name: String, _ configuration: String? = nil,
        isReadOnly: Bool = false
    ) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(
            at: directory.path(name), configuration: configuration)
        description.isReadOnly = isReadOnly
        description.options.durability = .relaxed
        return description
    }

    @Test("Stores are opened again in another order, and ids lead to the same objects")
    func reopening() throws {
        try withTemporaryDirectory { directory in
            let container = try PersistentContainer(
                model: Models.divided,
                stores: [
                    description(directory, "goods", "Goods"),
                    description(directory, "kitchen", "Kitchen"),
                ])
            let context = ManagedObjectContext(store: container.store)
            let shop = context.make("Shop", ["name": "corner"])
            let product = context.make("Product", ["serialCode": "A", "shop": shop])
            let recipe = context.make("Recipe", ["title": "soup"])
            try context.save()
            let uris = [shop, product, recipe].map(\.objectID.uriRepresentation)
            try container.store.close()

            let again = try PersistentContainer(
                model: Models.divided,
                stores: [
                    PersistentStoreDescription(inMemoryFor: "Kitchen"),
                    description(directory, "kitchen", "Kitchen", isReadOnly: true),
                    description(directory, "goods", "Goods"),
                ])
            let coordinator = try #require(again.persistentStoreCoordinator)
            let ids = uris.compactMap { coordinator.managedObjectID(forURIRepresentation: $0) }
            #expect(ids.count == 3)
            let other = ManagedObjectContext(store: again.store)
            #expect(other.object(with: ids[1]).object("shop")?.string("name") == "corner")
            #expect(other.object(with: ids[0]).members("products").map(\.objectID) == [ids[1]])
            other.object(with: ids[2])["title"] = "stew"
            #expect(storeError { try other.save() }?.code == .readOnly)
            other.rollback()
            let draft = other.make("Recipe", ["title": "draft"])
            other.object(with: ids[1])["name"] = "changed"
            try other.save()
            #expect(
                draft.objectID.store == coordinator.persistentStores[0].identity.identifier,
                "in memory, since the other is read-only")
            #expect(
                try other.all("Recipe", sortedBy: "title").map { $0.string("title") } == [
                    "draft", "soup",
                ])
            try again.store.close()

            let goods = try PersistentContainer(
                at: directory.path("goods"), model: Models.divided)
            #expect(
                ManagedObjectContext(store: goods.store).object(with: ids[1]).string("name")
                    == "changed", "also without the coordinator")
        }
    }

    @Test("If one of the stores cannot be opened, none stays open")
    func failing() throws {
        try withTemporaryDirectory { directory in
            let error = storeError {
                _ = try PersistentContainer(
                    model: Models.divided,
                    stores: [
                        description(directory, "goods", "Goods"),
                        description(directory, "missing", "Kitchen", isReadOnly: true),
                    ])
            }
            #expect(error?.code == .openFailed)
            try PersistentContainer.destroyPersistentStore(at: directory.path("goods"))
            let twice = storeError {
                _ = try PersistentContainer(
                    model: Models.divided,
                    stores: [
                        description(directory, "goods", "Goods"),
                        description(directory, "goods", "Kitchen"),
                    ])
            }
            #expect(twice?.code == .invalidRequest)
            try PersistentContainer.destroyPersistentStore(at: directory.path("goods"))
        }
    }

    @Test("Contexts of many tasks save to both stores at once")
    func tasks() async throws {
        let container = try PersistentContainer(
            model: Models.shop, stores: [.init(inMemoryFor: nil), .init(inMemoryFor: nil)])
        let stores = try #require(container.persistentStoreCoordinator?.persistentStores)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<6 {
                group.addTask {
                    try await container.performBackgroundTask { context in
                        for number in 0..<10 {
                            for store in stores {
                                let shop = try context.make("Shop", in: store)
                                let product = try context.make(
                                    "Product", in: store, ["stock": task, "shop": shop])
                                product["price"] = Double(number)
                            }
                            try context.save()
                            #expect(try context.count("Product") >= (number + 1) * 2)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let count = try await container.performBackgroundTask { context in
            try context.all("Product").count { $0.object("shop")?.members("products") == [$0] }
        }
        #expect(count == 120)
    }
}
