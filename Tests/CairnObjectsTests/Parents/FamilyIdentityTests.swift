// Parents and children call an object by the same id, whoever gives it another one.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Ids of parents and children")
struct FamilyIdentityTests {
    @Test("Obtaining permanent ids in any of them gives them to all", arguments: Backend.allCases)
    func obtaining(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        let grandchild = child.newChildContext()
        let shop = parent.make("Shop", ["name": "corner"])
        let product = grandchild.make("Product", ["serialCode": "a"])
        product["shop"] = grandchild.object(with: shop.objectID)
        let between = child.object(with: shop.objectID)
        #expect(between.string("name") == "corner")
        try grandchild.obtainPermanentIDs(for: [product, try #require(product.object("shop"))])
        #expect(!product.objectID.isTemporary && !shop.objectID.isTemporary)
        #expect(between.objectID == shop.objectID)
        #expect(product.object("shop")?.objectID == shop.objectID && shop.isInserted)
        try grandchild.save()
        try child.save()
        #expect(shop.members("products").map(\.objectID) == [product.objectID])
        try parent.save()
        let stored = try #require(stack.context().all("Product").first)
        #expect(stored.objectID == product.objectID)
        #expect(stored.object("shop")?.objectID == shop.objectID)
    }

    @Test("References, members and edits follow when the root saves", arguments: Backend.allCases)
    func following(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        let shop = child.make("Shop", ["name": "corner"])
        let tag = child.make("Tag", ["label": "x"])
        // Enough of them to be written as columns.
        let products = (0..<20).map {
            child.make(
                "Product", ["serialCode": "\($0)", "shop": shop, "tags": Set($0 < 2 ? [tag] : [])])
        }
        try child.save()
        let draft = child.make(
            "Product", ["serialCode": "draft", "shop": shop, "tags": Set([tag])])
        products[3]["shop"] = nil
        products[4]["price"] = 4.0
        try parent.save()
        #expect((products + [shop, tag]).allSatisfy { !$0.objectID.isTemporary && !$0.isInserted })
        #expect(draft.objectID.isTemporary && draft.object("shop") === shop)
        #expect(products[0].object("shop") === shop && products[3].object("shop") == nil)
        #expect(shop.members("products").count == 20)
        #expect(tag.members("products") == [products[0], products[1], draft])
        #expect(child.updatedObjects.count >= 2 && child.insertedObjects == [draft])
        try child.save()
        try parent.save()
        let fresh = stack.context()
        #expect(try #require(fresh.all("Shop").first).members("products").count == 20)
        #expect(try #require(fresh.all("Tag").first).members("products").count == 3)
        #expect(
            try fresh.find("Product", "serialCode", .string("4")).first?["price"] as? Double == 4)
        #expect(!draft.objectID.isTemporary)
    }

    @Test(
        "Many new objects that a policy merges row by row are told to the children",
        arguments: Backend.allCases)
    func absorbedAsColumns(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stack.store { context in
            (0..<5).map { context.make("Product", ["serialCode": "\($0)"]) }
        }
        let parent = stack.context(.mergeByPropertyObjectTrump)
        let child = parent.newChildContext()
        let products = (0..<40).map {
            child.make("Product", ["serialCode": "\($0)", "price": Double($0)])
        }
        try child.save()
        try parent.save()
        #expect(products[..<5].map(\.absorbedInto) == old)
        #expect(products[..<5].allSatisfy { $0.isDeleted && $0.managedObjectContext == nil })
        #expect(products[5...].allSatisfy { !$0.objectID.isTemporary && $0.absorbedInto == nil })
        #expect(try child.count("Product") == 40)
        #expect(child.object(with: old[3])["price"] as? Double == 3)
    }

    @Test(
        "References to an absorbed object lead to the one that took its place",
        arguments: Backend.allCases)
    func absorbedTargets(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let old = try stack.store { [$0.make("Shop", ["name": "corner"])] }[0]
        let parent = stack.context(.mergeByPropertyStoreTrump)
        let child = parent.newChildContext()
        let twin = child.make("Shop", ["name": "corner"])
        let product = child.make("Product", ["serialCode": "a", "shop": twin])
        try child.save()
        let draft = child.make("Product", ["serialCode": "b", "shop": twin])
        try parent.save()
        #expect(twin.absorbedInto == old)
        #expect(product.object("shop")?.objectID == old && draft.object("shop")?.objectID == old)
        try child.save()
        try parent.save()
        #expect(stack.context().object(with: old).members("products").count == 2)
    }

    @Test(
        "An object that a policy of one's own gives up is told to the children",
        arguments: Backend.allCases)
    func absorbedByOwnPolicy(_ backend: Backend) throws {
        final class Counting: MergePolicy {
            var calls = 0
            override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
                calls += 1
                try super.resolve(constraintConflicts: list)
            }
        }
        let stack = try Stack(Models.shop, backend)
        let old = try stack.store { [$0.make("Product", ["serialCode": "a"])] }[0]
        let policy = Counting(merge: .mergeByPropertyObjectTrump)
        let parent = stack.context(policy)
        let child = parent.newChildContext()
        let twin = child.make("Product", ["serialCode": "a", "price": 3.0])
        try child.save()
        try parent.save()
        #expect(policy.calls == 1 && twin.absorbedInto == old)
        #expect(child.object(with: old)["price"] as? Double == 3)
    }

    @Test(
        "A child keeps its parent alive, and a parent does not keep its children",
        arguments: Backend.allCases)
    func lifetimes(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        weak var parent: ManagedObjectContext?
        weak var child: ManagedObjectContext?
        var grandchild: ManagedObjectContext?
        do {
            let top = stack.context()
            let middle = top.newChildContext()
            grandchild = middle.newChildContext()
            (parent, child) = (top, middle)
        }
        #expect(parent != nil && child != nil)
        #expect(try grandchild?.count("Product") == 0)
        grandchild = nil
        #expect(parent == nil && child == nil)
    }

    @Test("A background task's children end with it", arguments: Backend.allCases)
    func tasks(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let background = stack.container.newBackgroundContext()
        let count = try await background.perform { context in
            let child = context.newChildContext()
            child.make("Product", ["serialCode": "kept"])
            try child.save()
            child.make("Product", ["serialCode": "dropped"])
            try context.save()
            return try context.count(for: FetchRequest(entityName: "Product"))
        }
        #expect(count == 1)
        #expect(try stack.context().count("Product") == 1)
    }

    @MainActor
    @Test("A child of the view context works on the main actor", arguments: Backend.allCases)
    func view(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let draft = ManagedObjectContext(parent: stack.container.viewContext)
        draft.make("Product", ["serialCode": "a"])
        try draft.save()
        #expect(stack.container.viewContext.insertedObjects.count == 1)
        try stack.container.viewContext.save()
        #expect(try stack.context().count("Product") == 1)
    }
}
