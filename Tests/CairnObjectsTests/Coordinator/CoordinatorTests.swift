// Several stores behind one coordinator: what goes where, and what is refused.

import CairnModel
import CairnObjects
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Several stores")
struct CoordinatorTests {
    @Test(
        "New objects go to the store of a configuration that has their entity",
        arguments: Backend.allCases)
    func configurations(_ backend: Backend) throws {
        let stores = try TwoStores(Models.divided, backend, ["Kitchen", "Goods"])
        let context = stores.context()
        let product = context.make("Product", ["serialCode": "A", "name": "pan"])
        let recipe = context.make("Recipe", ["title": "soup"])
        #expect(context.persistentStore(of: product) == nil, "it was not assigned to one")
        try context.save()
        #expect(product.objectID.store == stores.second.identity.identifier)
        #expect(recipe.objectID.store == stores.first.identity.identifier)
        #expect(context.persistentStore(of: product) === stores.second)
        #expect(try stores.counts("Product") == [0, 1] && stores.counts("Recipe") == [1, 0])
        let other = stores.context()
        #expect(try other.all("Product").map { $0.string("name") } == ["pan"])
        #expect(try other.all("Recipe").map { $0.string("title") } == ["soup"])
        #expect(other.object(with: recipe.objectID).string("title") == "soup")
        #expect(
            stores.alone(0).object(with: recipe.objectID).string("title") == "soup",
            "ids are the same without the coordinator")
        #expect(stores.coordinator.configuration(of: stores.second) == "Goods")
        #expect(stores.coordinator.persistentStores.count == 2)
    }

    @Test("What a coordinator cannot add is refused", arguments: Backend.allCases)
    func adding(_ backend: Backend) throws {
        let stores = try TwoStores(Models.divided, backend, ["Kitchen"])
        let coordinator = stores.coordinator
        let unknown = try backend.makeStore(coordinator.schema)
        let error = storeError { try coordinator.add(unknown, configuration: "Garage") }
        #expect(error?.code == .invalidRequest && error?.context.key == "Garage")
        #expect(storeError { try coordinator.add(stores.first) }?.code == .invalidRequest)
        let people = try backend.makeStore(Schema(Models.people))
        #expect(storeError { try coordinator.add(people) }?.code == .incompatibleModel)
        let other = try PersistentStoreCoordinator(Models.divided)
        #expect(storeError { try coordinator.add(other) }?.code == .invalidRequest)
        #expect(storeError { try coordinator.remove(unknown) }?.code == .invalidRequest)
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test(
        "Without a store for the entity a save is refused whole, and goes on when one was added",
        arguments: Backend.allCases)
    func noStore(_ backend: Backend) throws {
        let stores = try TwoStores(Models.divided, backend, ["Kitchen"])
        let context = stores.context()
        context.make("Recipe", ["title": "soup"])
        let product = context.make("Product", ["name": "pan"])
        let error = storeError { try context.save() }
        #expect(error?.code == .incompleteSave && error?.context.entity == "Product")
        #expect(
            storeError { try context.obtainPermanentIDs(for: [product]) }?.code == .incompleteSave)
        #expect(context.insertedObjects.count == 2 && product.objectID.isTemporary)
        #expect(try stores.counts("Recipe") == [0])
        #expect(try context.count("Product") == 1, "as a change of the context")
        let goods = try backend.makeStore(stores.coordinator.schema)
        try stores.coordinator.add(goods, configuration: "Goods")
        try context.save()
        #expect(product.objectID.store == goods.identity.identifier)
        #expect(try stores.context().count("Recipe") == 1)
    }

    @Test(
        "Of several stores for an entity the first takes new objects, unless they are assigned",
        arguments: Backend.allCases)
    func assigning(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        let here = context.make("Product", ["serialCode": "A"])
        let there = try context.make("Product", in: stores.second, ["serialCode": "B"])
        let early = try context.make("Product", in: stores.second, ["serialCode": "C"])
        try context.obtainPermanentIDs(for: [early, here])
        #expect(early.objectID.store == stores.second.identity.identifier)
        #expect(here.objectID.store == stores.first.identity.identifier)
        #expect(context.persistentStore(of: there) === stores.second)
        try context.save()
        #expect(there.objectID.store == stores.second.identity.identifier)
        #expect(try stores.counts("Product") == [1, 2])
        // One key in two stores is no conflict: constraints hold within a store.
        try context.make("Product", in: stores.second, ["serialCode": "A"])
        try context.save()
        #expect(try stores.counts("Product") == [1, 3])
        context.make("Product", ["serialCode": "A"])
        #expect(storeError { try context.save() }?.code == .constraintConflict)
    }

    @Test("Objects that cannot go to a store are not assigned to it", arguments: Backend.allCases)
    func assigningRefused(_ backend: Backend) throws {
        let stores = try TwoStores(Models.divided, backend, ["Goods", "Kitchen"])
        let context = stores.context()
        let product = context.make("Product")
        #expect(
            storeError { try context.assign(product, to: stores.second) }?.code == .invalidRequest)
        let stranger = try backend.makeStore(stores.coordinator.schema)
        #expect(storeError { try context.assign(product, to: stranger) }?.code == .invalidRequest)
        try stores.coordinator.add(SealedStore(stranger))
        #expect(storeError { try context.assign(product, to: stranger) }?.code == .readOnly)
        try context.save()
        try context.assign(product, to: stores.first)
        #expect(
            storeError { try context.assign(product, to: stores.second) }?.code == .invalidRequest)
        let alone = stores.alone(0)
        let new = alone.make("Product")
        try alone.assign(new, to: stores.first)
        #expect(storeError { try alone.assign(new, to: stores.second) }?.code == .invalidRequest)
        try alone.save()
        #expect(alone.persistentStore(of: new) === stores.first)
    }

    @Test(
        "A relationship into another store is refused before anything is written",
        arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        let shop = try context.make("Shop", in: stores.second, ["name": "far"])
        let near = context.make("Shop", ["name": "near"])
        let product = context.make("Product", ["serialCode": "A", "shop": shop])
        var error = storeError { try context.save() }
        #expect(error?.code == .foreignObject)
        #expect(error?.context.entity == "Product" && error?.context.key == "shop")
        #expect(error?.context.objectID == product.objectID)
        #expect(try stores.counts("Shop") == [0, 0], "nothing is written")
        product["shop"] = near
        try context.save()
        // The same with objects that are stored, and for pairs.
        product["shop"] = shop
        let tag = try context.make("Tag", in: stores.second, ["label": "new"])
        tag["products"] = Set([product])
        error = storeError { try context.save() }
        #expect(error?.code == .multiple)
        #expect(Set(error?.details.map(\.context.key) ?? []) == ["shop", "tags"])
        #expect(error?.details.allSatisfy { $0.code == .foreignObject } == true)
        #expect(product.object("shop") === shop, "in memory it stays as it was set")
        context.rollback()
        #expect(product.object("shop") === near)
        #expect(!context.hasChanges)
    }

    @Test(
        "Objects with the same number in two stores are two, with relationships of their own",
        arguments: Backend.allCases)
    func graphs(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        for (index, store) in stores.stores.enumerated() {
            let shop = try context.make("Shop", in: store, ["name": "shop \(index)"])
            let tag = try context.make("Tag", in: store, ["label": "tag \(index)"])
            for number in 0..<3 {
                try context.make(
                    "Product", in: store,
                    [
                        "serialCode": "\(index)\(number)", "name": "product \(index)",
                        "shop": shop, "tags": Set([tag]),
                    ])
            }
        }
        try context.save()
        for context in [context, stores.context()] {
            let shops = try context.all("Shop", sortedBy: "name")
            #expect(shops.map { $0.string("name") } == ["shop 0", "shop 1"])
            #expect(shops[0].objectID.reference == shops[1].objectID.reference)
            #expect(shops[0].objectID != shops[1].objectID)
            for (index, shop) in shops.enumerated() {
                let products = shop.members("products")
                #expect(products.count == 3)
                for product in products {
                    #expect(product.string("name") == "product \(index)")
                    #expect(product.object("shop") === shop)
                    let tags = product.members("tags")
                    #expect(tags.map { $0.string("label") } == ["tag \(index)"])
                    #expect(tags.first?.members("products") == products)
                }
            }
        }
        // Changes of the second store's alone.
        let other = stores.context()
        let far = try #require(try other.find("Shop", "name", .string("shop 1")).first)
        let moved = try #require(far.members("products").first)
        moved["shop"] = nil
        let new = try other.make("Product", in: stores.second, ["serialCode": "new", "shop": far])
        try other.save()
        #expect(far.members("products").contains(new) && far.members("products").count == 3)
        #expect(try stores.alone(0).all("Product").allSatisfy { $0.object("shop") != nil })
        #expect(try stores.alone(1).count("Product") == 4)
        other.delete(far)
        try other.save()
        #expect(try stores.counts("Shop") == [1, 0])
        #expect(try stores.alone(1).all("Product").allSatisfy { $0.object("shop") == nil })
        var request = FetchRequest(entityName: "Product")
        request.relationshipKeyPathsForPrefetching = ["shop", "tags"]
        let fresh = stores.context()
        #expect(try fresh.fetch(request).count { $0.object("shop") != nil } == 3)
        // One id of each store, in a predicate.
        let ids = try stores.alone(0).all("Product").map(\.objectID).prefix(1) + [new.objectID]
        let found = try fresh.fetch(
            FetchRequest(
                entityName: "Product",
                predicate: .comparison(.init(.objectID, .in, ids.map(Value.objectID)))))
        #expect(Set(found.map(\.objectID)) == Set(ids))
    }

    @Test("An object's URI leads back to it through the coordinator", arguments: Backend.allCases)
    func uris(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        let product = try context.make("Product", in: stores.second, ["name": "pan"])
        #expect(
            stores.coordinator.managedObjectID(
                forURIRepresentation: product.objectID.uriRepresentation) == nil)
        try context.save()
        let uri = product.objectID.uriRepresentation
        let id = try #require(stores.coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(id == product.objectID)
        #expect(try stores.context().existingObject(with: id).string("name") == "pan")
        #expect(stores.coordinator.persistentStore(for: id) === stores.second)
        if backend != .dictionary {
            // As Core Data wrote it.
            let text = "x-coredata://\(id.store.uuidString)/Product/p\(id.reference)"
            let old = try #require(URL(string: text))
            #expect(stores.coordinator.managedObjectID(forURIRepresentation: old) == id)
            let other = try #require(URL(string: text.replacing("Product", with: "Nothing")))
            #expect(stores.coordinator.managedObjectID(forURIRepresentation: other) == nil)
        }
        let stranger = try TwoStores(backend)
        #expect(stranger.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
        #expect(
            storeError { _ = try stranger.context().existingObject(with: id) }?.code
                == .objectNotFound)
    }

    @Test(
        "A save to a store that is read-only is refused, and others are saved",
        arguments: Backend.allCases)
    func readOnly(_ backend: Backend) throws {
        let filled = try TwoStores(backend)
        let context = filled.context()
        try context.make("Product", in: filled.second, ["serialCode": "A", "name": "fixed"])
        try context.make("Product", in: filled.first, ["serialCode": "B", "name": "free"])
        try context.save()
        let coordinator = try PersistentStoreCoordinator(Models.shop)
        try coordinator.add(SealedStore(filled.second))
        #expect(coordinator.isReadOnly)
        try coordinator.add(filled.first)
        #expect(!coordinator.isReadOnly)
        let mixed = ManagedObjectContext(store: coordinator)
        let fixed = try #require(try mixed.find("Product", "name", .string("fixed")).first)
        let free = try #require(try mixed.find("Product", "name", .string("free")).first)
        let new = mixed.make("Product", ["serialCode": "C"])
        fixed["name"] = "changed"
        free["name"] = "changed"
        let error = storeError { try mixed.save() }
        #expect(error?.code == .readOnly && error?.context.objectID == fixed.objectID)
        #expect(try filled.alone(0).all("Product").map { $0.string("name") } == ["free"])
        mixed.refresh(fixed, mergeChanges: false)
        try mixed.save()
        #expect(new.objectID.store == filled.first.identity.identifier)
        #expect(try filled.counts("Product") == [2, 1])
        mixed.delete(fixed)
        #expect(storeError { try mixed.save() }?.code == .readOnly)
        // What can be written is deleted.
        mixed.rollback()
        let deleted = try mixed.executeBatchDelete(FetchRequest(entityName: "Product"))
        #expect(deleted.deletedCount == 2)
        #expect(try filled.counts("Product") == [0, 1])
        #expect(
            storeError {
                _ = try mixed.execute(
                    BatchDeleteRequest(.ids([fixed.objectID], entity: fixed.entity.index)))
            }?
            .code == .readOnly)
    }

    @Test(
        "Objects of a store that is removed are gone, and there again when it is added",
        arguments: Backend.allCases)
    func removing(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        let stays = context.make("Product", ["serialCode": "A", "name": "stays"])
        let goes = try context.make(
            "Product", in: stores.second, ["serialCode": "B", "name": "goes"])
        try context.save()
        goes["name"] = "edited"
        stays["name"] = "edited"
        let homeless = try context.make("Product", in: stores.second, ["serialCode": "C"])
        let other = stores.context()
        let fault = other.object(with: goes.objectID)
        try stores.coordinator.remove(stores.second, closes: false)
        #expect(fault.string("name") == nil && fault.isDeleted, "its row cannot be read")
        #expect(try context.all("Product").map { $0.string("serialCode") } == ["A", "C"])
        #expect(goes.isDeleted && goes.string("name") == nil)
        #expect(context.updatedObjects == [stays])
        #expect(
            storeError { _ = try other.existingObject(with: goes.objectID) }?.code
                == .objectNotFound)
        #expect(storeError { try context.save() }?.code == .invalidRequest)
        try context.assign(homeless, to: stores.first)
        try context.save()
        #expect(try stores.counts("Product") == [2, 1])
        try stores.coordinator.add(stores.second)
        #expect(try context.count("Product") == 3)
        #expect(goes.string("name") == "goes" && !goes.isDeleted)
        goes["name"] = "back"
        try context.save()
        #expect(try stores.alone(1).all("Product").map { $0.string("name") } == ["back"])
        try stores.coordinator.remove(stores.second)
        #expect(storeError { _ = try stores.second.snapshot() }?.code == .unusable, "it is closed")
        #expect(try context.count("Product") == 2)
    }

    @Test(
        "A limited update takes the first objects of all stores, and lists them in their order",
        arguments: Backend.allCases)
    func limitedUpdate(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let setup = stores.context()
        var made: [ManagedObject] = []
        for price in 0..<6 {
            made.append(
                try setup.make(
                    "Product", in: stores.stores[price % 2],
                    ["serialCode": "\(price)", "price": Double(price)]))
        }
        try setup.save()
        let ids = made.map(\.objectID)
        var request = BatchUpdateRequest(
            entityName: "Product", propertiesToUpdate: ["note": "cheap"])
        request.sortDescriptors = [SortKey("price")]
        (request.fetchLimit, request.fetchOffset) = (4, 1)
        request.resultType = .objectIDs
        let result = try stores.coordinator.execute(request)
        #expect(result.updatedCount == 4 && result.objectIDs == Array(ids[1...4]))
        #expect(try stores.context().find("Product", "note", .string("cheap")).count == 4)
    }
}
