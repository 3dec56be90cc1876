// Lists that follow, as asynchronous sequences of snapshots.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Results as a sequence")
struct ResultsSequenceTests {
    private var request: FetchRequest<ManagedObject> {
        var request = FetchRequest(
            entityName: "Product", predicate: .compare("price", .less, .double(10)))
        request.sortDescriptors = [SortKey("note"), SortKey("name")]
        return request
    }

    @Test(
        "A list of a child shows the ids that its parent's save, or asking for them, has given",
        arguments: Backend.allCases, [true, false])
    func children(_ backend: Backend, _ saves: Bool) throws {
        let stack = try Stack(Models.shop, backend)
        let parent = stack.context()
        let child = ManagedObjectContext(parent: parent)
        // More than a few go another way.
        for count in [2, 40] {
            let new = (0..<count).map { parent.make("Product", ["name": "\(count) \($0)"]) }
            let controller = FetchedResultsController(
                fetchRequest: request, managedObjectContext: child)
            try controller.performFetch()
            let follower = Follower(controller)
            #expect(controller.snapshot?.itemIdentifiers.count { $0.isTemporary } == count)
            if saves { try parent.save() } else { try parent.obtainPermanentIDs(for: new) }
            let ids = try #require(controller.snapshot).itemIdentifiers
            #expect(ids.allSatisfy { !$0.isTemporary })
            #expect(Set(new.map(\.objectID)).isSubset(of: ids))
            #expect(follower.last?.itemIdentifiers == ids)
            try parent.save()
        }
    }

    /// What a controller tells.
    private final class Follower: FetchedResultsControllerDelegate {
        typealias Result = ManagedObject
        private(set) var last: FetchedResultsSnapshot?

        init(_ controller: FetchedResultsController<ManagedObject>) {
            controller.delegate = self
        }

        func controller(
            _ controller: FetchedResultsController<ManagedObject>,
            didChangeContentWith snapshot: FetchedResultsSnapshot
        ) {
            last = snapshot
        }
    }

    @Test(
        "A snapshot of what there is comes first, then one after each change",
        arguments: Backend.allCases)
    @MainActor func following(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.products(3)
        let view = stack.container.viewContext
        view.automaticallyMergesChangesFromParent = true
        var results = try view.results(of: request, sectionedBy: "note")
            .inTime().makeAsyncIterator()
        let first = try #require(await results.next(isolation: #isolation))
        #expect(first.itemIdentifiers == ids && first.sectionIdentifiers == [""])
        // An edit that is not saved.
        view.object(with: ids[1])["note"] = "n"
        let second = try #require(await results.next(isolation: #isolation))
        #expect(second.sectionIdentifiers == ["", "n"])
        #expect(second.itemIdentifiers(inSection: "n") == [ids[1]])
        #expect(second.sectionIdentifier(containing: ids[2]) == "")
        #expect(second.numberOfItems(inSection: "") == 2)
        try view.save()
        // A batch request elsewhere; no object is made for it here.
        try await stack.container.performBackgroundTask { context in
            let rows: [[String: Any]] = [
                ["name": "9", "note": "a"], ["name": "x", "price": 50.0],
            ]
            _ = try context.execute(BatchInsertRequest(entityName: "Product", objects: rows))
        }
        let third = try #require(await results.next(isolation: #isolation))
        #expect(third.sectionIdentifiers == ["", "a", "n"] && third.numberOfItems == 4)
        let change = third.difference(from: second)
        #expect(second.itemIdentifiers.applying(change) == third.itemIdentifiers)
        #expect(change.insertions.count == 1 && change.removals.isEmpty)
        // Objects that are not in the context any more are told of, too.
        try await stack.container.performBackgroundTask { context in
            context.object(with: ids[0])["stock"] = 3
            try context.save()
        }
        let fourth = try #require(await results.next(isolation: #isolation))
        #expect(fourth == third && fourth.reconfiguredItemIdentifiers == [ids[0]])
        // A context that has no objects has nothing to forget, and tells nothing.
        let held = view.object(with: ids[0])
        view.reset()
        #expect(held.managedObjectContext == nil)
        let fifth = try #require(await results.next(isolation: #isolation))
        #expect(fifth == fourth)
    }

    @Test(
        "What the predicate, the sort and the sections ask of related objects is followed, whoever changes it",
        arguments: Backend.allCases)
    @MainActor func related(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shops = ["a", "b", "c"].map { context.make("Shop", ["name": $0]) }
            return shops
                + shops.map { shop in
                    let product = context.make("Product", ["name": "of \(shop.string("name")!)"])
                    product["shop"] = shop
                    return product
                }
        }
        let view = stack.container.viewContext
        view.automaticallyMergesChangesFromParent = true
        var asked = FetchRequest<ManagedObject>(
            entityName: "Shop", predicate: try PredicateNode(format: "ANY products.price > 5"))
        asked.sortDescriptors = [SortKey("name")]
        var shops = try view.results(of: asked).inTime().makeAsyncIterator()
        #expect(try await shops.next(isolation: #isolation)?.itemIdentifiers == [])
        var all = FetchRequest<ManagedObject>(entityName: "Product")
        all.sortDescriptors = [SortKey("shop.name"), SortKey("name")]
        var products = try view.results(of: all, sectionedBy: "shop.name")
            .inTime().makeAsyncIterator()
        let first = try #require(await products.next(isolation: #isolation))
        #expect(first.itemIdentifiers == Array(ids[3...]))
        #expect(first.sectionIdentifiers == ["a", "b", "c"])

