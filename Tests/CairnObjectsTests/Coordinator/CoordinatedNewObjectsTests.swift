// Many new objects saved at once to the only store of a coordinator, which takes them as columns as if it were alone.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Many new objects for the only store of a coordinator")
struct CoordinatedNewObjectsTests {
    /// A coordinator whose only store counts.
    private struct Bench {
        let store: CountingStore
        let coordinator: PersistentStoreCoordinator
        let context: ManagedObjectContext

        /// - Parameter isCoordinated: whether the context works on the coordinator, and not on the store alone.
        init(_ policy: MergePolicy = .error, isCoordinated: Bool = true) throws {
            coordinator = try PersistentStoreCoordinator(Models.shop)
            store = CountingStore(try Backend.log.makeStore(coordinator.schema))
            try coordinator.add(store)
            context = ManagedObjectContext(store: isCoordinated ? coordinator : store)
            context.mergePolicy = policy
        }

        @discardableResult
        func make(_ range: Range<Int>, _ values: [String: Any?] = [:]) -> [ManagedObject] {
            range.map { number in
                context.make(
                    "Product", ["serialCode": "\(number)"].merging(values) { _, new in new })
            }
        }
    }

    @Test("their ids are the store's, and the context finds them again")
    func names() throws {
        let bench = try Bench()
        let shop = bench.context.make("Shop", ["name": "corner"])
        let products = bench.make(0..<50, ["shop": shop])
        try bench.context.save()
        #expect(bench.store.columnSaves == 1)
        let identifier = bench.store.identity.identifier
        #expect(products.allSatisfy { $0.objectID.store == identifier })
        #expect(products.allSatisfy { bench.context.registeredObject(for: $0.objectID) === $0 })
        let found = try bench.context.find("Product", "serialCode", .string("17"))
        #expect(found == [products[17]])
        #expect(found[0].object("shop") === shop && shop.members("products").count == 50)
        // Edits of what was saved so are compared with its version.
        products[3]["name"] = "edited"
        try bench.context.save()
        let alone = ManagedObjectContext(store: bench.store)
        #expect(try alone.all("Product").map(\.objectID) == products.map(\.objectID))
        #expect(try alone.find("Product", "name", .string("edited")).count == 1)
    }

    @Test("the save tells of the store's commit, and is none to be merged where it was made")
    func told() async throws {
        let bench = try Bench()
        let container = PersistentContainer(store: bench.coordinator)
        let saves = container.saves
        try await container.performBackgroundTask { context in
            context.automaticallyMergesChangesFromParent = true
            let recorder = NotificationRecorder(context)
            for number in 0..<40 { context.make("Product", ["serialCode": "\(number)"]) }
            try context.save()
            _ = recorder.take()
            context.processPendingChanges()
            #expect(recorder.take() == [])
        }
        #expect(bench.store.columnSaves == 1)
        var saved = saves.inTime().makeAsyncIterator()
        let save = try #require(await saved.next(isolation: #isolation))
        let identifier = bench.store.identity.identifier
        #expect(save.commits == [identifier: try bench.store.snapshot().commit])
        #expect(save.insertedObjectIDs.count == 40)
        #expect(save.insertedObjectIDs.allSatisfy { $0.store == identifier })
    }

    @Test(
        "objects with stored keys are merged into the stored ones by columns where the store alone would",
        arguments: 0..<3)
    func merging(_ index: Int) throws {
        let policies: [MergePolicy] = [
            .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite,
        ]
        let policy = policies[index]
        var columnSaves: [Int] = []
        var prices: [[Double?]] = []
        for isCoordinated in [false, true] {
            let bench = try Bench(policy, isCoordinated: isCoordinated)
            let first = bench.make(0..<40, ["price": 1.0])
            try bench.context.save()
            let again = bench.make(20..<60, ["price": 2.0])
            try bench.context.save()
            columnSaves.append(bench.store.columnSaves)
            prices.append((first + again).map { $0["price"] as? Double })
            #expect(try bench.context.count("Product") == 60)
            let other = ManagedObjectContext(store: bench.store)
            prices.append(try other.all("Product").map { $0["price"] as? Double })
        }
        #expect(columnSaves[0] == columnSaves[1])
        #expect(prices[0] == prices[2] && prices[1] == prices[3])
    }

    @Test("a child's new objects get the ids that the parent's save gave them")
    func children() throws {
        let bench = try Bench()
        let child = bench.context.newChildContext()
        let products = (0..<40).map { child.make("Product", ["serialCode": "\($0)"]) }
        try child.save()
        try bench.context.save()
        #expect(bench.store.columnSaves == 1)
        #expect(products.allSatisfy { !$0.objectID.isTemporary })
        #expect(
            try child.all("Product").map(\.objectID)
                == products.map(\.objectID).sorted { $0.reference < $1.reference })
    }

    @Test("a relationship into a store that was removed refuses the save, and loses nothing")
    func removedTarget() throws {
        let bench = try Bench()
        let shop = bench.context.make("Shop", ["name": "away"])
        try bench.context.save()
        let other = CountingStore(try Backend.log.makeStore(bench.coordinator.schema))
        try bench.coordinator.add(other)
        try bench.coordinator.remove(bench.store, closes: false)
        let products = bench.make(0..<40)
        for product in products { product["shop"] = shop }
        let error = try #require(storeError { try bench.context.save() })
        #expect(error.details.map(\.context.key) == Array(repeating: "shop", count: 40))
        #expect(bench.context.insertedObjects.count == 40 && other.columnSaves == 0)
        for product in products { product["shop"] = nil }
        try bench.context.save()
        #expect(other.columnSaves == 1)
    }

    @Test(
        "two stores, a store for some entities, an assigned object and a pinned state go the other way"
    )
    func otherWays() throws {
        let bench = try Bench()
        try bench.context.assign(bench.make(0..<40)[7], to: bench.store)
        try bench.context.save()
        #expect(bench.store.columnSaves == 0 && bench.store.saves == 1)
        try bench.context.setQueryGeneration(from: .current)
        _ = try bench.context.count("Product")
        bench.make(100..<140)
        try bench.context.save()
        #expect(bench.store.columnSaves == 0 && bench.store.saves == 2)
        #expect(try bench.context.count("Product") == 80)
        try bench.context.setQueryGeneration(from: nil)
        let second = try Backend.log.makeStore(bench.coordinator.schema)
        try bench.coordinator.add(second)
        bench.make(200..<240)
        try bench.context.save()
        #expect(bench.store.columnSaves == 0 && bench.store.saves == 3)
        try bench.coordinator.remove(second)
        bench.make(300..<340)
        try bench.context.save()
        #expect(bench.store.columnSaves == 1)
        #expect(try bench.context.count("Product") == 160)
    }
}
