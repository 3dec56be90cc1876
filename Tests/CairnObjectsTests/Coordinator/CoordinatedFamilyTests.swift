// Contexts that work on a context of several stores.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Children of contexts of several stores")
struct CoordinatedFamilyTests {
    @Test(
        "A child shows and saves objects of each store, and what is unsaved in its parent",
        arguments: Backend.allCases)
    func reading(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let parent = stores.context()
        var shops: [ManagedObject] = []
        var products: [ManagedObject] = []
        for (index, store) in stores.stores.enumerated() {
            shops.append(try parent.make("Shop", in: store, ["name": "shop \(index)"]))
            products.append(
                try parent.make(
                    "Product", in: store, ["serialCode": "\(index)", "shop": shops[index]]))
        }
        try parent.save()
        // Values that the parent has changed make rows, which lead into the store that they are of.
        for product in products { product["name"] = "changed" }
        let unsaved = try parent.make(
            "Product", in: stores.second, ["serialCode": "new", "shop": shops[1]])
        let child = parent.newChildContext().newChildContext()
        let shown = try child.all("Product", sortedBy: "serialCode")
        #expect(shown.map(\.objectID) == (products + [unsaved]).map(\.objectID))
        #expect(shown.map { $0.string("name") } == ["changed", "changed", ""])
        let leads = shown.map { $0.object("shop")?.objectID }
        #expect(leads == [shops[0], shops[1], shops[1]].map(\.objectID))
        let far = child.object(with: shops[1].objectID)
        #expect(far.members("products") == Set(shown[1...]))
        var request = FetchRequest(entityName: "Product")
        request.affectedStores = [stores.second]
        request.sortDescriptors = [SortKey("serialCode")]
        #expect(try child.fetch(request) == Array(shown[1...]))
        #expect(try child.count(for: request) == 2)
        request.affectedStores = [stores.first]
        #expect(try child.fetch(request) == [shown[0]])
        shown[1]["shop"] = nil
        shown[1]["note"] = "by the child"
        try child.save()
        try child.parent?.save()
        #expect(products[1].object("shop") == nil && products[1].string("note") == "by the child")
        try parent.save()
        #expect(!unsaved.objectID.isTemporary && shown[2].objectID == unsaved.objectID)
        #expect(try stores.counts("Product") == [1, 2])
        #expect(far.members("products") == [shown[2]])
        let fresh = stores.context().object(with: products[1].objectID)
        #expect(fresh.object("shop") == nil && fresh.string("note") == "by the child")
    }

    @Test(
        "What a child assigns to a store is saved there, and has its permanent ids of that store",
        arguments: Backend.allCases)
    func assigning(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let parent = stores.context()
        let child = parent.newChildContext()
        let shop = try child.make("Shop", in: stores.second, ["name": "far"])
        let product = try child.make("Product", in: stores.second, ["shop": shop])
        #expect(child.persistentStore(of: shop) === stores.second)
        try child.save()
        let adopted = try #require(try parent.all("Shop").first)
        #expect(parent.persistentStore(of: adopted) === stores.second)
        // Another child has never heard of the store.
        let sibling = parent.newChildContext()
        let shown = try #require(try sibling.all("Shop").first)
        #expect(sibling.persistentStore(of: shown) === stores.second)
        try sibling.obtainPermanentIDs(for: [shown])
        #expect(shown.objectID.store == stores.second.identity.identifier)
        #expect(shop.objectID == shown.objectID && adopted.objectID == shown.objectID)
        try parent.save()
        #expect(try stores.counts("Shop") == [0, 1])
        #expect(product.objectID.store == stores.second.identity.identifier)
        #expect(product.object("shop") === shop)
        // A relationship into another store is refused where it is saved to the stores.
        let stray = child.make("Product", ["shop": shop])
        try child.save()
        #expect(storeError { try parent.save() }?.code == .foreignObject)
        child.delete(stray)
        try child.save()
        try parent.save()
    }

    @Test(
        "A child can say where a new object of its parent goes, also when it has saved it itself",
        arguments: Backend.allCases)
    func assigningLater(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let parent = stores.context()
        let child = parent.newChildContext()
        let grandchild = child.newChildContext()
        let own = grandchild.make("Shop", ["name": "own"])
        try grandchild.save()
        try grandchild.assign(own, to: stores.second)
        #expect(grandchild.persistentStore(of: own) === stores.second)
        try child.save()
        let theirs = parent.make("Shop", ["name": "theirs"])
        try grandchild.assign(grandchild.object(with: theirs.objectID), to: stores.second)
        try parent.save()
        #expect(try stores.counts("Shop") == [0, 2])
        #expect(own.objectID.store == stores.second.identity.identifier)
    }

    @Test("Children notice stores that go and come", arguments: Backend.allCases)
    func noticing(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let parent = stores.context()
        let near = parent.make("Tag", ["label": "near"])
        let far = try parent.make("Tag", in: stores.second, ["label": "far"])
        try parent.save()
        let child = parent.newChildContext()
        let tags = try child.all("Tag", sortedBy: "label")
        #expect(tags.map(\.objectID) == [far.objectID, near.objectID])
        far["label"] = "parent"
        tags[0]["label"] = "child"
        tags[1]["label"] = "child"
        try stores.coordinator.remove(stores.second, closes: false)
        #expect(try child.all("Tag") == [tags[1]])
        #expect(tags[0].isDeleted && far.isDeleted && child.updatedObjects == [tags[1]])
        #expect(!parent.hasChanges)
        try child.save()
        try parent.save()
        #expect(near.string("label") == "child")
        try stores.coordinator.add(stores.second)
        #expect(try child.count("Tag") == 2)
        #expect(tags[0].string("label") == "far" && !tags[0].isDeleted && !far.isDeleted)
    }

    @Test(
        "A child that is made when a store has gone has its parent notice",
        arguments: Backend.allCases)
    func lateChild(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let parent = stores.context()
        let far = try parent.make("Tag", in: stores.second, ["label": "far"])
        try parent.save()
        far["label"] = "edited"
        try stores.coordinator.remove(stores.second, closes: false)
        let child = parent.newChildContext()
        #expect(try child.all("Tag").isEmpty)
        #expect(far.isDeleted && !parent.hasChanges)
        try stores.coordinator.add(stores.second)
        let other = parent.newChildContext()
        #expect(try other.all("Tag").map { $0.string("label") } == ["far"])
        #expect(far.string("label") == "far" && !far.isDeleted)
    }

    @Test(
        "Children merge what their parent merges, of each store", arguments: Backend.allCases)
    func merging(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let parent = stores.context()
        parent.automaticallyMergesChangesFromParent = true
        let child = parent.newChildContext()
        child.automaticallyMergesChangesFromParent = true
        for store in stores.stores { try child.make("Tag", in: store, ["label": "old"]) }
        try child.save()
        try parent.save()
        let tags = try child.all("Tag")
        let other = stores.context()
        for (index, store) in stores.stores.enumerated() {
            let tag = try #require(tags.first { $0.objectID.store == store.identity.identifier })
            #expect(tag.string("label") == "old")
            other.object(with: tag.objectID)["label"] = "new \(index)"
            try other.save()
            parent.processPendingChanges()
            #expect(tag.string("label") == "new \(index)")
        }
        #expect(!child.hasChanges && !parent.hasChanges)
    }
}
