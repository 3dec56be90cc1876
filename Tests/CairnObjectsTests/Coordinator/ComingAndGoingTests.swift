// Stores that are added, removed and replaced while somebody watches.

import Cairn
import CairnLog
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("Stores that come and go")
struct ComingAndGoingTests {
    /// What a coordinator posts, as the name's last part and the stores that it carries.
    private final class Recorder: Sendable {
        struct Entry: Equatable {
            var name: String
            var added: [UUID] = []
            var removed: [UUID] = []
            var changed: [UUID] = []
            /// How many stores the coordinator had then.
            var count: Int
        }

        private let kept = Mutex<[Entry]>([])
        private nonisolated(unsafe) var tokens: [any NSObjectProtocol] = []
        // Written in init and read in deinit.

        init(_ coordinator: PersistentStoreCoordinator) {
            let names = [
                ("will", PersistentStoreCoordinator.storesWillChangeNotification),
                ("remove", PersistentStoreCoordinator.willRemoveStoreNotification),
                ("did", PersistentStoreCoordinator.storesDidChangeNotification),
            ]
            for (text, name) in names {
                tokens.append(
                    NotificationCenter.default.addObserver(
                        forName: name, object: coordinator, queue: nil
                    ) { [weak self] notification in
                        func ids(_ key: PersistentStoreCoordinator.NotificationKey) -> [UUID] {
                            notification.persistentStores(key).map(\.identity.identifier)
                        }
                        let sender = notification.object as? PersistentStoreCoordinator
                        let entry = Entry(
                            name: text, added: ids(.addedPersistentStores),
                            removed: ids(.removedPersistentStores),
                            changed: ids(.uuidChangedPersistentStores),
                            count: sender?.persistentStores.count ?? -1)
                        self?.kept.withLock { $0.append(entry) }
                    })
            }
        }

        deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

        func take() -> [Entry] {
            kept.withLock { kept in
                defer { kept = [] }
                return kept
            }
        }
    }

