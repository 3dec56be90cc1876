// Contexts that go on reading one state of their store.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Query generations")
struct QueryGenerationTests {
    /// A store with one shop that sells three tagged products.
    private struct Market {
        let stack: Stack
        let shop: ObjectID
        let products: [ObjectID]
        let tag: ObjectID

        init(_ backend: Backend) throws {
            let stack = try Stack(Models.shop, backend)
            self.stack = stack
            let ids = try stack.store { context in
                let shop = context.make("Shop", ["name": "corner"])
                let tag = context.make("Tag", ["label": "new"])
                let products = ["a", "b", "c"].map {
                    context.make(
                        "Product", ["serialCode": $0, "name": $0, "price": 1.0, "shop": shop])
                }
                tag["products"] = Set(products)
                return [shop, tag] + products
            }
            (shop, tag, products) = (ids[0], ids[1], Array(ids[2...]))
        }

        /// A context that is pinned to the state as it is now, and has read nothing of it.
        func pinned(_ policy: MergePolicy = .error) throws -> ManagedObjectContext {
            let context = stack.context(policy)
            try context.setQueryGeneration(from: .current)
            _ = try context.count("Recipe")
            return context
        }

        /// Somebody else changes one product, deletes another, and makes a third; the changed one leaves shop and tag.
        func change() throws {
            let other = stack.context()
            let first = other.object(with: products[0])
            first["name"] = "z"
            first["price"] = 9.0
            first["shop"] = nil
            first["tags"] = Set<ManagedObject>()
            other.delete(other.object(with: products[1]))
            other.make(
                "Product",
                [
                    "serialCode": "d", "name": "d", "shop": other.object(with: shop),
                    "tags": Set([other.object(with: tag)]),
                ])
            try other.save()
        }
    }

    private func names(_ objects: some Sequence<ManagedObject>) -> [String] {
        objects.map { $0.string("name") ?? "nil" }.sorted()
    }

    @Test(
        "A context without a generation has no token and sees every commit",
        arguments: Backend.allCases)
    func unpinned(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = market.stack.context()
        #expect(context.queryGenerationToken == nil)
        try market.change()
        #expect(names(try context.all("Product")) == ["c", "d", "z"])
        #expect(context.queryGenerationToken == nil)
    }

    @Test(
        "The current generation is pinned by the first read, not before",
        arguments: Backend.allCases)
    func lazily(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = market.stack.context()
        try context.setQueryGeneration(from: .current)
        #expect(context.queryGenerationToken == .current)
        try market.stack.store { [$0.make("Product", ["serialCode": "e", "name": "e"])] }
        #expect(try context.count("Product") == 4)
        let token = try #require(context.queryGenerationToken)
        #expect(token != .current)
        try market.change()
        #expect(try context.count("Product") == 4)
        #expect(names(try context.all("Product")) == ["a", "b", "c", "e"])
        #expect(context.queryGenerationToken === token)
    }

    @Test("Every kind of fetch reads the pinned state", arguments: Backend.allCases)
    func fetches(_ backend: Backend) async throws {
        let market = try Market(backend)
        let context = try market.pinned()
        try market.change()
        var sorted = FetchRequest(entityName: "Product")
        sorted.sortDescriptors = [SortKey("name", ascending: false)]
        sorted.fetchLimit = 2
        #expect(try context.fetchObjectIDs(sorted) == [market.products[2], market.products[1]])
        #expect(try context.fetch(sorted).map { $0.string("name") } == ["c", "b"])
        #expect(try context.count("Product") == 3)
        // By a unique key, which a store may find without a snapshot.
        #expect(names(try context.find("Product", "serialCode", .string("b"))) == ["b"])
        #expect(try context.find("Product", "serialCode", .string("d")).isEmpty)
        let cheap = FetchRequest(
            entityName: "Product", predicate: .compare("price", .less, .double(5)))
        #expect(names(try context.fetch(cheap)) == ["a", "b", "c"])
        #expect(try await context.fetchAsynchronously(cheap).count == 3)
        var values = FetchRequest<DictionaryResult>(entityName: "Product")
        values.propertiesToFetch = ["name", "shop.name"]
        values.sortDescriptors = [SortKey("name")]
        let rows = try context.fetch(values)
        #expect(rows.map { $0["name"] as? String } == ["a", "b", "c"])
        #expect(rows.map { $0["shop.name"] as? String } == ["corner", "corner", "corner"])
        #expect(try await context.fetchAsynchronously(values).count == 3)
        #expect(try context.explain(FetchRequest(entityName: "Product")).results == 3)
    }

