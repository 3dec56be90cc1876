// Merging into a context that somebody watches: whose members have changed has to be found out.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
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

    @Test(
        "Of many objects with members, those are read again that lead to others by a commit, and led",
        arguments: Backend.allCases)
    func fewOwners(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let tags = ["x", "y"].map { context.make("Tag", ["label": $0]) }
            let products = (0..<300).map { number in
                let product = context.make("Product", ["serialCode": "\(number)"])
                product["tags"] = [tags[number % 2]] as Set
                return product
            }
            let shops = products.map { product in
                let shop = context.make("Shop", ["name": product.string("serialCode")])
                product["shop"] = shop
                return shop
            }
            return products + shops + tags
        }
        let counting = CountingStore(stack.store)
        let context = ManagedObjectContext(store: counting, classes: stack.container.classes)
        context.automaticallyMergesChangesFromParent = true
        let recorder = NotificationRecorder(context)
        let products = ids[..<300].map { context.object(with: $0) }
        let shops = ids[300..<600].map { context.object(with: $0) }
        for shop in shops { #expect(shop.members("products").count == 1) }
        for product in products { #expect(product.members("tags").count == 1) }
        context.processPendingChanges()
        _ = recorder.take()

        let other = stack.context()
        let product = other.object(with: ids[7])
        func merge(rows: Int, _ edit: () -> Void) throws {
            edit()
            try other.save()
            let before = counting.rows
            context.processPendingChanges()
            #expect(counting.rows - before <= rows)
        }
        // The row, and nothing of who leads to it.
        try merge(rows: 1) { product["note"] = "changed" }
        // And the members of two shops.
        try merge(rows: 3) { product["shop"] = other.object(with: ids[308]) }
        #expect(shops[7].members("products").isEmpty && shops[8].members("products").count == 2)
        // The tags of the product, and the rows of both that got and lost it.
        try merge(rows: 6) { product["tags"] = [other.object(with: ids[600])] as Set }
        #expect(products[7].objectIDs(forRelationshipNamed: "tags") == [ids[600]])
        try merge(rows: 3) { other.delete(product) }
        #expect(shops[8].members("products").map(\.objectID) == [ids[8]])
        try merge(rows: 4) {
            other.make("Product", ["serialCode": "new"])["shop"] = other.object(with: ids[307])
        }
        #expect(shops[7].members("products").count == 1)
        // The lists of all others are as they were read.
        let before = counting.reads
        for shop in shops { #expect(shop.members("products").count == 1) }
        #expect(counting.reads - before <= 1)
        withExtendedLifetime(recorder) {}
    }

    @Test(
        "Members that were read of an older state than the merged ones are all read again by the next merge",
        arguments: Backend.allCases, [true, false])
    func olderMembers(_ backend: Backend, _ beginsLate: Bool) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shops = ["a", "b"].map { context.make("Shop", ["name": $0]) }
            let product = context.make("Product", ["name": "p"])
            product["shop"] = shops[0]
            return shops + [product]
        }
        let context = stack.context()
        let pinned = stack.context()
        try pinned.setQueryGeneration(from: .current)
        _ = try pinned.all("Shop")
        if !beginsLate { context.automaticallyMergesChangesFromParent = true }
        let shops = ids[..<2].map { context.object(with: $0) }
        if beginsLate { #expect(shops.map { $0.members("products").count } == [1, 0]) }
        let other = stack.context()
        other.object(with: ids[2])["shop"] = other.object(with: ids[1])
        try other.save()
        if beginsLate {
            context.automaticallyMergesChangesFromParent = true
        } else {
            context.processPendingChanges()
            try context.setQueryGeneration(from: pinned.queryGenerationToken)
            #expect(shops.map { $0.members("products").count } == [1, 0])
            try context.setQueryGeneration(from: nil)
        }
        // Neither says anything of shops.
        other.make("Tag", ["label": "x"])
        try other.save()
        context.processPendingChanges()
        other.object(with: ids[2])["note"] = "changed"
        try other.save()
        context.processPendingChanges()
        #expect(shops.map { $0.members("products").count } == [0, 1])
        #expect(context.object(with: ids[2]).object("shop") == shops[1])
    }
}
