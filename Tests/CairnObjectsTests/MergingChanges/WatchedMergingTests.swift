// Merging into a context that somebody watches: whose members have changed has to be found out.

import CairnModel
import CairnObjects
import CairnStore
import Testing

@Suite("Merging into watched contexts")
struct WatchedMergingTests {
    @Test(
        "The members of many objects are read again with one question, and only changed ones are told",
        arguments: Backend.allCases)
    func members(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<50).map { number in
                let shop = context.make("Shop", ["name": "\(number)"])
                context.make("Product", ["serialCode": "\(number)", "shop": shop])
                return shop
            }
        }
        let counting = CountingStore(stack.store)
        let context = ManagedObjectContext(store: counting, classes: stack.container.classes)
        let recorder = NotificationRecorder(context)
        let shops = ids.map { context.object(with: $0) }
        for shop in shops { #expect(shop.members("products").count == 1) }
        context.processPendingChanges()
        _ = recorder.take()
        let other = stack.context()
        other.object(with: ids[7]).add(
            other.make("Product", ["serialCode": "new"]), to: "products")
        try other.save()
        let before = counting.reads
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.updatedObjectIDs: [ids[7]], .insertedObjectIDs: []],
            into: [context])
        let product = try #require(
            try stack.context().find("Product", "serialCode", .string("new")).first)
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.insertedObjectIDs: [product.objectID]], into: [context])
        #expect(counting.reads - before < 10)
        #expect(recorder.take().filter { $0.kind == .didChange }.map(\.refreshed).contains(1))
        #expect(shops[7].members("products").count == 2)
        #expect(shops[8].members("products").count == 1)
    }
}
