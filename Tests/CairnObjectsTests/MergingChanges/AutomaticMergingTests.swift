// Contexts that bring themselves up to what others commit.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Synchronization
import Testing

@Suite("Contexts that merge by themselves")
struct AutomaticMergingTests {
    @Test(
        "B128: a context that does not merge keeps its old value after another saves, one that does shows the new one",
        arguments: Backend.allCases)
    func onAndOff(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { [$0.make("Tag", ["label": "old"])] }
        let (still, merging, other) = (stack.context(), stack.context(), stack.context())
        #expect(!still.automaticallyMergesChangesFromParent)
        merging.automaticallyMergesChangesFromParent = true
        #expect(merging.automaticallyMergesChangesFromParent)
        let tags = [still, merging].map { $0.object(with: ids[0]) }
        #expect(tags.map { $0.string("label") } == ["old", "old"])
        other.object(with: ids[0])["label"] = "new"
        try other.save()
        for context in [still, merging] { context.processPendingChanges() }
        #expect(tags.map { $0.string("label") } == ["old", "new"])
        // From the moment on at which it is switched off, or on.
        merging.automaticallyMergesChangesFromParent = false
        still.automaticallyMergesChangesFromParent = true
        other.object(with: ids[0])["label"] = "newer"
        try other.save()
        for context in [still, merging] { context.processPendingChanges() }
        #expect(tags.map { $0.string("label") } == ["newer", "new"])
    }

    @Test("The view context merges on the main actor, unasked", arguments: Backend.allCases)
    @MainActor func viewContext(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { [$0.make("Tag", ["label": "old"])] }
        let view = stack.container.viewContext
        view.automaticallyMergesChangesFromParent = true
        let tag = view.object(with: ids[0])
        #expect(tag.string("label") == "old")
        var changes = view.changes.inTime().makeAsyncIterator()
        let new = try await stack.container.performBackgroundTask { context in
            context.object(with: ids[0])["label"] = "new"
            let new = context.make("Tag", ["label": "second"])
            try context.save()
            return new.objectID
        }
        let first = try #require(await changes.next(isolation: #isolation))
        #expect(first.refreshedObjectIDs == Set(ids) && first.insertedObjectIDs == [new])
        #expect(tag.string("label") == "new" && !view.hasChanges)
        // Its own saves it does not merge.
        tag["label"] = "mine"
        view.make("Tag", ["label": "third"])
        try view.save()
        let own = try #require(await changes.next(isolation: #isolation))
        #expect(own.updatedObjectIDs == Set(ids) && own.insertedObjectIDs.count == 1)
        try stack.store { [$0.make("Tag", ["label": "fourth"])] }
        let other = try #require(await changes.next(isolation: #isolation))
        #expect(other.insertedObjectIDs.count == 1 && other.refreshedObjectIDs.isEmpty)
    }

    @Test("A background context merges in turns of its own", arguments: Backend.allCases)
    func background(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { [$0.make("Tag", ["label": "old"])] }
        let background = stack.container.newBackgroundContext()
        let changes = await background.changes
        let held = Mutex<[ObjectID]>([])
        try await background.perform { context in
            context.automaticallyMergesChangesFromParent = true
            // A strong reference for as long as the context lives.
            context.object(with: ids[0])["label"] = "mine"
            try context.save()
            context.object(with: ids[0])["label"] = "mine, not saved"
            let keys = context.updatedObjects.map(\.objectID)
            held.withLock { $0 = keys }
        }
        try await stack.container.performBackgroundTask { context in
            let tag = try context.existingObject(with: ids[0])
            tag["label"] = "theirs"
            try context.save()
        }
        var iterator = changes.inTime().makeAsyncIterator()
        var refreshed: Set<ObjectID> = []
        while refreshed.isEmpty {
            let change = try #require(await iterator.next(isolation: #isolation))
            refreshed = change.refreshedObjectIDs
        }
        #expect(refreshed == Set(ids) && held.withLock { $0 } == ids)
        let values = await background.perform { context in
            let tag = context.object(with: ids[0])
            return [
                tag.string("label"), tag.committedValues(forKeys: nil)["label"] as? String,
            ]
        }
        #expect(values == ["mine, not saved", "theirs"])
    }

