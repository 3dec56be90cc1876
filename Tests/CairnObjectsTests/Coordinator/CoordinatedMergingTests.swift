// What is committed to one of several stores, as observers, containers and other contexts are told of it.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Synchronization
import Testing

@Suite("Changes of several stores")
struct CoordinatedMergingTests {
    /// What an observer was told: which store, and how many objects are new, changed and deleted.
    private struct Told: Equatable {
        var store: Int
        var inserted: Int
        var updated: Int
        var deleted: Int
    }

    /// Keeps what is told of the commits to some stores.
    private final class Observer: Sendable {
        private let stores: [UUID]
        private let kept = Mutex<[Told]>([])

        init(_ stores: [any PersistentStore]) { self.stores = stores.map(\.identity.identifier) }

        func receive(_ set: ChangeSet) {
            guard let inserted = try? set.insertedObjectIDs(),
                let updated = try? set.updatedObjectIDs(),
                let deleted = try? set.deletedObjectIDs(),
                let store = stores.firstIndex(of: set.identity.identifier)
            else {
                Issue.record("the changes cannot be read")
                return
            }
            let isOne = (inserted + updated + deleted).allSatisfy {
                $0.store == set.identity.identifier && $0.reference >> 32 == 0
            }
            #expect(isOne, "a set is about one store, in that store's numbers")
            let told = Told(
                store: store, inserted: inserted.count, updated: updated.count,
                deleted: deleted.count)
            kept.withLock { $0.append(told) }
        }

        func take() -> [Told] {
            kept.withLock { kept in
                defer { kept = [] }
                return kept
            }
        }
    }

