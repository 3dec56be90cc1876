// Saves, as notifications.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("What a save posts")
struct SaveNotificationTests {
    private typealias Entry = NotificationRecorder.Entry

    @Test(
        "B127: Two inserts, one update, one delete, one save: the save carries 2, 1 and 1",
        arguments: Backend.allCases)
    func counts(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.products(2)
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        context.make("Product", ["serialCode": "a"])
        context.make("Product", ["serialCode": "b"])
        context.object(with: ids[0])["name"] = "edited"
        context.delete(context.object(with: ids[1]))
        try context.save()
        #expect(
            recorder.take() == [
                Entry(kind: .didChange, inserted: 2, updated: 1, deleted: 1),
                Entry(kind: .willSave),
                Entry(kind: .didSave, inserted: 2, updated: 1, deleted: 1),
                Entry(kind: .didSaveIDs, inserted: 2, updated: 1, deleted: 1),
            ])
    }

    @Test(
        "B121: A save carries the inserted, updated and deleted objects of that save only",
        arguments: Backend.allCases, [1, 40])
    func thatSaveOnly(_ backend: Backend, _ count: Int) throws {
        let context = try Stack(Models.shop, backend).context()
        let recorder = NotificationRecorder(context)
        // Many new objects are saved another way than few.
        let objects = (0..<count).map { context.make("Tag", ["label": "\($0)"]) }
        try context.save()
        #expect(
            recorder.take() == [
                Entry(kind: .didChange, inserted: count), Entry(kind: .willSave),
                Entry(kind: .didSave, inserted: count), Entry(kind: .didSaveIDs, inserted: count),
            ])
        for object in objects { object["label"] = "new \(object.string("label") ?? "")" }
        try context.save()
        #expect(recorder.take().last == Entry(kind: .didSaveIDs, updated: count))
        for object in objects { context.delete(object) }
        try context.save()
        #expect(
            recorder.take() == [
                Entry(kind: .didChange, deleted: count), Entry(kind: .willSave),
                Entry(kind: .didSave, deleted: count), Entry(kind: .didSaveIDs, deleted: count),
            ])
        try context.save()
        #expect(recorder.take().isEmpty)
    }

    @Test(
        "The ids of a save are permanent, and those under which its objects are stored",
        arguments: Backend.allCases, [1, 40])
    func ids(_ backend: Backend, _ count: Int) throws {
        let stack = try Stack(Models.shop, backend)
        let context = stack.context()
        let seen = Mutex<Set<ObjectID>>([])
        let hasTemporary = Mutex(false)
        let recorder = NotificationRecorder(context) { kind, notification in
            switch kind {
            case .didSaveIDs: seen.withLock { $0 = notification.objectIDs(.insertedObjectIDs) }
            case .didSave:
                let isTemporary = notification.objects(.insertedObjects).contains {
                    $0.objectID.isTemporary || $0.isInserted || $0.hasChanges
                }
                hasTemporary.withLock { $0 = isTemporary }
            default: break
            }
        }
        for number in 0..<count { context.make("Tag", ["label": "\(number)"]) }
        try context.save()
        #expect(!hasTemporary.withLock { $0 })
        let stored = try stack.context().fetchObjectIDs(FetchRequest(entityName: "Tag"))
        #expect(seen.withLock { $0 } == Set(stored))
        #expect(recorder.take().count == 4)
    }

    @Test(
        "That a save begins is posted before any object's work, and what is set then is saved",
        arguments: Backend.allCases)
    func beginning(_ backend: Backend) throws {
        let stack = try Stack(
            Models.shop, backend, classes: ObjectClasses(["Product": Witness.self]))
        let context = stack.context()
        let object = Witness(context: context)
        let hooks = Mutex<[NotificationRecorder.Entry.Kind: [String]]>([:])
        let recorder = NotificationRecorder(context) { kind, notification in
            let context = notification.managedObjectContext
            let objects = context?.registeredObjects.compactMap { $0 as? Witness } ?? []
            let events = objects.flatMap(\.events)
            hooks.withLock { $0[kind] = events }
            if kind == .willSave { for object in objects { object["note"] = "set then" } }
        }
        try context.save()
        let seen = hooks.withLock { $0 }
        #expect(seen[.willSave] == ["awakeFromInsert"])
        #expect(seen[.didSave]?.last == "didSave")
        #expect(recorder.take().map(\.kind).suffix(2) == [.didSave, .didSaveIDs])
        let stored = try stack.context().existingObject(with: object.objectID)
        #expect(stored.string("note") == "awake")
        #expect(stored.committedValues(forKeys: ["note"])["note"] as? String == "set then")
    }

    @Test(
        "A save that fails has begun and no more; its changes are told with the next one",
        arguments: Backend.allCases)
    func failure(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Tag", ["label": "taken"])] }
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        let tag = context.make("Tag", ["label": "taken"])
        #expect(throws: StoreError.self) { try context.save() }
        #expect(
            recorder.take() == [Entry(kind: .didChange, inserted: 1), Entry(kind: .willSave)])
        tag["label"] = "free"
        try context.save()
        #expect(
            recorder.take() == [
                Entry(kind: .didChange, updated: 1), Entry(kind: .willSave),
                Entry(kind: .didSave, inserted: 1), Entry(kind: .didSaveIDs, inserted: 1),
            ])
    }

    @Test(
        "A new object that is merged into a stored one was no insertion: the stored one is updated",
        arguments: Backend.allCases, [1, 40])
    func merging(_ backend: Backend, _ count: Int) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<2).map { context.make("Product", ["serialCode": "\($0)", "name": "old"]) }
        }
        let context = stack.context(.mergeByPropertyObjectTrump)
        let held = context.object(with: ids[0])
        #expect(held.string("name") == "old")
        let updated = Mutex<Set<ObjectID>>([])
        let recorder = NotificationRecorder(context) { kind, notification in
            if kind == .didSaveIDs {
                updated.withLock { $0 = notification.objectIDs(.updatedObjectIDs) }
            }
        }
        // Of the two stored ones the context has one.
        let new = (0..<(count + 2)).map {
            context.make("Product", ["serialCode": "\($0)", "name": "new"])
        }
        try context.save()
        #expect(new[0].absorbedInto == ids[0])
        #expect(held.string("name") == "new")
        let seen = recorder.take()
        #expect(seen[0] == Entry(kind: .didChange, inserted: count + 2))
        #expect(seen[1] == Entry(kind: .willSave))
        #expect(seen[2] == Entry(kind: .didChange, deleted: 2, refreshed: 1))
        #expect(seen[3] == Entry(kind: .didSave, inserted: count, updated: 1))
        #expect(seen[4] == Entry(kind: .didSaveIDs, inserted: count, updated: 2))
        #expect(seen.count == 5)
        #expect(updated.withLock { $0 } == Set(ids))
    }

    @Test(
        "A new object that gives way to a stored one leaves that alone",
        arguments: Backend.allCases, [1, 40])
    func givingWay(_ backend: Backend, _ count: Int) throws {
        let stack = try Stack(Models.shop, backend)
        try stack.store { [$0.make("Product", ["serialCode": "0", "name": "old"])] }
        let context = stack.context(.mergeByPropertyStoreTrump)
        let recorder = NotificationRecorder(context)
        for number in 0...count { context.make("Product", ["serialCode": "\(number)"]) }
        try context.save()
        let seen = recorder.take()
        #expect(seen.last == Entry(kind: .didSaveIDs, inserted: count))
        #expect(seen.contains(Entry(kind: .didChange, deleted: 1)))
    }

    @Test(
        "What a policy takes back is refreshed, and no part of the save",
        arguments: Backend.allCases)
    func takenBack(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.products(3)
        let context = stack.context(.rollback)
        let recorder = NotificationRecorder(context)
        let objects = ids.map { context.object(with: $0) }
        for object in objects { object["note"] = "mine" }
        let other = stack.context()
        other.object(with: ids[0])["name"] = "theirs"
        other.delete(other.object(with: ids[1]))
        try other.save()
        try context.save()
        #expect(
            recorder.take() == [
                Entry(kind: .didChange, updated: 3), Entry(kind: .willSave),
                Entry(kind: .didChange, deleted: 1, refreshed: 1),
                Entry(kind: .didSave, updated: 1), Entry(kind: .didSaveIDs, updated: 1),
            ])
        #expect(objects[0].string("name") == "theirs")
    }

    @Test(
        "A stored object that another one displaces is deleted by the save",
        arguments: Backend.allCases)
    func displacing(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<2).map { context.make("Product", ["serialCode": "\($0)"]) }
        }
        let context = stack.context(.overwrite)
        let recorder = NotificationRecorder(context)
        let held = context.object(with: ids[0])
        #expect(held.string("serialCode") == "0")
        context.make("Product", ["serialCode": "0"])
        context.make("Product", ["serialCode": "1"])
        try context.save()
        let seen = recorder.take()
        #expect(seen.suffix(3).first == Entry(kind: .didChange, deleted: 1))
        #expect(seen.suffix(2).first == Entry(kind: .didSave, inserted: 2, deleted: 1))
        #expect(seen.last == Entry(kind: .didSaveIDs, inserted: 2, deleted: 2))
        #expect(held.isDeleted)
    }

    @Test(
        "What an object sets when it was saved is a change of its own", arguments: Backend.allCases)
    func didSaveHooks(_ backend: Backend) throws {
        final class Restless: ManagedObject {
            override func didSave() { if self["note"] == nil { self["note"] = "saved" } }
        }
        let stack = try Stack(
            Models.shop, backend, classes: ObjectClasses(["Product": Restless.self]))
        let context = stack.context()
        let recorder = NotificationRecorder(context)
        context.make("Product")
        try context.save()
        #expect(recorder.take().last == Entry(kind: .didSaveIDs, inserted: 1))
        try context.save()
        #expect(
            recorder.take() == [
                Entry(kind: .didChange, updated: 1), Entry(kind: .willSave),
                Entry(kind: .didSave, updated: 1), Entry(kind: .didSaveIDs, updated: 1),
            ])
    }

    @Test("A pinned context says what state is behind its save", arguments: Backend.allCases)
    func generation(_ backend: Backend) throws {
        let context = try Stack(Models.shop, backend).context()
        try context.setQueryGeneration(from: .current)
        _ = try context.count("Product")
        let token = Mutex<QueryGenerationToken?>(nil)
        let recorder = NotificationRecorder(context) { kind, notification in
            guard kind == .didSave else { return }
            let key = ManagedObjectContext.NotificationKey.queryGeneration.rawValue
            token.withLock { $0 = notification.userInfo?[key] as? QueryGenerationToken }
        }
        context.make("Product")
        try context.save()
        #expect(token.withLock { $0 } != nil)
        #expect(token.withLock { $0 } == context.queryGenerationToken)
        #expect(recorder.take().filter { $0.others > 0 }.map(\.kind) == [.didSave])
    }
}