        // Its own saves.
        view.object(with: ids[4])["price"] = 9.0
        try view.save()
        #expect(try await shops.next(isolation: #isolation)?.itemIdentifiers == [ids[1]])
        #expect(try await products.next(isolation: #isolation)?.itemIdentifiers == Array(ids[3...]))
        // Those of others: a product of another shop, which no object is held of here.
        try await stack.container.performBackgroundTask { context in
            context.object(with: ids[4])["shop"] = context.object(with: ids[2])
            try context.save()
        }
        #expect(try await shops.next(isolation: #isolation)?.itemIdentifiers == [ids[2]])
        let moved = try #require(await products.next(isolation: #isolation))
        #expect(moved.sectionIdentifiers == ["a", "c"])
        #expect(moved.itemIdentifiers(inSection: "c") == [ids[4], ids[5]])
        // A shop that all its products are sorted and sectioned by.
        try await stack.container.performBackgroundTask { context in
            context.object(with: ids[2])["name"] = "0"
            try context.save()
        }
        let renamed = try #require(await products.next(isolation: #isolation))
        #expect(renamed.sectionIdentifiers == ["0", "a"])
        #expect(renamed.itemIdentifiers == [ids[4], ids[5], ids[3]])
        let shown = try #require(await shops.next(isolation: #isolation))
        #expect(shown.itemIdentifiers == [ids[2]])
        #expect(shown.reconfiguredItemIdentifiers == [ids[2]])
        // A batch request.
        try await stack.container.performBackgroundTask { context in
            _ = try context.execute(
                BatchUpdateRequest(
                    entityName: "Product", propertiesToUpdate: ["price": 1.0],
                    predicate: .compare("price", .greater, .double(5))))
        }
        #expect(try await shops.next(isolation: #isolation)?.itemIdentifiers == [])
    }

    @Test("New objects come with temporary ids, and with permanent ones when they are saved")
    @MainActor func identifiers() async throws {
        let stack = try Stack(Models.shop, .log)
        let view = stack.container.viewContext
        var results = try view.results(of: request).inTime().makeAsyncIterator()
        #expect(try await results.next(isolation: #isolation)?.numberOfItems == 0)
        let new = view.make("Product", ["name": "new"])
        let second = try #require(await results.next(isolation: #isolation))
        #expect(second.itemIdentifiers == [new.objectID] && new.objectID.isTemporary)
        try view.save()
        let third = try #require(await results.next(isolation: #isolation))
        #expect(third.itemIdentifiers == [new.objectID] && !new.objectID.isTemporary)
    }

    @Test("Who is slow gets the newest snapshot, and all that has changed in between")
    func slow() async throws {
        let stack = try Stack(Models.shop, .dictionary)
        let ids = try stack.products(4)
        let background = stack.container.newBackgroundContext()
        let request = request
        let results = try await background.perform { try $0.results(of: request) }
        var iterator = results.inTime().makeAsyncIterator()
        #expect(try await iterator.next()?.itemIdentifiers == ids)
        for id in ids[1...] {
            await background.perform { $0.object(with: id)["stock"] = 7 }
        }
        await background.perform { $0.object(with: ids[0])["name"] = "z" }
        let next = try #require(await iterator.next())
        #expect(next.itemIdentifiers == Array(ids[1...]) + [ids[0]])
        #expect(next.reconfiguredItemIdentifiers == Set(ids))
        // One that has left and come back shows other values; one that was changed and has left is not named.
        await background.perform { context in
            context.object(with: ids[2])["price"] = 50.0
            context.object(with: ids[3])["stock"] = 8
        }
        await background.perform { context in
            let object = context.object(with: ids[2])
            object["price"] = 1.0
            object["stock"] = 9
            context.object(with: ids[3])["price"] = 50.0
        }
        let third = try #require(await iterator.next())
        #expect(third.itemIdentifiers == [ids[1], ids[2], ids[0]])
        #expect(third.reconfiguredItemIdentifiers == [ids[2]])
        // What was not saved is forgotten, and so all is shown anew.
        await background.perform { $0.reset() }
        let fourth = try #require(await iterator.next())
        #expect(fourth.itemIdentifiers == ids && fourth.reconfiguredItemIdentifiers == Set(ids))
    }

    @Test("It ends when its task is cancelled, with its context, and by an error")
    func ends() async throws {
        let stack = try Stack(Models.shop, .dictionary)
        let request = request
        var background: BackgroundContext? = stack.container.newBackgroundContext()
        let results = try await #require(background).perform { try $0.results(of: request) }
        let task = Task {
            var count = 0
            for try await _ in results.inTime() { count += 1 }
            return count
        }
        background = nil
        #expect(try await task.value <= 1)
        let other = stack.container.newBackgroundContext()
        let cancelled = try await other.perform { try $0.results(of: request) }
        let waiting = Task {
            for try await _ in cancelled.inTime() {}
        }
        waiting.cancel()
        try await waiting.value
        // Sections that do not stand together any more.
        _ = try stack.store { context in
            ["a", "b", "c"].map { context.make("Product", ["name": $0, "note": $0]) }
        }
        var wrong = FetchRequest(entityName: "Product")
        wrong.sortDescriptors = [SortKey("name")]
        let asked = wrong
        var failing = try await other.perform { try $0.results(of: asked, sectionedBy: "note") }
            .inTime().makeAsyncIterator()
        #expect(try await failing.next()?.numberOfSections == 3)
        try await other.perform { context in
            try #require(try context.find("Product", "name", .string("c")).first)["note"] = "a"
        }
        await #expect(throws: StoreError.self) { _ = try await failing.next() }
    }
}