    @Test(
        "Who observes a coordinator is told of the commits to each store, whoever made them",
        arguments: Backend.allCases)
    func observing(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let third = try backend.makeStore(stores.coordinator.schema)
        let observer = Observer(stores.stores + [third])
        let observation = stores.coordinator.observeChanges { observer.receive($0) }
        let context = stores.context()
        let near = context.make("Tag", ["label": "near"])
        let far = try context.make("Tag", in: stores.second, ["label": "far"])
        try context.save()
        #expect(
            observer.take() == [
                Told(store: 0, inserted: 1, updated: 0, deleted: 0),
                Told(store: 1, inserted: 1, updated: 0, deleted: 0),
            ])
        let alone = stores.alone(1)
        alone.object(with: far.objectID)["label"] = "farther"
        try alone.save()
        try context.execute(
            BatchInsertRequest(entityName: "Tag", objects: [["label": "x"], ["label": "y"]]))
        #expect(
            observer.take() == [
                Told(store: 1, inserted: 0, updated: 1, deleted: 0),
                Told(store: 0, inserted: 2, updated: 0, deleted: 0),
            ])
        // One that is added is observed, one that is removed is not.
        try stores.coordinator.add(third)
        try stores.coordinator.remove(stores.second, closes: false)
        try context.make("Tag", in: third)
        context.delete(near)
        try context.save()
        #expect(
            observer.take() == [
                Told(store: 0, inserted: 0, updated: 0, deleted: 1),
                Told(store: 2, inserted: 1, updated: 0, deleted: 0),
            ])
        alone.make("Tag")
        try alone.save()
        #expect(observer.take() == [])
        observation.cancel()
        context.make("Tag")
        try context.save()
        #expect(observer.take() == [])
        // Somebody else comes when nobody has observed for a while.
        let again = stores.coordinator.observeChanges { observer.receive($0) }
        try context.make("Tag", in: third)
        try context.save()
        #expect(observer.take() == [Told(store: 2, inserted: 1, updated: 0, deleted: 0)])
        withExtendedLifetime(again) {}
    }

    @Test(
        "Contexts merge what others write to any of the stores, each to its own objects",
        arguments: Backend.allCases)
    func merging(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context(.mergeByPropertyObjectTrump)
        context.automaticallyMergesChangesFromParent = true
        var tags: [ManagedObject] = []
        for store in stores.stores {
            tags.append(try context.make("Tag", in: store, ["label": "old"]))
        }
        try context.save()
        #expect(Set(tags.map(\.objectID.reference)).count == 1, "they have one number")
        let recorder = NotificationRecorder(context)
        // The context's own commits, to both stores, are none to be merged.
        for tag in tags { tag["label"] = "older" }
        try context.save()
        _ = recorder.take()
        context.processPendingChanges()
        #expect(recorder.take() == [])
        let alone = stores.alone(1)
        alone.object(with: tags[1].objectID)["label"] = "theirs"
        let product = alone.make("Product", ["tags": [alone.object(with: tags[1].objectID)]])
        try alone.save()
        tags[0]["label"] = "mine"
        context.processPendingChanges()
        #expect(tags.map { $0.string("label") } == ["mine", "theirs"])
        #expect(tags[0].members("products").isEmpty)
        #expect(tags[1].members("products").map(\.objectID) == [product.objectID])
        #expect(context.updatedObjects == [tags[0]])
        let entry = recorder.take().first { $0.kind == .didChange }
        #expect(entry?.refreshed == 1 && entry?.inserted == 1)
        // By a batch, more than are looked for one by one.
        _ = try stores.coordinator.execute(
            BatchInsertRequest(
                entityName: "Tag", objects: (0..<1500).map { ["label": "\($0)"] }))
        let all = try context.all("Tag")
        #expect(all.count == 1502)
        var request = StoreFetch(entity: tags[0].entity.index)
        request.affectedStores = [stores.first.identity.identifier]
        request.predicate = .compare("label", .beginsWith, .string("1"))
        let gone = try stores.coordinator.execute(BatchDeleteRequest(.fetch(request)))
        context.processPendingChanges()
        #expect(all.count { $0.isDeleted } == gone.deletedCount && gone.deletedCount > 500)
        #expect(!tags[0].isDeleted && !tags[1].isDeleted)
    }

    @Test("A container tells which store was written", arguments: Backend.allCases)
    func container(_ backend: Backend) async throws {
        let stores = try TwoStores(backend)
        let changes = stores.container.remoteChanges
        let saves = stores.container.saves
        let second = stores.second
        try await stores.container.performBackgroundTask { context in
            context.make("Tag")
            try context.make("Tag", in: second)
            try context.save()
        }
        var told = changes.inTime().makeAsyncIterator()
        var written: [UUID: UInt64] = [:]
        for _ in 0..<2 {
            let change = try #require(await told.next(isolation: #isolation))
            written[change.storeIdentifier] = change.commits.upperBound
            #expect(change.insertedObjectIDs.map(\.store) == [change.storeIdentifier])
        }
        var saved = saves.inTime().makeAsyncIterator()
        let save = try #require(await saved.next(isolation: #isolation))
        #expect(save.commits == written && written.count == 2)
        #expect(save.insertedObjectIDs.count == 2)
    }

    @Test(
        "After a batch to one store a refresh shows what it has written, and what somebody else writes to any",
        arguments: Backend.allCases)
    func ownBatches(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        let near = context.make("Product", ["serialCode": "A", "note": "old"])
        let far = try context.make(
            "Product", in: stores.second, ["serialCode": "B", "note": "old"])
        try context.save()
        func upsert(_ note: String) throws {
            var request = BatchInsertRequest(
                entityName: "Product", objects: [["serialCode": "A", "note": note]])
            request.mergePolicy = .mergeByPropertyObjectTrump
            try context.execute(request)
            context.refreshAllObjects()
        }
        try upsert("batch")
        #expect(near.string("note") == "batch" && far.string("note") == "old")
        // Its own save to both stores changes nothing about that.
        for store in stores.stores { try context.make("Tag", in: store) }
        try context.save()
        try upsert("batch again")
        #expect(near.string("note") == "batch again")
        let other = stores.context()
        other.object(with: far.objectID)["note"] = "theirs"
        try other.save()
        context.refreshAllObjects()
        #expect(near.string("note") == "batch again" && far.string("note") == "theirs")
    }
}
