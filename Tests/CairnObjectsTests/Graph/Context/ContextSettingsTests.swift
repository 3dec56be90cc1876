// Settings of a context: what refreshing reads, what a missing row means, who saves, when rules are applied.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

/// A product that notes why it shows other values.
private final class Awakened: ManagedObject {
    var events: [SnapshotEvents] = []

    override func awakeFromSnapshotEvents(_ events: SnapshotEvents) {
        super.awakeFromSnapshotEvents(events)
        self.events.append(events)
    }
}

@Suite("Settings of a context")
struct ContextSettingsTests {
    private func prepare(_ backend: Backend, classes: ObjectClasses = ObjectClasses()) throws -> (
        Stack, [ObjectID]
    ) {
        let stack = try Stack(Models.shop, backend, classes: classes)
        let ids = try stack.store { context in
            ["a", "b"].map { context.make("Product", ["serialCode": $0, "note": "old"]) }
        }
        return (stack, ids)
    }

    private func upsert(_ note: String, _ context: ManagedObjectContext) throws {
        var request = BatchInsertRequest(
            entityName: "Product", objects: [["serialCode": "a", "note": note]])
        request.mergePolicy = .mergeByPropertyObjectTrump
        try context.execute(request)
    }

    // MARK: Staleness

    @Test(
        "B074: After a batch of its own a context shows what it showed, and after a refresh what the batch has written",
        arguments: Backend.allCases)
    func ownBatches(_ backend: Backend) throws {
        let (stack, ids) = try prepare(backend)
        let context = stack.context()
        let product = context.object(with: ids[0])
        product["price"] = 3.0
        try context.save()
        try upsert("new", context)
        #expect(product.string("note") == "old")
        context.refresh(product, mergeChanges: false)
        #expect(product.isFault && product.string("note") == "new")
        // A row that says nothing of the price has its default.
        #expect(product["price"] as? Double == 0)
        try upsert("newer", context)
        context.refreshAllObjects()
        #expect(product.isFault && product.string("note") == "newer")
        var update = BatchUpdateRequest(entityName: "Product")
        update.propertiesToUpdate = ["note": .value(.string("updated"))]
        try context.execute(update)
        product["price"] = 4.0
        context.refresh(product, mergeChanges: true)
        #expect(product.string("note") == "updated" && product["price"] as? Double == 4)
        update.propertiesToUpdate = ["note": .value(.string("again"))]
        try context.execute(update)
        context.refreshAllObjects()
        #expect(product.string("note") == "again" && product["price"] as? Double == 4)
        try context.save()
        let other = context.object(with: ids[1])
        #expect(other.string("note") == "again")
        try context.execute(BatchDeleteRequest(entityName: "Product"))
        context.refreshAllObjects()
        #expect(product["note"] == nil && product.isDeleted)
        context.refresh(other, mergeChanges: false)
        #expect(other["note"] == nil && other.isDeleted)
    }

    @Test(
        "A child context shows after a refresh what a batch of its own has written",
        arguments: Backend.allCases)
    func batchesOfChildren(_ backend: Backend) throws {
        let (stack, ids) = try prepare(backend)
        let parent = stack.context()
        let above = parent.object(with: ids[0])
        let onlyAbove = parent.object(with: ids[1])
        #expect(above.string("note") == "old" && onlyAbove.string("note") == "old")
        let child = parent.newChildContext()
        let product = child.object(with: ids[0])
        #expect(product.string("note") == "old")
        try upsert("new", child)
        #expect(product.string("note") == "old")
        child.refreshAllObjects()
        #expect(product.string("note") == "new")
        // Of what it has not had it shows no more than its parent does, which is refreshed, too.
        var update = BatchUpdateRequest(entityName: "Product")
        update.propertiesToUpdate = ["note": .value(.string("by update"))]
        try child.execute(update)
        child.refreshAllObjects()
        #expect(child.object(with: ids[1]).string("note") == "by update")
        #expect(onlyAbove.string("note") == "by update")
        above["price"] = 2.0
        try upsert("newer", child)
        child.refresh(product, mergeChanges: false)
        #expect(product.string("note") == "newer" && product["price"] as? Double == 2)
        try parent.save()
    }

    @Test(
        "What is fetched is shown as it is stored, and an edit is laid over it",
        arguments: Backend.allCases)
    func fetching(_ backend: Backend) throws {
        let (stack, ids) = try prepare(backend)
        let context = stack.context()
        let product = context.object(with: ids[0])
        #expect(product.string("note") == "old")
        try upsert("new", context)
        context.refreshAllObjects()
        #expect(try context.find("Product", "serialCode", .string("a")) == [product])
        #expect(product.string("note") == "new")
        try upsert("newer", context)
        product["price"] = 1.0
        context.refresh(product, mergeChanges: true)
        #expect(product.string("note") == "newer" && product["price"] as? Double == 1)
        try context.save()
        var lazily = FetchRequest(entityName: "Product")
        lazily.fetchBatchSize = 1
        try upsert("newest", context)
        context.refreshAllObjects()
        #expect(try context.fetchLazily(lazily).map { $0.string("note") } == ["newest", "old"])
    }

    @Test(
        "What somebody has saved is always shown by a refresh, before a batch request and after it",
        arguments: Backend.allCases)
    func savedByOthers(_ backend: Backend) throws {
        let (stack, ids) = try prepare(backend)
        let context = stack.context()
        let products = ids.map { context.object(with: $0) }
        #expect(products.map { $0.string("note") } == ["old", "old"])
        let others = stack.context()
        others.object(with: ids[1])["note"] = "saved"
        try others.save()
        try upsert("batch", context)
        for product in products { context.refresh(product, mergeChanges: false) }
        #expect(products.map { $0.string("note") } == ["batch", "saved"])
        context.refreshAllObjects()
        #expect(products.map { $0.string("note") } == ["batch", "saved"])
        // From there on nobody but the context has written.
        try upsert("third", context)
        context.refreshAllObjects()
        #expect(products[0].string("note") == "third")
        others.refreshAllObjects()
        others.object(with: ids[1])["note"] = "again"
        try others.save()
        context.refreshAllObjects()
        #expect(products.map { $0.string("note") } == ["third", "again"])
    }

