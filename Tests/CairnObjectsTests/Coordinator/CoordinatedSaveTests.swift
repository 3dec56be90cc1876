// Saves that more than one store takes part in.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Saves to several stores")
struct CoordinatedSaveTests {
    /// A context that has read a product of each store, after which somebody has changed one of them.
    private struct Race {
        let stores: TwoStores
        let context: ManagedObjectContext
        /// By store.
        let products: [ManagedObject]

        init(_ backend: Backend, changed index: Int, _ policy: MergePolicy = .error) throws {
            stores = try TwoStores(backend)
            let first = stores.context()
            for (index, store) in stores.stores.enumerated() {
                try first.make(
                    "Product", in: store, ["serialCode": "\(index)", "name": "old"])
            }
            try first.save()
            context = stores.context(policy)
            products = try context.all("Product", sortedBy: "serialCode")
            for product in products { try product.fulfill() }
            let other = stores.context()
            other.object(with: products[index].objectID)["name"] = "theirs"
            try other.save()
            for product in products { product["name"] = "mine" }
        }

        func names() throws -> [String?] {
            try stores.context().all("Product", sortedBy: "serialCode").map { $0.string("name") }
        }
    }

    private final class Yielding: MergePolicy {
        override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
            for conflict in list { conflict.sourceObject["note"] = "resolved" }
            try super.resolve(optimisticLockingConflicts: list)
        }
    }

    @Test(
        "A policy of one's own is asked about the store that reports conflicts",
        arguments: Backend.allCases, [0, 1])
    func policies(_ backend: Backend, _ index: Int) throws {
        let race = try Race(
            backend, changed: index, Yielding(merge: .mergeByPropertyObjectTrump))
        try race.context.save()
        #expect(!race.context.hasChanges)
        let products = try race.stores.context().all("Product", sortedBy: "serialCode")
        #expect(products.map { $0.string("name") } == ["mine", "mine"])
        #expect(products.map { $0.string("note") == "resolved" } == [index == 0, index == 1])
    }

    @Test(
        "A built-in policy resolves conflicts of references in the second store",
        arguments: Backend.allCases)
    func references(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let first = stores.context()
        let shops = try ["a", "b", "c"].map {
            try first.make("Shop", in: stores.second, ["name": $0])
        }
        let product = try first.make(
            "Product", in: stores.second, ["serialCode": "A", "shop": shops[0]])
        try first.save()
        let context = stores.context(.mergeByPropertyStoreTrump)
        let mine = context.object(with: product.objectID)
        #expect(mine.object("shop")?.objectID == shops[0].objectID)
        product["shop"] = shops[1]
        try first.save()
        mine["shop"] = context.object(with: shops[2].objectID)
        mine["name"] = "mine"
        let same = context.make("Shop", ["name": "a"])
        let twin = try context.make("Shop", in: stores.second, ["name": "a"])
        try context.save()
        #expect(mine.object("shop")?.objectID == shops[1].objectID)
        #expect(mine.string("name") == "mine")
        #expect(same.objectID.store == stores.first.identity.identifier)
        #expect(twin.absorbedInto == shops[0].objectID, "a key is unique within a store")
        #expect(try stores.counts("Shop") == [1, 3])
    }

    @Test("A save to two stores is one for those who listen", arguments: Backend.allCases)
    func listeners(_ backend: Backend) async throws {
        let stores = try TwoStores(backend)
        let saves = stores.container.saves
        let second = stores.second
        let ids = try await stores.container.performBackgroundTask { context in
            let objects = try [
                context.make("Product"), context.make("Product", in: second),
            ]
            try context.save()
            return Set(objects.map(\.objectID))
        }
        for await save in saves.inTime() {
            #expect(save.insertedObjectIDs == ids && ids.count == 2)
            break
        }
    }

    @Test("Edits of objects of both stores are undone together", arguments: Backend.allCases)
    func undo(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        context.undoHistory = UndoHistory()
        let shop = try context.make("Shop", in: stores.second, ["name": "far"])
        let far = try context.make("Product", in: stores.second, ["name": "far", "shop": shop])
        let near = context.make("Product", ["name": "near"])
        try context.save()
        far["name"] = "x"
        far["shop"] = nil
        near["name"] = "y"
        context.processPendingChanges()
        context.undo()
        #expect(far.string("name") == "far" && near.string("name") == "near")
        #expect(far.object("shop") === shop)
        context.redo()
        #expect(far.string("name") == "x" && far.object("shop") == nil)
        try context.save()
        #expect(
            try stores.context().all("Product", sortedBy: "name").map { $0.string("name") }
                == ["x", "y"])
        context.delete(far)
        try context.save()
        context.undo()
        try context.save()
        #expect(try stores.counts("Product") == [1, 1], "it is made again where it was")
    }

    @Test("A query generation pins the states of all stores", arguments: Backend.allCases)
    func generations(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        let far = try context.make(
            "Product", in: stores.second, ["serialCode": "A", "name": "old"])
        context.make("Product", ["serialCode": "B", "name": "old"])
        try context.save()
        let pinned = stores.context()
        try pinned.setQueryGeneration(from: .current)
        #expect(try pinned.count("Product") == 2)
        far["name"] = "new"
        try context.make("Product", in: stores.second)
        context.make("Product")
        try context.save()
        #expect(try pinned.count("Product") == 2)
        let held = pinned.object(with: far.objectID)
        #expect(held.string("name") == "old")
        let same = stores.context()
        try same.setQueryGeneration(from: pinned.queryGenerationToken)
        #expect(same.queryGenerationToken == pinned.queryGenerationToken)
        try stores.coordinator.remove(stores.second, closes: false)
        #expect(try pinned.count("Product") == 2, "its state stays readable")
        #expect(!held.isDeleted)
        // What has become of the stores meanwhile is no reason to refuse a save to one that is there.
        let saving = stores.context()
        try saving.setQueryGeneration(from: pinned.queryGenerationToken)
        let near = try #require(saving.find("Product", "serialCode", .string("B")).first)
        near["name"] = "newer"
        try saving.save()
        #expect(try stores.alone(0).find("Product", "name", .string("newer")).count == 1)
        try pinned.setQueryGeneration(from: nil)
        #expect(try pinned.count("Product") == 2, "of the first store, which has one more by now")
        #expect(held.isDeleted)
    }
}
