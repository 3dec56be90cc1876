// A child context reads what its parent shows.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Reading from a parent")
struct ReadingFromParentTests {
    private func shop(_ backend: Backend) throws -> (
        Stack, parent: ManagedObjectContext, child: ManagedObjectContext
    ) {
        let stack = try Stack(Models.shop, backend)
        try stack.store { context in
            let shop = context.make("Shop", ["name": "corner"])
            return ["a", "b", "c"].enumerated().map { number, code in
                context.make(
                    "Product",
                    ["serialCode": code, "price": Double(number), "shop": shop, "stock": number])
            }
        }
        let parent = stack.context()
        return (stack, parent, parent.newChildContext())
    }

    @Test(
        "A fetch in a child sees new, changed and deleted objects of the parent",
        arguments: Backend.allCases)
    func pending(_ backend: Backend) throws {
        let (_, parent, child) = try shop(backend)
        parent.make("Product", ["serialCode": "d", "price": 1.5])
        try #require(parent.find("Product", "serialCode", .string("a")).first)["price"] = 9.0
        parent.delete(try #require(parent.find("Product", "serialCode", .string("b")).first))
        let all = try child.all("Product", sortedBy: "price")
        #expect(all.map { $0.string("serialCode") } == ["d", "c", "a"])
        #expect(all.allSatisfy { $0.managedObjectContext === child && !$0.hasChanges })
        #expect(all[0].objectID.isTemporary && !all[0].isInserted)
        #expect(
            all.map(\.objectID) == (try parent.all("Product", sortedBy: "price")).map(\.objectID))
        #expect(try child.count("Product") == 3)
        let dear = FetchRequest(
            entityName: "Product", predicate: .compare("price", .greater, .double(5)))
        #expect(try child.fetch(dear).map { $0.string("serialCode") } == ["a"])
        #expect(try child.count(for: dear) == 1)
        #expect(!child.hasChanges)
    }

