// Objects that are read when they are touched.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Faults")
struct FaultingTests {
    private func counted(_ backend: Backend) throws -> (
        CountingStore, ManagedObjectContext, [ObjectID]
    ) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "s"])
            let products = (0..<3).map { context.make("Product", ["stock": $0, "shop": shop]) }
            return [shop] + products
        }
        let counting = CountingStore(stack.store)
        return (counting, Stack(store: counting).context(), ids)
    }

    @Test(
        "A fetch gives faults whose rows have come along; realised ones on request (B070)",
        arguments: Backend.allCases)
    func fetched(_ backend: Backend) throws {
        let (store, context, _) = try counted(backend)
        let products = try context.all("Product")
        #expect(products.count == 3 && products.allSatisfy(\.isFault))
        let before = store.reads
        #expect(products.map { $0.int("stock") } == [0, 1, 2])
        #expect(store.reads == before && products.allSatisfy { !$0.isFault })
        var request = FetchRequest(entityName: "Shop")
        request.returnsObjectsAsFaults = false
        #expect(try context.fetch(request).allSatisfy { !$0.isFault })
    }

    @Test("Asking for id, entity, flags and description reads nothing", arguments: Backend.allCases)
    func quiet(_ backend: Backend) throws {
        let (store, context, ids) = try counted(backend)
        let object = context.object(with: ids[1])
        _ = (
            object.objectID, object.entity, object.isUpdated, object.hasChanges, object.description
        )
        _ = (object.hasPersistentChangedValues, object.changedValues(), object.hashValue)
        #expect(object.hasFault(forRelationshipNamed: "tags"))
        #expect(store.reads == 0 && object.isFault)
        _ = object["name"]
        #expect(store.reads == 1 && !object.isFault)
        _ = object["stock"]
        #expect(store.reads == 1)
    }

    @Test(
        "An existing object is no fault, and a missing one an error 133000 (B071)",
        arguments: Backend.allCases)
    func existing(_ backend: Backend) throws {
        let (_, context, ids) = try counted(backend)
        #expect(try !context.existingObject(with: ids[1]).isFault)
        let missing = ObjectID(
            store: ids[1].store, hierarchy: ids[1].hierarchy, reference: 1_000_000)
        #expect(
            storeError { _ = try context.existingObject(with: missing) }?.code == .objectNotFound)
        #expect(context.object(with: missing).isFault, "object(with:) never fails")
    }

    @Test(
        "Refreshing all keeps an edited object with its edit and makes faults of the others (B073)",
        arguments: Backend.allCases)
    func refreshAll(_ backend: Backend) throws {
        let (_, context, ids) = try counted(backend)
        let (edited, clean) = (context.object(with: ids[1]), context.object(with: ids[2]))
        edited["name"] = "edit"
        _ = clean["name"]
        context.refreshAllObjects()
        #expect(!edited.isFault && edited.string("name") == "edit" && edited.isUpdated)
        #expect(clean.isFault && clean.int("stock") == 1)
        try context.save()
    }

    @Test(
        "Clean objects are held weakly, changed ones strongly (B076)", arguments: Backend.allCases)
    func holding(_ backend: Backend) throws {
        let (_, context, ids) = try counted(backend)
        #expect(context.registeredObjects.isEmpty)
        do {
            let object = context.object(with: ids[1])
            _ = object["name"]
            #expect(context.registeredObject(for: ids[1]) === object)
        }
        #expect(context.registeredObject(for: ids[1]) == nil)
        do { context.object(with: ids[2])["name"] = "edit" }
        #expect(context.registeredObject(for: ids[2])?.string("name") == "edit")
        context.make("Product")
        #expect(context.registeredObjects.count == 2)
        try context.save()
        #expect(context.registeredObjects.isEmpty)
    }

    @Test(
        "A to-many is not read with the row; the first access asks once, later ones do not (B077)",
        arguments: Backend.allCases)
    func members(_ backend: Backend) throws {
        let (store, context, ids) = try counted(backend)
        let shop = context.object(with: ids[0])
        _ = shop["name"]
        #expect(store.reads == 1 && shop.hasFault(forRelationshipNamed: "products"))
        #expect(shop.members("products").count == 3)
        #expect(store.reads == 2 && !shop.hasFault(forRelationshipNamed: "products"))
        _ = shop.members("products")
        #expect(shop.objectIDs(forRelationshipNamed: "products") == Array(ids[1...]))
        #expect(store.reads == 2)
    }

    @Test("Ids of members come without objects", arguments: Backend.allCases)
    func memberIDs(_ backend: Backend) throws {
        let (_, context, ids) = try counted(backend)
        let shop = context.object(with: ids[0])
        #expect(shop.objectIDs(forRelationshipNamed: "products") == Array(ids[1...]))
        #expect(context.registeredObjects == [shop])
        let product = context.object(with: ids[1])
        #expect(product.objectIDs(forRelationshipNamed: "shop") == [ids[0]])
    }

    @Test("An object is there once in a context (B079)", arguments: Backend.allCases)
    func uniquing(_ backend: Backend) throws {
        let (_, context, ids) = try counted(backend)
        let fetched = try context.all("Product")
        #expect(try context.all("Product") == fetched)
        #expect(context.object(with: ids[1]) === fetched[0])
        #expect(try context.existingObject(with: ids[1]) === fetched[0])
        let shop = context.object(with: ids[0])
        #expect(shop.members("products") == Set(fetched) && fetched[0].object("shop") === shop)
    }

    @Test(
        "A row that vanished makes the object deleted, with no value at all",
        arguments: Backend.allCases)
    func vanished(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "n"])] }[0]
        let context = stack.context()
        let fault = context.object(with: id)
        let other = stack.context()
        other.delete(other.object(with: id))
        try other.save()
        #expect(fault["name"] == nil, "mandatory, and nil all the same")
        #expect(fault["price"] == nil && fault.members("tags").isEmpty && fault["shop"] == nil)
        #expect(fault.isDeleted && !fault.isFault)
        fault["name"] = "too late"
        #expect(!context.hasChanges)
        try context.save()
        #expect(storeError { _ = try context.existingObject(with: id) }?.code == .objectNotFound)
    }

    @Test("Or an error, if the developer asks for it", arguments: Backend.allCases)
    func vanishedLoudly(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "n"])] }[0]
        let context = stack.context()
        context.shouldDeleteInaccessibleFaults = false
        let fault = context.object(with: id)
        let other = stack.context()
        other.delete(other.object(with: id))
        try other.save()
        #expect(storeError { try fault.fulfill() }?.code == .objectNotFound)
        #expect(fault["name"] == nil && !fault.isDeleted)
        #expect(storeError { _ = try context.all("Shop") }?.code == .objectNotFound)
        _ = try context.all("Shop")
    }

    @Test("What another context stores is seen when a fault is read", arguments: Backend.allCases)
    func fresh(_ backend: Backend) throws {
        let (store, context, ids) = try counted(backend)
        let fault = context.object(with: ids[1])
        let other = Stack(store: store).context()
        other.object(with: ids[1])["name"] = "newer"
        try other.save()
        #expect(fault.string("name") == "newer")
    }

    @Test("In a hierarchy the row says which entity an object is of", arguments: Backend.allCases)
    func hierarchy(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let ids = try stack.store { [$0.make("Truck"), $0.make("SportCar")] }
        let context = stack.context()
        #expect(ids.map { context.object(with: $0).entity.name } == ["Truck", "SportCar"])
    }

    @Test(
        "An edit made while the store could not be read is told of once, and saved after that",
        arguments: Backend.allCases)
    func editWithoutRow(_ backend: Backend) throws {
        let store = FailingStore(try backend.makeStore(Schema(Models.shop)))
        let stack = Stack(store: store)
        let id = try stack.store {
            [$0.make("Product", ["serialCode": "A", "name": "old", "note": "same"])]
        }[0]
        let context = stack.context()
        let object = context.object(with: id)
        store.isFailing = true
        object["name"] = "new"
        object["note"] = "same"
        store.isFailing = false
        #expect(storeError { try context.save() }?.code == .damaged)
        try context.save()
        #expect(object.changedValues().isEmpty)
        let stored = try stack.context().existingObject(with: id)
        #expect(stored.string("name") == "new" && stored.string("note") == "same")
        #expect(stored.string("serialCode") == "A")
    }

    @Test(
        "An edit of an object that is gone fails every save, if such objects are not deleted",
        arguments: Backend.allCases)
    func editOfMissing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["serialCode": "A"])] }[0]
        let context = stack.context()
        context.shouldDeleteInaccessibleFaults = false
        let object = context.object(with: id)
        let other = stack.context()
        other.delete(other.object(with: id))
        try other.save()
        object["name"] = "new"
        for _ in 0..<2 {
            #expect(storeError { try context.save() }?.code == .objectNotFound)
        }
        context.rollback()
        try context.save()
    }
}