    @Test(
        "Notifications and the sequence tell of stores before and after they change",
        arguments: Backend.allCases)
    func telling(_ backend: Backend) async throws {
        let coordinator = try PersistentStoreCoordinator(Models.shop)
        let changes = coordinator.storeChanges
        let recorder = Recorder(coordinator)
        let stores = try (0..<3).map { _ in try backend.makeStore(coordinator.schema) }
        let ids = stores.map(\.identity.identifier)
        try coordinator.add(stores[0])
        #expect(
            recorder.take() == [
                .init(name: "will", added: [ids[0]], count: 0),
                .init(name: "did", added: [ids[0]], count: 1),
            ])
        // What is refused nobody is told of.
        #expect(storeError { try coordinator.add(stores[0]) }?.affectedStores == [ids[0]])
        #expect(storeError { try coordinator.remove(stores[1]) }?.code == .invalidRequest)
        #expect(
            storeError { try coordinator.replace(stores[1], with: stores[2]) }?.code
                == .invalidRequest)
        #expect(recorder.take() == [])
        try coordinator.add(stores[1])
        _ = recorder.take()
        #expect(
            storeError { try coordinator.replace(stores[0], with: stores[1]) }?.code
                == .invalidRequest, "it is there already")
        try coordinator.replace(stores[0], with: stores[2], closes: false)
        #expect(coordinator.persistentStores.map(\.identity.identifier) == [ids[2], ids[1]])
        let replaced = Recorder.Entry(
            name: "", added: [ids[2]], removed: [ids[0]], changed: [ids[0], ids[2]], count: 2)
        #expect(
            recorder.take()
                == ["will", "remove", "did"].map { name in
                    var entry = replaced
                    entry.name = name
                    return entry
                })
        try coordinator.remove(stores[1])
        #expect(
            recorder.take() == [
                .init(name: "will", removed: [ids[1]], count: 2),
                .init(name: "remove", removed: [ids[1]], count: 2),
                .init(name: "did", removed: [ids[1]], count: 1),
            ])
        var told = changes.inTime().makeAsyncIterator()
        var seen: [[UUID]] = []
        for number in 1...4 {
            let change = try #require(await told.next(isolation: #isolation))
            #expect(change.number == number)
            seen += [
                change.added.map(\.identity.identifier), change.removed.map(\.identity.identifier),
            ]
        }
        #expect(seen == [[ids[0]], [], [ids[1]], [], [ids[2]], [ids[0]], [], [ids[1]]])
    }

    @Test(
        "A context that is saved before its store goes loses nothing", arguments: Backend.allCases)
    func savingBefore(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        // The observer works where the context does: the stores change in this thread.
        nonisolated(unsafe) let context = stores.context()
        try context.make("Tag", in: stores.second, ["label": "late"])
        let token = NotificationCenter.default.addObserver(
            forName: PersistentStoreCoordinator.storesWillChangeNotification,
            object: stores.coordinator, queue: nil
        ) { _ in try? context.save() }
        defer { NotificationCenter.default.removeObserver(token) }
        try stores.coordinator.remove(stores.second, closes: false)
        #expect(!context.hasChanges)
        #expect(try stores.counts("Tag") == [0, 1])
        #expect(try context.count("Tag") == 0)
    }

    @Test(
        "Objects of a store in the place of another are gone, and edits of others stay",
        arguments: Backend.allCases)
    func replacing(_ backend: Backend) throws {
        let stores = try TwoStores(Models.divided, backend, ["Goods", "Kitchen"])
        let context = stores.context()
        let shop = context.make("Shop", ["name": "old"])
        let recipe = context.make("Recipe", ["title": "soup"])
        try context.save()
        shop["name"] = "mine"
        recipe["title"] = "mine"
        let other = try backend.makeStore(stores.coordinator.schema)
        let theirs = ManagedObjectContext(store: other)
        theirs.make("Recipe", ["title": "stew"])
        theirs.make("Shop", ["name": "not asked"])
        try theirs.save()
        try stores.coordinator.replace(stores.second, with: other, closes: false)
        #expect(stores.coordinator.configuration(of: other) == "Kitchen")
        #expect(try context.all("Recipe").map { $0.string("title") } == ["stew"])
        #expect(recipe.isDeleted && context.updatedObjects == [shop])
        #expect(try context.count("Shop") == 1, "the store is for the kitchen")
        let new = context.make("Recipe", ["title": "new"])
        try context.save()
        #expect(new.objectID.store == other.identity.identifier)
        // The first one comes back.
        try stores.coordinator.replace(other, with: stores.second, closes: false)
        #expect(try context.all("Recipe") == [recipe] && recipe.string("title") == "soup")
        #expect(!recipe.isDeleted && new.isDeleted)
    }

    @Test("A store goes on in a copy of its folder, and what is edited stays on top of it")
    func urls() throws {
        try withTemporaryDirectory { directory in
            var goods = PersistentStoreDescription(
                at: directory.path("goods"), configuration: "Goods")
            goods.options.durability = .relaxed
            let container = try PersistentContainer(
                model: Models.divided,
                stores: [goods, PersistentStoreDescription(inMemoryFor: "Kitchen")])
            let coordinator = try #require(container.persistentStoreCoordinator)
            let store = try #require(coordinator.persistentStores.first as? LogStore)
            #expect(coordinator.url(for: store)?.path == directory.path("goods"))
            #expect(coordinator.url(for: coordinator.persistentStores[1]) == nil)
            #expect(coordinator.persistentStore(for: directory.url("goods")) === store)
            #expect(coordinator.persistentStore(for: directory.url("elsewhere")) == nil)
            let context = ManagedObjectContext(store: coordinator)
            let shops = ["a", "b", "c"].map { context.make("Shop", ["name": $0]) }
            let product = context.make("Product", ["serialCode": "A", "shop": shops[0]])
            let recipe = context.make("Recipe", ["title": "soup"])
            try context.save()
            _ = try store.backup(to: directory.path("copy"))
            // The copy is written to by itself, and the original goes another way.
            let copy = try PersistentContainer(
                at: directory.path("copy"), model: Models.divided)
            let theirs = ManagedObjectContext(store: copy.store)
            theirs.object(with: shops[0].objectID)["name"] = "a of the copy"
            theirs.object(with: product.objectID)["shop"] = theirs.object(with: shops[1].objectID)
            theirs.delete(theirs.object(with: shops[2].objectID))
            try theirs.save()
            try copy.store.close()
            shops[0]["name"] = "a of the original"
            try context.save()
            #expect(shops[0].members("products") == [product])
            product["note"] = "mine"
            recipe["title"] = "stew"

            let recorder = Recorder(coordinator)
            let moved = try coordinator.setURL(directory.url("copy"), for: store)
            let id = moved.identity.identifier
            #expect(
                recorder.take().last
                    == .init(name: "did", added: [id], removed: [id], count: 2))
            #expect(coordinator.persistentStore(for: directory.url("copy")) === moved)
            #expect(coordinator.persistentStore(for: product.objectID) === moved)
            #expect(try context.all("Shop", sortedBy: "name") == Array(shops[..<2]))
            #expect(shops[0].string("name") == "a of the copy")
            #expect(shops[2].string("name") == nil && shops[2].isDeleted)
            #expect(product.object("shop") === shops[1] && product.string("note") == "mine")
            #expect(
                shops[0].members("products").isEmpty && shops[1].members("products") == [product])
            #expect(recipe.string("title") == "stew", "its store is the same")
            try context.save()
            #expect(storeError { _ = try store.snapshot() }?.code == .unusable)
            try coordinator.close()
            func note(_ name: String) throws -> String? {
                let container = try PersistentContainer(
                    at: directory.path(name), model: Models.divided)
                defer { try? container.store.close() }
                return ManagedObjectContext(store: container.store)
                    .object(with: product.objectID).string("note")
            }
            #expect(try note("copy") == "mine")
            #expect(try note("goods") == nil)
        }
    }

    @Test("What no store can go on with is refused, and the store stays what it is")
    func refusedURLs() throws {
        try withTemporaryDirectory { directory in
            let container = try PersistentContainer(
                model: Models.shop,
                stores: [
                    PersistentStoreDescription(at: directory.path("a")),
                    PersistentStoreDescription(at: directory.path("b")),
                    PersistentStoreDescription(inMemoryFor: nil),
                ])
            let coordinator = try #require(container.persistentStoreCoordinator)
            let stores = coordinator.persistentStores
            func code(_ name: String, _ store: any PersistentStore) -> StoreError.Code? {
                storeError { try coordinator.setURL(directory.url(name), for: store) }?.code
            }
            #expect(code("missing", stores[0]) == .openFailed)
            #expect(!FileManager.default.fileExists(atPath: directory.path("missing")))
            #expect(code("b", stores[0]) == .invalidRequest, "another one has it")
            #expect(code("a", stores[2]) == .invalidRequest, "it is in memory")
            #expect(
                code("a", try LogStore.inMemory(schema: coordinator.schema)) == .invalidRequest)
            // Where it is already nothing happens.
            #expect(code("a", stores[0]) == nil)
            try FileManager.default.createSymbolicLink(
                atPath: directory.path("link"), withDestinationPath: directory.path("a"))
            #expect(code("link", stores[0]) == nil)
            #expect(zip(coordinator.persistentStores, stores).allSatisfy { $0 === $1 })
            // A folder that was moved while the store was open is no other one.
            try FileManager.default.moveItem(
                atPath: directory.path("a"), toPath: directory.path("c"))
            #expect(code("c", stores[0]) == .invalidRequest)
            try FileManager.default.moveItem(
                atPath: directory.path("c"), toPath: directory.path("a"))
            let context = ManagedObjectContext(store: coordinator)
            for store in stores { try context.make("Tag", in: store) }
            try context.save()
            #expect(try context.count("Tag") == 3)
            try coordinator.close()
        }
    }
}