    @Test("Neither the store nor a container keeps a context alive that merges")
    func noCycle() async throws {
        let stack = try Stack(Models.shop, .log)
        weak var byHand: ManagedObjectContext?
        weak var background: BackgroundContext?
        do {
            let context = stack.context()
            context.automaticallyMergesChangesFromParent = true
            byHand = context
            let actor = stack.container.newBackgroundContext()
            await actor.perform { $0.automaticallyMergesChangesFromParent = true }
            background = actor
            try stack.store { [$0.make("Tag", ["label": "a"])] }
            context.processPendingChanges()
            _ = await actor.perform { $0.registeredObjects.count }
        }
        #expect(byHand == nil)
        // The turn in which it merges may still hold the actor.
        await inTime(for: "the background context to go") {
            while background != nil { await Task.yield() }
        }
        try stack.store { [$0.make("Tag", ["label": "b"])] }
    }

    @Test(
        "Many commits are merged at once",
        arguments: Backend.allCases)
    func many(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<40).map { context.make("Product", ["serialCode": "\($0)", "stock": 0]) }
        }
        let mine = stack.context()
        mine.automaticallyMergesChangesFromParent = true
        let held = ids.map { mine.object(with: $0) }
        for object in held { try object.fulfill() }
        let recorder = NotificationRecorder(mine)
        let other = stack.context()
        let theirs = ids.map { other.object(with: $0) }
        for round in 1...200 {
            theirs[round % 39]["stock"] = round
            try other.save()
        }
        other.delete(theirs[39])
        try other.save()
        mine.processPendingChanges()
        #expect(recorder.take() == [.init(kind: .didChange, deleted: 1, refreshed: 39)])
        for (mine, theirs) in zip(held, theirs).dropLast() {
            #expect(mine["stock"] as? Int == theirs["stock"] as? Int)
        }
        #expect(held[39].isDeleted && held[39].string("serialCode") == "39")
    }

    @Test(
        "What could not be read is merged when it can be: all of it, since no more is known",
        arguments: Backend.allCases)
    func unreadable(_ backend: Backend) throws {
        let store = FailingStore(try backend.makeStore(try Schema(Models.shop)))
        let stack = Stack(store: store)
        let ids = try stack.store { context in
            (0..<5).map { context.make("Product", ["serialCode": "\($0)", "name": "old"]) }
        }
        let mine = stack.context()
        mine.automaticallyMergesChangesFromParent = true
        let held = ids.map { mine.object(with: $0) }
        for object in held { try object.fulfill() }
        held[1]["note"] = "mine"
        mine.processPendingChanges()
        let other = stack.context()
        for id in ids.prefix(3) { other.object(with: id)["name"] = "new" }
        other.delete(other.object(with: ids[3]))
        try other.save()
        store.isFailing = true
        mine.processPendingChanges()
        #expect(held.allSatisfy { $0.string("name") == "old" && !$0.isDeleted })
        #expect(throws: StoreError.self) { try mine.count("Product") }
        store.isFailing = false
        #expect(throws: StoreError.self) { try mine.save() }
        mine.processPendingChanges()
        #expect(held.prefix(3).allSatisfy { $0.string("name") == "new" })
        #expect(held[3].isDeleted && held[4].string("name") == "old")
        #expect(held[1].string("note") == "mine")
        try mine.save()
        #expect(try stack.context().find("Product", "note", .string("mine")).count == 1)
    }

    @Test("Edits that were made while others committed are neither lost nor in the way")
    @MainActor func busy() async throws {
        let stack = try Stack(Models.shop, .log)
        let ids = try stack.store { context in
            (0..<20).map { context.make("Product", ["serialCode": "\($0)", "stock": 0]) }
        }
        let view = stack.container.viewContext
        view.automaticallyMergesChangesFromParent = true
        let held = ids.map { view.object(with: $0) }
        for object in held { object["note"] = "edited" }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    do {
                        for round in 0..<10 {
                            try await stack.container.performBackgroundTask { context in
                                context.object(with: ids[task * 5 + round % 5])["stock"] = round
                                try context.save()
                            }
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        view.mergeWaitingChanges()
        try view.save()
        let fresh = stack.context()
        for (number, id) in ids.enumerated() {
            let product = fresh.object(with: id)
            #expect(product.string("note") == "edited")
            #expect(product["stock"] as? Int == 5 + number % 5)
        }
    }
}