    @Test(
        "Sorting, offset and limit count what the parent has changed", arguments: Backend.allCases)
    func cut(_ backend: Backend) throws {
        let (_, parent, child) = try shop(backend)
        for number in 0..<5 { parent.make("Product", ["serialCode": "n\(number)", "price": 0.5]) }
        try #require(parent.find("Product", "serialCode", .string("c")).first)["price"] = -1.0
        child.make("Product", ["serialCode": "own", "price": 0.25])
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("price"), SortKey("serialCode")]
        request.fetchOffset = 1
        request.fetchLimit = 4
        let codes = try child.fetch(request).map { $0.string("serialCode") }
        #expect(codes == ["a", "own", "n0", "n1"])
        #expect(try child.count(for: request) == 4)
        #expect(try child.fetchObjectIDs(request).count == 4)
    }

    @Test(
        "Rows of values and groups count what the parent has not saved", arguments: Backend.allCases
    )
    func tables(_ backend: Backend) throws {
        let (_, parent, child) = try shop(backend)
        let other = parent.make("Shop", ["name": "market"])
        parent.make("Product", ["serialCode": "d", "price": 7.0, "shop": other])
        try #require(parent.find("Product", "serialCode", .string("a")).first)["shop"] = other
        var request = FetchRequest<DictionaryResult>(entityName: "Product")
        request.propertiesToGroupBy = ["shop.name"]
        request.propertiesToFetch = [
            "shop.name", .expression(try ExpressionDescription("count", "serialCode.@count")),
        ]
        request.sortDescriptors = [SortKey("shop.name")]
        let rows = try child.fetch(request)
        #expect(rows.map { $0["shop.name"] as? String } == ["corner", "market"])
        #expect(rows.map { $0["count"] as? Int } == [2, 2])
        #expect(try parent.fetch(request).map { $0["count"] as? Int } == [3])
    }

    @Test(
        "A fault of a child shows what the parent shows, not what is stored",
        arguments: Backend.allCases)
    func faults(_ backend: Backend) throws {
        let (stack, parent, child) = try shop(backend)
        let mine = try #require(parent.find("Product", "serialCode", .string("a")).first)
        mine["note"] = "unsaved"
        let fault = child.object(with: mine.objectID)
        #expect(fault.isFault)
        #expect(
            fault.string("note") == "unsaved" && fault.committedValues(forKeys: ["note"]).count == 1
        )
        // What others store is seen where the parent has not looked yet.
        let others = stack.context()
        for product in try others.all("Product") { product["note"] = "stored" }
        try others.save()
        #expect(
            try #require(child.find("Product", "serialCode", .string("b")).first).string("note")
                == "stored")
        mine["note"] = "later"
        #expect(fault.string("note") == "unsaved")
        child.refresh(fault, mergeChanges: false)
        #expect(fault.string("note") == "later")
        fault["price"] = 4.0
        mine["note"] = "last"
        child.refresh(fault, mergeChanges: true)
        #expect(fault.string("note") == "last" && fault["price"] as? Double == 4)
        #expect(fault.changedValues().keys.sorted() == ["price"])
    }

    @Test(
        "A child finds new objects of its parent by id, and not those that the parent has deleted",
        arguments: Backend.allCases)
    func byID(_ backend: Backend) throws {
        let (_, parent, child) = try shop(backend)
        let new = parent.make("Product", ["serialCode": "d"])
        #expect(child.registeredObject(for: new.objectID) == nil)
        let seen = try child.existingObject(with: new.objectID)
        #expect(seen !== new && seen.string("serialCode") == "d")
        #expect(child.registeredObject(for: new.objectID) === seen)
        let old = try #require(parent.find("Product", "serialCode", .string("a")).first)
        let fault = child.object(with: old.objectID)
        parent.delete(old)
        #expect(
            storeError { _ = try child.existingObject(with: old.objectID) }?.code == .objectNotFound
        )
        #expect(fault.string("serialCode") == nil && fault.isDeleted)
        child.shouldDeleteInaccessibleFaults = false
        let gone = parent.make("Product")
        let ghost = child.object(with: gone.objectID)
        parent.rollback()
        #expect(storeError { try ghost.fulfill() }?.code == .objectNotFound)
        #expect(try child.all("Product").count == 3)
    }

    @Test(
        "Members are those of the parent, new and deleted ones among them",
        arguments: Backend.allCases)
    func members(_ backend: Backend) throws {
        let (_, parent, child) = try shop(backend)
        let shop = try #require(parent.all("Shop").first)
        parent.make("Product", ["serialCode": "d", "shop": shop])
        parent.delete(try #require(parent.find("Product", "serialCode", .string("a")).first))
        try #require(parent.find("Product", "serialCode", .string("b")).first)["shop"] = nil
        let seen = child.object(with: shop.objectID)
        #expect(Set(seen.members("products").map { $0.string("serialCode") }) == ["c", "d"])
        #expect(seen.objectIDs(forRelationshipNamed: "products").count == 2)
        let member = try #require(child.find("Product", "serialCode", .string("d")).first)
        #expect(member.object("shop") === seen)
        // By tags, which are kept as pairs.
        let tag = parent.make("Tag", ["label": "x"])
        tag["products"] = try Set(parent.all("Product"))
        #expect(member.members("tags").map { $0.string("label") } == ["x"])
        let label = try #require(child.all("Tag").first)
        #expect(label.members("products").count == 3)
        #expect(!child.hasChanges)
    }

    @Test(
        "What is read ahead and some at a time comes from the parent too",
        arguments: Backend.allCases)
    func ahead(_ backend: Backend) throws {
        let (_, parent, child) = try shop(backend)
        let shop = parent.make("Shop", ["name": "market"])
        for number in 0..<5 {
            parent.make("Product", ["serialCode": "n\(number)", "price": 5.0, "shop": shop])
        }
        var request = FetchRequest(entityName: "Shop")
        request.sortDescriptors = [SortKey("name")]
        request.relationshipKeyPathsForPrefetching = ["products"]
        let shops = try child.fetch(request)
        #expect(shops.map { $0.members("products").count } == [3, 5])
        var some = FetchRequest(entityName: "Product")
        some.sortDescriptors = [SortKey("price"), SortKey("serialCode")]
        some.fetchBatchSize = 2
        let lazily = try child.fetchLazily(some)
        #expect(lazily.count == 8 && lazily[0].string("serialCode") == "a")
        try parent.save()
        // Their ids are others by now.
        #expect(lazily.map { $0.string("serialCode") }.suffix(5) == ["n0", "n1", "n2", "n3", "n4"])
        #expect(lazily.allSatisfy { !$0.objectID.isTemporary })
        some.includesPropertyValues = false
        let fresh = parent.newChildContext()
        #expect(try fresh.fetch(some).filter(\.isFault).count == 8)
    }

    @Test("An asynchronous fetch in a child sees the parent's changes", arguments: Backend.allCases)
    func asynchronously(_ backend: Backend) async throws {
        let (_, parent, child) = try shop(backend)
        parent.make("Product", ["serialCode": "d", "price": 8.0])
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("price", ascending: false)]
        let progress = FetchProgress()
        let found = try await child.fetchAsynchronously(request, progress: progress)
        #expect(found.map { $0.string("serialCode") } == ["d", "c", "b", "a"])
        var values = FetchRequest<DictionaryResult>(entityName: "Product")
        values.propertiesToFetch = ["serialCode"]
        #expect(try await child.fetchAsynchronously(values).count == 4)
        let cancelled = FetchProgress()
        cancelled.cancel()
        do {
            _ = try await child.fetchAsynchronously(request, progress: cancelled)
            Issue.record("a cancelled fetch has an answer")
        } catch {
            #expect(error.code == .cancelled)
        }
    }

    @Test(
        "A grandchild sees what its parent and its grandparent have not saved",
        arguments: Backend.allCases)
    func grandchild(_ backend: Backend) throws {
        let (_, parent, child) = try shop(backend)
        let grandchild = child.newChildContext()
        let shop = try #require(parent.all("Shop").first)
        let first = parent.make("Product", ["serialCode": "d", "price": 10.0, "shop": shop])
        child.make(
            "Product",
            ["serialCode": "e", "price": 11.0, "shop": child.object(with: shop.objectID)])
        child.object(with: first.objectID)["name"] = "from the child"
        let all = try grandchild.all("Product", sortedBy: "price")
        #expect(all.map { $0.string("serialCode") } == ["a", "b", "c", "d", "e"])
        #expect(all[3].string("name") == "from the child" && first.string("name") == "")
        #expect(Set(all.map { $0.object("shop") }).count == 1)
        #expect(all[4].object("shop")?.members("products").count == 5)
        #expect(grandchild.parent === child && child.parent === parent && parent.parent == nil)
    }

    @Test(
        "References without inverse are found through the parent when their target is deleted",
        arguments: Backend.allCases)
    func oneWay(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        try stack.store { context in
            let hero = context.make("Person", ["name": "hero"])
            let fan = context.make("Person", ["name": "fan", "mentor": hero])
            fan["heroes"] = Set([hero])
            return [hero, fan]
        }
        let parent = stack.context()
        let hero = try #require(parent.find("Person", "name", .string("hero")).first)
        parent.make("Person", ["name": "new", "mentor": hero])["heroes"] = Set([hero])
        try #require(parent.find("Person", "name", .string("fan")).first)["mentor"] = nil
        let child = parent.newChildContext()
        child.delete(child.object(with: hero.objectID))
        let people = try child.all("Person")
        #expect(people.count == 2)
        #expect(people.allSatisfy { $0.object("mentor") == nil && $0.members("heroes").isEmpty })
        try child.save()
        #expect(try parent.all("Person").allSatisfy { $0.object("mentor") == nil })
        try parent.save()
        #expect(try stack.context().all("Person").allSatisfy { $0.members("heroes").isEmpty })
    }

    @Test(
        "A child is given no query generation, and reads that of its parent",
        arguments: Backend.allCases)
    func generations(_ backend: Backend) throws {
        let (stack, parent, child) = try shop(backend)
        #expect(
            storeError { try child.setQueryGeneration(from: .current) }?.code == .invalidRequest)
        try child.setQueryGeneration(from: nil)
        try parent.setQueryGeneration(from: .current)
        #expect(try child.count("Product") == 3)
        try stack.store { [$0.make("Product", ["serialCode": "later"])] }
        #expect(try child.count("Product") == 3 && child.all("Product").count == 3)
        #expect(child.queryGenerationToken == nil)
        try parent.setQueryGeneration(from: nil)
        #expect(try child.count("Product") == 4)
    }

    @Test("Batch requests and plans of a child are the store's", arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let (stack, parent, child) = try shop(backend)
        parent.make("Product", ["serialCode": "mine"])
        try child.execute(
            BatchInsertRequest(entityName: "Product", objects: [["serialCode": "z"]]))
        #expect(try stack.context().count("Product") == 4)
        #expect(try child.count("Product") == 5)
        let deleted = try child.executeBatchDelete(
            FetchRequest(
                entityName: "Product", predicate: .compare("serialCode", .equal, .string("z"))))
        #expect(deleted.deletedCount == 1)
        #expect(try child.explain(FetchRequest(entityName: "Product")).results == 3)
    }
}