    @Test("Lazy batches are read in the pinned state", arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("name")]
        request.fetchBatchSize = 1
        let lazy = try context.fetchLazily(request)
        try market.change()
        #expect(lazy.map { $0.string("name") } == ["a", "b", "c"])
        #expect(try context.fetchLazily(request).map { $0.string("name") } == ["a", "b", "c"])
    }

    @Test("Faults fire in the pinned state, deleted rows among them", arguments: Backend.allCases)
    func faults(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        let changed = context.object(with: market.products[0])
        try market.change()
        #expect(changed.isFault)
        #expect(changed.string("name") == "a")
        let deleted = try context.existingObject(with: market.products[1])
        #expect(deleted.string("name") == "b")
        #expect(!deleted.isDeleted)
    }

    @Test("Relationships lead where they led in the pinned state", arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        try market.change()
        let shop = context.object(with: market.shop)
        #expect(names(shop.members("products")) == ["a", "b", "c"])
        #expect(names(context.object(with: market.tag).members("products")) == ["a", "b", "c"])
        #expect(context.object(with: market.products[0]).object("shop") === shop)
        #expect(shop.objectIDs(forRelationshipNamed: "products") == market.products)
        // Read ahead.
        let ahead = market.stack.context()
        try ahead.setQueryGeneration(from: context.queryGenerationToken)
        var request = FetchRequest(entityName: "Shop")
        request.relationshipKeyPathsForPrefetching = ["products.tags"]
        let shops = try ahead.fetch(request)
        #expect(names(shops[0].members("products")) == ["a", "b", "c"])
        #expect(shops[0].members("products").allSatisfy { $0.members("tags").count == 1 })
    }

    @Test(
        "Who leads to a deleted object by a one-way reference is found in the pinned state",
        arguments: Backend.allCases)
    func referrers(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let hero = context.make("Person", ["name": "hero"])
            return [hero, context.make("Person", ["name": "pupil", "mentor": hero])]
        }
        let context = stack.context()
        try context.setQueryGeneration(from: .current)
        let hero = try context.existingObject(with: ids[0])
        let other = stack.context()
        other.object(with: ids[1])["mentor"] = nil
        try other.save()
        context.delete(hero)
        context.processPendingChanges()
        // In the pinned state the pupil leads to the hero still.
        #expect(context.updatedObjects.map(\.objectID) == [ids[1]])
    }

    @Test("Refreshing brings objects to the pinned state", arguments: Backend.allCases)
    func refreshing(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        let object = context.object(with: market.products[0])
        #expect(object.string("name") == "a")
        try market.change()
        context.refresh(object, mergeChanges: false)
        #expect(object.string("name") == "a")
        object["note"] = "mine"
        context.refresh(object, mergeChanges: true)
        #expect(object.string("name") == "a")
        context.refreshAllObjects()
        #expect(object.string("name") == "a")
        #expect(object.string("note") == "mine")
        var request = FetchRequest(entityName: "Product")
        request.shouldRefreshRefetchedObjects = true
        #expect(names(try context.fetch(request)) == ["a", "b", "c"])
    }

    @Test(
        "What is not there yet in the pinned state is there in a later one",
        arguments: Backend.allCases)
    func notYetThere(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        let new = try market.stack.store {
            [$0.make("Product", ["serialCode": "new", "name": "new"])]
        }[0]
        let object = context.object(with: new)
        #expect(object["name"] == nil)
        #expect(object.isDeleted)
        try context.setQueryGeneration(from: nil)
        #expect(!object.isDeleted)
        #expect(object.string("name") == "new")
        #expect(try context.find("Product", "name", .string("new")) == [object])
        // The same without changing the state: somebody inserts it again under its id.
        let other = market.stack.context()
        other.undoHistory = UndoHistory()
        other.delete(other.object(with: new))
        try other.save()
        context.refresh(object, mergeChanges: false)
        #expect(object["name"] == nil && object.isDeleted)
        #expect(storeError { _ = try context.existingObject(with: new) }?.code == .objectNotFound)
        other.undo()
        try other.save()
        #expect(try context.find("Product", "name", .string("new")) == [object])
        #expect(object.string("name") == "new" && !object.isDeleted)
    }

    @Test(
        "An object of which the pinned state cannot tell the class has its own in a later one",
        arguments: Backend.allCases)
    func unknownClass(_ backend: Backend) throws {
        final class Vehicle: ManagedObject {}
        final class Racer: ManagedObject {}
        let stack = try Stack(
            Models.vehicles, backend,
            classes: ObjectClasses(["Car": Vehicle.self, "SportCar": Racer.self]))
        let context = stack.context()
        try context.setQueryGeneration(from: .current)
        #expect(try context.count("Car") == 0)
        let ids = try stack.store { context in
            (0..<3).map { (number: Int) in
                context.make("SportCar", ["racingNumber": number, "numberPlate": "\(number)"])
            }
        }
        let early = ids.map { context.object(with: $0) }
        #expect(early[0]["numberPlate"] == nil)
        try context.setQueryGeneration(from: nil)
        var request = FetchRequest<Racer>(entityName: "SportCar")
        request.sortDescriptors = [SortKey("racingNumber")]
        let cars = try context.fetch(request)
        #expect(cars.map { $0.int("racingNumber") } == [0, 1, 2])
        #expect(try context.find("Car", "numberPlate", .string("1")) == [cars[1]])
        #expect(context.object(with: ids[2]) === cars[2])
        #expect(early.allSatisfy { $0.managedObjectContext == nil && $0["numberPlate"] == nil })
    }

    @Test("Unsaved changes are laid over the pinned state", arguments: Backend.allCases)
    func overlay(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        try market.change()
        context.make("Product", ["serialCode": "n", "name": "n"])
        context.object(with: market.products[0])["name"] = "y"
        context.delete(context.object(with: market.products[2]))
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("name")]
        #expect(try context.fetch(request).map { $0.string("name") } == ["b", "n", "y"])
        #expect(try context.count("Product") == 3)
    }

    @Test(
        "Without a generation again a context reads the newest state", arguments: Backend.allCases)
    func unpinning(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        let held = try context.all("Product")
        try market.change()
        try context.setQueryGeneration(from: nil)
        #expect(context.queryGenerationToken == nil)
        // What was read stays until it is refreshed.
        #expect(names(held) == ["a", "b", "c"])
        context.refreshAllObjects()
        #expect(names(try context.all("Product")) == ["c", "d", "z"])
    }

    @Test("Contexts share a generation by its token", arguments: Backend.allCases)
    func sharing(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        try market.change()
        let other = market.stack.context()
        try other.setQueryGenerationFrom(context.queryGenerationToken)
        #expect(other.queryGenerationToken == context.queryGenerationToken)
        #expect(names(try other.all("Product")) == ["a", "b", "c"])
        // Two contexts that pin the same state have equal tokens.
        let one = try market.pinned()
        let two = try market.pinned()
        #expect(one.queryGenerationToken == two.queryGenerationToken)
        #expect(one.queryGenerationToken != context.queryGenerationToken)
        #expect(Set([one, two, context].map(\.queryGenerationToken)).count == 2)
    }

    @Test("The token of another store is refused", arguments: Backend.allCases)
    func foreign(_ backend: Backend) throws {
        let token = try Market(backend).pinned().queryGenerationToken
        let context = try Stack(Models.shop, backend).context()
        let error = storeError { try context.setQueryGeneration(from: token) }
        #expect(error?.code == .invalidRequest)
        #expect(context.queryGenerationToken == nil)
    }

    @Test(
        "A save is checked against what is stored, and keeps the generation if it fails",
        arguments: Backend.allCases)
    func conflict(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        try market.change()
        let token = context.queryGenerationToken
        // Both are read and edited after somebody else has changed and deleted them.
        context.object(with: market.products[0])["note"] = "mine"
        context.object(with: market.products[1])["note"] = "mine"
        let error = storeError { try context.save() }
        #expect(error?.code == .mergeConflict)
        #expect(Set(error?.versions.map(\.id) ?? []) == Set(market.products[...1]))
        #expect(context.queryGenerationToken === token)
        #expect(try context.count("Product") == 3)
        context.mergePolicy = .mergeByPropertyStoreTrump
        try context.save()
        let names = names(try context.all("Product"))
        #expect(names == ["c", "d", "z"])
    }

    @Test(
        "A save moves the context on to the state behind it", arguments: Backend.allCases, [1, 40])
    func advancing(_ backend: Backend, _ count: Int) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        let shared = context.queryGenerationToken
        try market.change()
        // Many new objects are saved another way than few.
        for number in 0..<count { context.make("Tag", ["label": "\(number)"]) }
        try context.save()
        let token = try #require(context.queryGenerationToken)
        #expect(token != shared && token != .current)
        #expect(try context.count("Tag") == count + 1)
        #expect(names(try context.all("Product")) == ["c", "d", "z"])
        try market.stack.store { [$0.make("Product", ["serialCode": "late"])] }
        #expect(try context.count("Product") == 3)
        // Whoever shares the old one keeps it.
        let other = market.stack.context()
        try other.setQueryGeneration(from: shared)
        #expect(try other.count("Tag") == 1)
    }

    @Test("A save that writes nothing leaves the context where it is", arguments: Backend.allCases)
    func emptySave(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        let token = context.queryGenerationToken
        let product = context.object(with: market.products[2])
        product["name"] = "c"
        try market.change()
        try context.save()
        #expect(context.queryGenerationToken === token)
        #expect(try context.count("Product") == 3)
        #expect(names(try context.all("Product")) == ["a", "b", "c"])
    }

    @Test(
        "Batch requests write to the newest state and do not move the context on",
        arguments: Backend.allCases)
    func batchRequests(_ backend: Backend) throws {
        let market = try Market(backend)
        let context = try market.pinned()
        let token = context.queryGenerationToken
        try context.execute(
            BatchInsertRequest(entityName: "Product", objects: [["serialCode": "x", "name": "x"]]))
        let everything = FetchRequest(
            entityName: "Product", predicate: .compare("name", .equal, .string("a")))
        try context.executeBatchDelete(everything)
        #expect(context.queryGenerationToken === token)
        #expect(names(try context.all("Product")) == ["a", "b", "c"])
        try context.setQueryGeneration(from: .current)
        #expect(try context.count("Product") == 3)
        #expect(names(try context.find("Product", "name", .string("x"))) == ["x"])
    }

    @Test(
        "A policy of one's own reads the newest state while it resolves",
        arguments: Backend.allCases)
    func policies(_ backend: Backend) throws {
        final class Looking: MergePolicy {
            var seen: [Int] = []

            override func resolve(mergeConflicts list: [Any]) throws {
                let conflict = try #require(list.first as? MergeConflict)
                let context = try #require(conflict.sourceObject.managedObjectContext)
                seen.append(try context.count("Shop"))
                try super.resolve(mergeConflicts: list)
            }
        }
        let market = try Market(backend)
        let policy = Looking(merge: .mergeByPropertyObjectTrump)
        let context = try market.pinned(policy)
        try market.change()
        try market.stack.store { [$0.make("Shop", ["name": "market"])] }
        context.object(with: market.products[0])["note"] = "mine"
        #expect(try context.count("Shop") == 1)
        try context.save()
        #expect(policy.seen == [2])
        #expect(try context.count("Shop") == 2)
        let stored = try market.stack.context().existingObject(with: market.products[0])
        #expect(stored.string("note") == "mine")
        #expect(stored.string("name") == "z")
    }

    @Test(
        "A pinned view of a background context stays from turn to turn", arguments: Backend.allCases
    )
    func turns(_ backend: Backend) async throws {
        let market = try Market(backend)
        let background = market.stack.container.newBackgroundContext()
        let token = try await background.perform { context in
            try context.setQueryGeneration(from: .current)
            _ = try context.count("Product")
            return context.queryGenerationToken
        }
        try market.change()
        let seen = try await background.perform { context in
            try context.all("Product").map { $0.string("name") ?? "" }.sorted()
        }
        #expect(seen == ["a", "b", "c"])
        // The token is a value that may leave the context.
        let count = try await market.stack.container.performBackgroundTask { context in
            try context.setQueryGeneration(from: token)
            return try context.find("Product", "name", .string("b")).count
        }
        #expect(count == 1)
    }
}
