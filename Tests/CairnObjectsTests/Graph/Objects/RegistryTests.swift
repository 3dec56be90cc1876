// Objects that go on other threads than their context's.

import CairnModel
import CairnStore
import CairnTestSupport
import StoreBackends
import Synchronization
import Testing

@testable import CairnObjects

@Suite("The objects of a context")
struct RegistryTests {
    @Test("leave when nobody holds them, on whatever thread that is, and are found again as others")
    func leaving() async throws {
        let stack = try Stack(Models.shop, .log)
        let count = 2000
        try stack.store { context in
            (0..<count).map { context.make("Product", ["serialCode": "\($0)"]) }
        }
        let context = stack.context()
        // Objects are confined to their context; only that their memory is given back is not.
        struct Bag: @unchecked Sendable {
            // Emptied by its only task, never looked into.
            var objects: [ManagedObject]
        }
        for round in 0..<8 {
            let objects = try context.fetch(FetchRequest(entityName: "Product"))
            #expect(objects.count == count)
            #expect(Set(objects.map(ObjectIdentifier.init)).count == count)
            let bags = (0..<4).map { part in
                Bag(objects: objects.indices.filter { $0 % 4 == part }.map { objects[$0] })
            }
            let kept = objects[round]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for bag in bags {
                    group.addTask { @concurrent in
                        var bag = bag
                        bag.objects.removeAll()
                    }
                }
                try await group.waitForAll()
            }
            #expect(context.registeredObject(for: kept.objectID) === kept)
        }
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("are listed apart if they know members of relationships, as long as they live")
    func members() throws {
        let stack = try Stack(Models.shop, .log)
        let ids = try stack.store { context in
            (0..<100).map { number in
                let shop = context.make("Shop", ["name": "\(number)"])
                context.make("Product", ["serialCode": "\(number)", "shop": shop])
                return shop
            }
        }
        let context = stack.context()
        var shops = ids.map { context.object(with: $0) }
        #expect(context.objectsWithMembers.isEmpty)
        for shop in shops.prefix(3) { #expect(shop.members("products").count == 1) }
        #expect(Set(context.objectsWithMembers) == Set(shops.prefix(3)))
        // One that leaves its context is none of it any more.
        let new = context.make("Shop", ["name": "new"])
        new.add(try #require(shops[0].members("products").first), to: "products")
        #expect(Set(context.objectsWithMembers) == Set(shops.prefix(3) + [new]))
        context.delete(new)
        context.rollback()
        #expect(new.managedObjectContext == nil)
        #expect(Set(context.objectsWithMembers) == Set(shops.prefix(3)))
        shops.removeAll()
        #expect(context.objectsWithMembers.isEmpty)
    }

    @Test("are one for an id, however they are asked for, as long as somebody holds them")
    func uniquing() throws {
        let stack = try Stack(Models.shop, .log)
        let ids = try stack.store { context in
            (0..<5000).map { context.make("Product", ["serialCode": "\($0)"]) }
        }
        var random = RandomSource()
        let context = stack.context()
        var held: [ObjectID: ManagedObject] = [:]
        for _ in 0..<20_000 {
            let place = Int.random(in: 0..<ids.count, using: &random)
            let id = ids[place]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: held[id] = nil
            case 1:
                let object = context.object(with: id)
                #expect(held[id] == nil || held[id] === object, "seed \(random.seed)")
                held[id] = object
            case 2:
                let object = try context.find(
                    "Product", "serialCode", .string("\(place)"))[0]
                #expect(held[id] == nil || held[id] === object, "seed \(random.seed)")
            default:
                #expect(context.registeredObject(for: id) === held[id], "seed \(random.seed)")
            }
        }
        #expect(context.registeredObjects == Set(held.values))
        held = [:]
        #expect(context.registeredObjects.isEmpty)
    }

    @Test(
        "that are new are found by their temporary ids until they are saved, and by no other context"
    )
    func temporary() throws {
        let stack = try Stack(Models.shop, .log)
        let context = stack.context()
        let products = (0..<100).map { context.make("Product", ["serialCode": "\($0)"]) }
        let ids = products.map(\.objectID)
        for (id, product) in zip(ids, products) {
            #expect(context.registeredObject(for: id) === product)
            #expect(stack.context().registeredObject(for: id) == nil)
        }
        try context.obtainPermanentIDs(for: Array(products[..<10]))
        #expect(context.registeredObject(for: ids[3]) == nil)
        #expect(context.registeredObject(for: products[3].objectID) === products[3])
        context.delete(products[20])
        context.processPendingChanges()
        #expect(context.registeredObject(for: ids[20]) == nil)
        try context.save()
        for (id, product) in zip(ids, products) where product !== products[20] {
            #expect(context.registeredObject(for: id) == nil)
            #expect(context.registeredObject(for: product.objectID) === product)
        }
        context.make("Product", ["serialCode": "new"])
        context.rollback()
        #expect(context.registeredObjects.count == 99)
    }

    /// Leaves a note of its own in the context when it becomes a fault.
    private final class Leaving: ManagedObject {
        override func willTurnIntoFault() {
            super.willTurnIntoFault()
            managedObjectContext?.insert("Tag")
        }
    }

    @Test(
        "that a hook makes while changes are dropped are gone with them, and leave nothing behind")
    func madeByHook() throws {
        let stack = try Stack(
            Models.shop, .log, classes: ObjectClasses(["Product": Leaving.self]))
        try stack.store { context in
            (0..<20).map { context.make("Product", ["serialCode": "\($0)"]) }
        }
        let context = stack.context()
        for round in 0..<3 {
            let products = try context.all("Product")
            for product in products { product["price"] = Double(round) }
            if round == 1 { context.reset() } else { context.rollback() }
            // Whatever the hook left is gone: looking for others meets nothing of it.
            #expect(context.registeredObjects.allSatisfy { $0.entity.name == "Product" })
            let new = context.make("Product", ["serialCode": "new \(round)"])
            #expect(context.registeredObject(for: new.objectID) === new)
            try context.save()
        }
        #expect(try stack.context().count("Product") == 23)
        #expect(try stack.context().count("Tag") == 0)
    }
}
