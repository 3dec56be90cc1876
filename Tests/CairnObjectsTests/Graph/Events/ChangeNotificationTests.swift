// One change of a run of edits, as notifications.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("What changes in a context")
struct ChangeNotificationTests {
    private typealias Entry = NotificationRecorder.Entry

    @Test(
        "B125: An insertion is one change with one inserted object, and a reset one with the ids of all and nothing else",
        arguments: Backend.allCases)
    func insertionAndReset(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        let recorder = NotificationRecorder(context)
        let product = context.make("Product", ["name": "n", "price": 1.0])
        #expect(recorder.take().isEmpty)
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, inserted: 1)])
        context.processPendingChanges()
        #expect(recorder.take().isEmpty)
        context.reset()
        #expect(recorder.take() == [Entry(kind: .didChange, invalidatedAll: 1)])
        context.reset()
        #expect(recorder.take().isEmpty)
        withExtendedLifetime(product) {}
    }

    @Test(
        "What nobody was told of yet is no more after a reset but for its id",
        arguments: Backend.allCases)
    func resetOfUntold(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "old"])] }[0]
        let context = stack.context()
        let ids = Mutex<Set<ObjectID>>([])
        let recorder = NotificationRecorder(context) { _, notification in
            ids.withLock { $0 = notification.objectIDs(.invalidatedAllObjects) }
        }
        let new = context.make("Product")
        let old = context.object(with: id)
        old["name"] = "edited"
        let newID = new.objectID
        context.reset()
        #expect(recorder.take() == [Entry(kind: .didChange, invalidatedAll: 2)])
        #expect(ids.withLock { $0 } == [id, newID])
    }

    @Test("A run of edits is one change, with each object once", arguments: Backend.allCases)
    func oneChange(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.products(3)
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        let objects = ids.map { context.object(with: $0) }
        for round in 0..<3 {
            objects[0]["name"] = "round \(round)"
            objects[0]["price"] = Double(round)
        }
        let new = [context.make("Product"), context.make("Product", ["name": "n"])]
        new[0]["name"] = "m"
        objects[1]["note"] = "soon gone"
        context.delete(objects[1])
        context.delete(objects[1])
        context.processPendingChanges()
        #expect(
            recorder.take() == [Entry(kind: .didChange, inserted: 2, updated: 1, deleted: 1)])
        // The next run says only what is new in it.
        new[1]["name"] = "again"
        objects[0]["name"] = "again"
        objects[2]["name"] = "c"
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, updated: 3)])
        context.processPendingChanges()
        #expect(recorder.take().isEmpty)
    }

    @Test("A change names the objects themselves and their context", arguments: Backend.allCases)
    func objects(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        let names = Mutex<[String]>([])
        let recorder = NotificationRecorder(context) { _, notification in
            let seen = notification.objects(.insertedObjects).map { $0.string("name") ?? "" }
            let isOwn = notification.managedObjectContext?.name == "mine"
            names.withLock { $0 = seen.sorted() + (isOwn ? [] : ["foreign"]) }
            // By its raw key it is the same.
            let raw = notification.userInfo?["inserted"] as? Set<ManagedObject>
            if raw != notification.objects(.insertedObjects) {
                names.withLock { $0 = ["another set"] }
            }
        }
        context.name = "mine"
        context.make("Product", ["name": "a"])
        context.make("Product", ["name": "b"])
        context.processPendingChanges()
        #expect(names.withLock { $0 } == ["a", "b"])
        #expect(recorder.take().count == 1)
    }

    @Test("Setting a property to the value it has is told too", arguments: Backend.allCases)
    func sameValue(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "n"])] }[0]
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        let object = context.object(with: id)
        object["name"] = "n"
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, updated: 1)])
        #expect(object.changedValuesForCurrentEvent().isEmpty)
        object["name"] = "n"
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, updated: 1)])
        // Primitive values are nobody's business.
        object.setPrimitiveValue("p", forKey: "name")
        context.processPendingChanges()
        #expect(recorder.take().isEmpty)
    }

    @Test("An object that comes and goes in one run was never there", arguments: Backend.allCases)
    func comingAndGoing(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        let recorder = NotificationRecorder(context)
        context.delete(context.make("Product"))
        context.processPendingChanges()
        #expect(recorder.take().isEmpty)
        let told = context.make("Product")
        context.processPendingChanges()
        context.delete(told)
        context.processPendingChanges()
        #expect(
            recorder.take() == [
                Entry(kind: .didChange, inserted: 1), Entry(kind: .didChange, deleted: 1),
            ])
    }

    @Test(
        "Delete rules belong to the run: cascaded objects are deleted, freed ones updated",
        arguments: Backend.allCases)
    func deleteRules(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let id = try stack.store { context in
            let parent = context.make("Person", ["name": "p"])
            parent["spouse"] = context.make("Person", ["name": "s"])
            for name in ["a", "b"] {
                let child = context.make("Person", ["name": name, "parent": parent])
                context.make("Person", ["name": "\(name)'s", "parent": child])
            }
            return [parent]
        }[0]
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        context.delete(context.object(with: id))
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, updated: 1, deleted: 5)])
    }

    @Test("Both sides of a relationship are updated", arguments: Backend.allCases)
    func inverses(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let product = context.make("Product")
            return [product, context.make("Shop"), context.make("Tag")]
        }
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        let objects = ids.map { context.object(with: $0) }
        objects[0]["shop"] = objects[1]
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, updated: 2)])
        objects[2].add(objects[0], to: "products")
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, updated: 2)])
    }

    @Test(
        "Fetches, counts and turns of a background context end a run", arguments: Backend.allCases)
    func ends(_ backend: Backend) async throws {
        let container = try Stack(Models.shop, backend).container
        let background = container.newBackgroundContext()
        let recorder = try await background.perform { context in
            let recorder = NotificationRecorder(context)
            context.make("Product")
            _ = try context.all("Product")
            context.make("Product")
            context.make("Product")
            _ = try context.count("Product")
            context.make("Product")
            _ = try context.fetchObjectIDs(FetchRequest(entityName: "Product"))
            _ = try context.fetch(FetchRequest<DictionaryResult>(entityName: "Product"))
            context.make("Product")
            return recorder
        }
        #expect(recorder.take().map(\.inserted) == [1, 2, 1, 1])
        await background.perform { context in
            for object in context.insertedObjects { object["name"] = "x" }
        }
        #expect(recorder.take() == [Entry(kind: .didChange, updated: 5)])
        await background.perform { _ in }
        #expect(recorder.take().isEmpty)
    }

    @Test("Refreshed objects are told once", arguments: Backend.allCases)
    func refreshing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.products(3)
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        let objects = ids.map { context.object(with: $0) }
        for object in objects { _ = object["name"] }
        context.refresh(objects[0], mergeChanges: false)
        context.refresh(objects[0], mergeChanges: true)
        context.refresh(objects[1], mergeChanges: true)
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, refreshed: 2)])
        objects[2]["name"] = "edited"
        context.refreshAllObjects()
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, updated: 1, refreshed: 2)])
        // An edit that refreshing drops was none.
        objects[1]["name"] = "edited"
        context.refresh(objects[1], mergeChanges: false)
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, refreshed: 1)])
        var request = FetchRequest(entityName: "Product")
        request.shouldRefreshRefetchedObjects = true
        let other = stack.context()
        other.object(with: ids[0])["name"] = "newer"
        try other.save()
        _ = try context.fetch(request)
        context.processPendingChanges()
        #expect(objects[0].string("name") == "newer")
        let refetched = recorder.take()
        #expect(refetched.count == 1 && refetched[0].refreshed >= 1)
    }

    @Test(
        "A rollback is one change: stored objects are refreshed, new ones that were told are gone",
        arguments: Backend.allCases)
    func rollback(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.products(2)
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        let told = context.make("Product")
        context.processPendingChanges()
        _ = recorder.take()
        context.make("Product", ["name": "never told"])
        told["name"] = "edited"
        let objects = ids.map { context.object(with: $0) }
        objects[0]["name"] = "edited"
        context.delete(objects[1])
        context.rollback()
        #expect(recorder.take() == [Entry(kind: .didChange, deleted: 1, refreshed: 2)])
        context.rollback()
        #expect(recorder.take().isEmpty)
        // Nothing of it is left over for the next run.
        objects[0]["name"] = "again"
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, updated: 1)])
        #expect(objects[0].changedValuesForCurrentEvent().isEmpty)
    }

    @Test("A row that turns out to be gone is a deleted object", arguments: Backend.allCases)
    func vanishing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "n"])] }[0]
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        let object = context.object(with: id)
        let other = stack.context()
        other.delete(other.object(with: id))
        try other.save()
        #expect(object.string("name") == nil)
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, deleted: 1)])
    }

    @Test(
        "Who is told may edit and fetch: that is told with the next run",
        arguments: Backend.allCases)
    func editingObservers(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        let found = Mutex<[Int]>([])
        let recorder = NotificationRecorder(context) { kind, notification in
            guard kind == .didChange, let context = notification.managedObjectContext else {
                return
            }
            for object in notification.objects(.insertedObjects)
            where object.entity.name == "Product" {
                object["note"] = "seen"
            }
            // Without end, if it were told at once.
            context.make("Tag")
            let count = try? context.count("Tag")
            found.withLock { $0.append(count ?? -1) }
        }
        context.make("Product")
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, inserted: 1)])
        #expect(found.withLock { $0 } == [1])
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, inserted: 1, updated: 1)])
        context.processPendingChanges()
        #expect(recorder.take() == [Entry(kind: .didChange, inserted: 1)])
    }

    @Test("Who is told may save, and all of it is told", arguments: Backend.allCases)
    func savingObservers(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        let failures = Mutex(0)
        let recorder = NotificationRecorder(context) { kind, notification in
            guard kind == .didChange, let context = notification.managedObjectContext,
                !notification.objects(.insertedObjects).isEmpty, context.name != "saving"
            else { return }
            context.name = "saving"
            context.make("Tag", ["label": "made while told"])
            do { try context.save() } catch { failures.withLock { $0 += 1 } }
        }
        context.make("Product")
        context.processPendingChanges()
        #expect(failures.withLock { $0 } == 0)
        #expect(
            recorder.take() == [
                Entry(kind: .didChange, inserted: 1), Entry(kind: .didChange, inserted: 1),
                Entry(kind: .willSave), Entry(kind: .didSave, inserted: 2),
                Entry(kind: .didSaveIDs, inserted: 2),
            ])
        #expect(!context.hasChanges)
    }

    @Test("Batch requests are told to nobody", arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        let recorder = NotificationRecorder(context)
        try context.execute(
            BatchInsertRequest(entityName: "Product", objects: [["serialCode": "x"]]))
        try context.executeBatchDelete(FetchRequest(entityName: "Product"))
        context.processPendingChanges()
        try context.save()
        #expect(recorder.take().isEmpty)
    }
}