    // MARK: Missing rows

    @Test("The program is asked about an object whose row is gone", arguments: Backend.allCases)
    func inaccessible(_ backend: Backend) throws {
        let (stack, ids) = try prepare(backend)
        let context = stack.context()
        let objects = ids.map { context.object(with: $0) }
        let deleter = stack.context()
        for id in ids { deleter.delete(deleter.object(with: id)) }
        try deleter.save()
        var asked: [ObjectID] = []
        var properties: [String?] = []
        context.shouldHandleInaccessibleFault = { object, property in
            asked.append(object.objectID)
            properties.append(property)
            return object.objectID == ids[0]
        }
        #expect(objects[0].string("note") == nil && objects[0].isDeleted)
        #expect(objects[1].string("note") == nil && !objects[1].isDeleted)
        #expect(asked == ids && properties == ["note", "note"])
        #expect(storeError { _ = try context.count("Product") }?.code == .objectNotFound)
        // What throws does not ask.
        try objects[1].fulfill()
        #expect(asked == ids && objects[1].isDeleted)
    }

    // MARK: Snapshot events

    @Test("Objects are told why they show other values", arguments: Backend.allCases)
    func snapshotEvents(_ backend: Backend) throws {
        let (stack, ids) = try prepare(backend, classes: ObjectClasses(["Product": Awakened.self]))
        let context = stack.context()
        let product = try #require(context.object(with: ids[0]) as? Awakened)
        product["note"] = "edited"
        context.rollback()
        #expect(product.events == [.rollback] && product.string("note") == "old")
        product["note"] = "edited"
        context.refresh(product, mergeChanges: true)
        #expect(product.events == [.rollback, .refresh])
        let other = stack.context()
        other.object(with: ids[0])["price"] = 2.0
        try other.save()
        final class Own: MergePolicy {}
        context.mergePolicy = Own(merge: .mergeByPropertyObjectTrump)
        try context.save()
        #expect(product.events == [.rollback, .refresh, .mergePolicy])
        #expect(
            SnapshotEvents.undoInsertion.rawValue == 2 && SnapshotEvents.mergePolicy.rawValue == 64)
    }

    // MARK: Autosave

    @Test("A view context saves by itself when the main actor is free", arguments: Backend.allCases)
    @MainActor func autosave(_ backend: Backend) async throws {
        let container = try Stack(Models.shop, backend).container
        var saves = container.saves.inTime().makeAsyncIterator()
        let context = container.viewContext
        context.autosaveEnabled = true
        context.make("Product", ["serialCode": "a"])
        let first = try #require(await saves.next(isolation: #isolation))
        #expect(first.insertedObjectIDs.count == 1 && !context.hasChanges)
        // From a child it goes on.
        let child = context.newChildContext()
        child.autosaveEnabled = true
        child.make("Product", ["serialCode": "b"])
        let second = try #require(await saves.next(isolation: #isolation))
        #expect(second.insertedObjectIDs.count == 1 && !child.hasChanges)
        #expect(context.autosaveError == nil)
    }

    @Test(
        "A background context saves by itself after a turn, unless that throws; what fails is kept",
        arguments: Backend.allCases)
    func autosaveInBackground(_ backend: Backend) async throws {
        struct Stop: Error {}
        let stack = try Stack(Models.shop, backend)
        let background = stack.container.newBackgroundContext()
        await background.perform { context in
            context.autosaveEnabled = true
            context.make("Product", ["serialCode": "a"])
        }
        #expect(try stack.context().count("Product") == 1)
        do {
            try await background.perform { context in
                context.make("Product", ["serialCode": "b"])
                throw Stop()
            }
        } catch {}
        #expect(try stack.context().count("Product") == 1)
        await background.perform { context in
            _ = context.make("Product", ["serialCode": "a"])
        }
        let code = await background.perform { context in
            let code = (context.autosaveError as? StoreError)?.code
            context.autosaveEnabled = false
            context.mergePolicy = .mergeByPropertyStoreTrump
            return code
        }
        #expect(code == .constraintConflict)
        try await background.perform { try $0.save() }
        #expect(try stack.context().count("Product") == 2)
    }

    // MARK: Rules

    @Test(
        "Delete rules can be left to the save", arguments: Backend.allCases)
    func lateRules(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let id = try stack.store { context in
            let parent = context.make("Person", ["name": "parent"])
            return [parent, context.make("Person", ["name": "child", "parent": parent])]
        }
        let context = stack.context()
        context.propagatesDeletesAtEndOfEvent = false
        let child = context.object(with: id[1])
        context.delete(context.object(with: id[0]))
        context.processPendingChanges()
        #expect(!child.isDeleted && child.object("parent") != nil)
        #expect(try context.count("Person") == 1)
        context.rollback()
        #expect(try context.count("Person") == 2)
        context.delete(context.object(with: id[0]))
        context.processPendingChanges()
        try context.save()
        #expect(child.isDeleted)
        #expect(try stack.context().count("Person") == 0)
    }

    @Test("A context carries what the program gives it", arguments: Backend.allCases)
    func userInfo(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        context.userInfo["purpose"] = "import"
        #expect(context.userInfo["purpose"] as? String == "import")
        #expect(context.newChildContext().userInfo.isEmpty)
    }
}
