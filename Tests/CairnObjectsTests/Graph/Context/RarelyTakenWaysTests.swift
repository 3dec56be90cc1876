// Cases that no other test took: in each of them a fault, put in by hand, was noticed by nobody.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Ways that are rarely taken")
struct RarelyTakenWaysTests {
    @Test(
        "Members that are set to what they are make the object an updated one",
        arguments: Backend.allCases)
    func sameMembers(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let tag = context.make("Tag", ["label": "a"])
            return [context.make("Product", ["serialCode": "1", "tags": Set([tag])])]
        }
        let context = stack.context()
        let product = context.object(with: ids[0])
        product["tags"] = product.members("tags")
        #expect(context.updatedObjects == [product])
        #expect(!product.hasPersistentChangedValues)
    }

    @Test(
        "A deleted member is shown until its deletion is propagated, also to who reads the list only then",
        arguments: Backend.allCases)
    func deletedMember(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "s"])
            return [shop, context.make("Product", ["serialCode": "1", "shop": shop])]
        }
        let context = stack.context()
        let (shop, product) = (context.object(with: ids[0]), context.object(with: ids[1]))
        context.delete(product)
        #expect(shop.members("products") == [product])
        context.processPendingChanges()
        #expect(shop.members("products").isEmpty)
    }

    @Test(
        "Who was taken out before the list was read is a change of the list",
        arguments: Backend.allCases)
    func takenOut(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "s"])
            return [shop, context.make("Product", ["serialCode": "1", "shop": shop])]
        }
        let context = stack.context()
        let (shop, product) = (context.object(with: ids[0]), context.object(with: ids[1]))
        product["shop"] = nil
        #expect(shop.members("products").isEmpty)
        #expect(shop.changedValues().keys.sorted() == ["products"])
    }

    @Test(
        "A list that left out a member for where it was moved has it again after a rollback",
        arguments: Backend.allCases)
    func movedMember(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shops = ["a", "b", "c"].map { context.make("Shop", ["name": $0]) }
            return shops + [context.make("Product", ["serialCode": "1", "shop": shops[0]])]
        }
        let context = stack.context()
        let product = context.object(with: ids[3])
        product["shop"] = context.object(with: ids[1])
        let other = stack.context()
        other.object(with: ids[3])["shop"] = other.object(with: ids[2])
        try other.save()
        let third = context.object(with: ids[2])
        #expect(third.members("products").isEmpty)
        context.rollback()
        #expect(third.members("products") == [product])
    }

    @Test(
        "Many new objects whose keys are stored give what was set of them alone, if that is the policy",
        arguments: Backend.allCases)
    func manySetOnly(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        _ = try stack.store { context in
            (0..<40).map {
                context.make("Product", ["serialCode": "\($0)", "name": "old", "note": "kept"])
            }
        }
        let context = stack.context(MergePolicy(merge: .mergeByPropertyObjectTrump, setOnly: true))
        for number in 0..<40 {
            context.make("Product", ["serialCode": "\(number)", "name": "new"])
        }
        try context.save()
        let products = try stack.context().all("Product")
        #expect(products.count == 40)
        #expect(products.allSatisfy { $0.string("name") == "new" && $0.string("note") == "kept" })
    }

    @Test(
        "Who leads to itself and is merged makes the one that stays lead to that one",
        arguments: Backend.allCases)
    func leadingToItself(_ backend: Backend) throws {
        for policy in [
            MergePolicy(merge: .mergeByPropertyObjectTrump),
            PlainSubclass(merge: .mergeByPropertyObjectTrump),
        ] {
            let stack = try Stack(Models.people, backend)
            let ids = try stack.store { [$0.make("Person", ["name": "Anna"])] }
            let context = stack.context(policy)
            let anna = context.make("Person", ["name": "Anna"])
            anna["heroes"] = Set([anna])
            anna["friends"] = Set([anna])
            try context.save()
            let stored = stack.context().object(with: ids[0])
            #expect(stored.members("heroes") == [stored] && stored.members("friends") == [stored])
            #expect(try stack.context().count("Person") == 1)
        }
    }

    @Test(
        "Deny does not hold against the deletion of an object with all that stand in the relationship",
        arguments: Backend.allCases)
    func deniedTogether(_ backend: Backend) throws {
        var model = Models.shop
        model.entities[0].relationships[0].deleteRule = .deny
        let stack = try Stack(model, backend)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "s"])
            return [shop, context.make("Product", ["serialCode": "1", "shop": shop])]
        }
        let context = stack.context()
        context.delete(context.object(with: ids[0]))
        #expect(storeError { try context.save() }?.code == .deleteDenied)
        context.delete(context.object(with: ids[1]))
        try context.save()
        #expect(try stack.context().count("Shop") == 0)
        #expect(try stack.context().count("Product") == 0)
    }

    @Test("Numbers that are NaN are no duplicates", arguments: Backend.allCases)
    func notANumber(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        _ = try stack.store { context in
            [Double.nan, .nan, 1, 1].map { context.make("Product", ["price": $0]) }
        }
        let request = DeduplicationRequest(entityName: "Product", by: ["price"], keeping: .first)
        _ = try stack.context().execute(request)
        #expect(try stack.context().count("Product") == 3)
    }
}
