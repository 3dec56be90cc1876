// Contexts that hold objects of stores which they cannot write, or which are away for a while.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("Stores that cannot be written, or are away")
struct UnwritableStoresTests {
    @Test(
        "What others delete in a store that cannot be written does not keep a context from saving",
        arguments: Backend.allCases, [false, true])
    func deletedElsewhere(_ backend: Backend, isHeldAsFault: Bool) throws {
        let coordinator = try PersistentStoreCoordinator(Models.shop)
        let base = try backend.makeStore(coordinator.schema)
        let writer = ManagedObjectContext(store: base)
        let theirs = writer.make("Shop", ["name": "theirs"])
        try writer.save()
        try coordinator.add(SealedStore(base))
        try coordinator.add(try backend.makeStore(coordinator.schema))
        let context = ManagedObjectContext(store: coordinator)
        let shop = context.object(with: theirs.objectID)
        if !isHeldAsFault { #expect(shop.string("name") == "theirs") }
        writer.delete(theirs)
        try writer.save()
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.deletedObjectIDs: [shop.objectID]], into: [context])
        #expect(shop.isDeleted && context.hasChanges)
        let product = context.make("Product", ["name": "mine"])
        try context.save()
        #expect(!product.objectID.isTemporary && !context.hasChanges)
        product["name"] = "mine again"
        try context.save()
        #expect(try context.count("Product") == 1)
    }

    @Test(
        "Nor what others have deleted in a store that was removed then",
        arguments: Backend.allCases, [false, true])
    func deletedAndRemoved(_ backend: Backend, isHeldAsFault: Bool) throws {
        let stores = try TwoStores(backend)
        let maker = stores.context()
        let theirs = try maker.make("Shop", in: stores.second, ["name": "theirs"])
        try maker.save()
        let context = stores.context()
        let shop = context.object(with: theirs.objectID)
        if !isHeldAsFault { #expect(shop.string("name") == "theirs") }
        maker.delete(theirs)
        try maker.save()
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.deletedObjectIDs: [shop.objectID]], into: [context])
        #expect(shop.isDeleted)
        try stores.coordinator.remove(stores.second, closes: false)
        context.make("Product", ["name": "mine"])
        try context.save()
        #expect(!context.hasChanges && shop.isDeleted)
        try stores.coordinator.add(stores.second)
        #expect(try context.count("Shop") == 0 && context.count("Product") == 1)
    }

    @Test(
        "Another store that comes brings nothing back that others have deleted",
        arguments: Backend.allCases)
    func unrelated(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let maker = stores.context()
        let theirs = maker.make("Shop", ["name": "theirs"])
        try maker.save()
        let context = stores.context()
        let shop = context.object(with: theirs.objectID)
        maker.delete(theirs)
        try maker.save()
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.deletedObjectIDs: [shop.objectID]], into: [context])
        #expect(shop.isDeleted && context.deletedObjects == [shop])
        try stores.coordinator.add(try backend.makeStore(stores.coordinator.schema))
        #expect(try context.count("Shop") == 0)
        #expect(shop.isDeleted && context.deletedObjects == [shop])
        try context.save()
        #expect(!context.hasChanges)
    }

    /// A store that goes when it is to be saved to.
    private final class LeavingStore: PersistentStore {
        private let base: any PersistentStore
        private let leave: Mutex<(@Sendable () -> Void)?>

        init(_ base: any PersistentStore) {
            self.base = base
            leave = Mutex(nil)
        }

        func onSave(_ body: @escaping @Sendable () -> Void) { leave.withLock { $0 = body } }

        var identity: StoreIdentity { base.identity }
        var schema: Schema { base.schema }
        var isReadOnly: Bool { false }

        func snapshot() throws(StoreError) -> any StoreSnapshot { try base.snapshot() }
        func save(_ request: SaveRequest) throws(StoreError) -> SaveOutcome {
            leave.withLock { $0.take() }?()
            return try base.save(request)
        }
        func execute(_ request: BatchInsertRequest) throws(StoreError) -> BatchInsertResult {
            try base.execute(request)
        }
        func execute(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
            try base.execute(request)
        }
        func execute(_ request: BatchDeleteRequest) throws(StoreError) -> BatchDeleteResult {
            try base.execute(request)
        }
        func obtainPermanentIDs(forEntities entities: [Int]) throws(StoreError) -> [ObjectID] {
            try base.obtainPermanentIDs(forEntities: entities)
        }
        func observeChanges(_ receive: @escaping @Sendable (ChangeSet) -> Void)
            -> ChangeObservation
        {
            base.observeChanges(receive)
        }
        func close() throws(StoreError) { try base.close() }
    }

    @Test("A save whose store goes meanwhile saves the rest", arguments: Backend.allCases)
    func leaving(_ backend: Backend) throws {
        let coordinator = try PersistentStoreCoordinator(Models.shop)
        let leaving = LeavingStore(try backend.makeStore(coordinator.schema))
        let stays = try backend.makeStore(coordinator.schema)
        try coordinator.add(leaving)
        try coordinator.add(stays)
        let context = ManagedObjectContext(store: coordinator)
        let far = try context.make("Product", in: leaving, ["name": "far"])
        let near = try context.make("Product", in: stays, ["name": "near"])
        try context.save()
        far["note"] = "mine"
        near["note"] = "mine"
        leaving.onSave { try? coordinator.remove(leaving) }
        try context.save()
        #expect(far.isDeleted && !context.hasChanges)
        let fresh = ManagedObjectContext(store: stays)
        #expect(try fresh.all("Product").map { $0.string("note") } == ["mine"])
        // A store that is closed, and not removed, says so.
        try stays.close()
        near["note"] = "again"
        #expect(storeError { try context.save() }?.code == .unusable)
        #expect(context.updatedObjects == [near])
    }

    @Test(
        "So does one whose store goes while the save is prepared, or makes room for another",
        arguments: Backend.allCases, [false, true])
    func leavingEarlier(_ backend: Backend, isReplaced: Bool) throws {
        let coordinator = try PersistentStoreCoordinator(Models.shop)
        let (leaves, stays) = try (
            backend.makeStore(coordinator.schema), backend.makeStore(coordinator.schema)
        )
        try coordinator.add(leaves)
        try coordinator.add(stays)
        let context = ManagedObjectContext(store: coordinator)
        let far = try context.make("Product", in: leaves, ["name": "far"])
        let near = try context.make("Product", in: stays, ["name": "near"])
        try context.save()
        far["note"] = "mine"
        near["note"] = "mine"
        let token = NotificationCenter.default.addObserver(
            forName: ManagedObjectContext.willSaveObjectsNotification, object: context, queue: nil
        ) { _ in
            try? coordinator.remove(leaves, closes: false)
            if isReplaced { _ = try? coordinator.add(leaves) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.save()
        #expect(far.isDeleted != isReplaced && !context.hasChanges)
        #expect(
            try ManagedObjectContext(store: stays).all("Product").map { $0.string("note") }
                == ["mine"])
        #expect(
            try ManagedObjectContext(store: leaves).all("Product").map { $0.string("note") }
                == [isReplaced ? "mine" : nil])
    }

    @Test(
        "New objects that have their permanent ids wait for their store",
        arguments: Backend.allCases)
    func waiting(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        let product = try context.make("Product", in: stores.second, ["name": "new"])
        try context.obtainPermanentIDs(for: [product])
        let id = product.objectID
        try stores.coordinator.remove(stores.second, closes: false)
        #expect(try context.all("Product") == [product])
        #expect(product.string("name") == "new" && product.isInserted)
        let error = storeError { try context.save() }
        #expect(error?.code == .objectNotFound && error?.context.objectID == id)
        try stores.coordinator.add(stores.second)
        try context.save()
        #expect(try stores.counts("Product") == [0, 1] && product.objectID == id)
    }

    @Test(
        "A context that has read before it asked for anything notices another store in the place",
        arguments: Backend.allCases)
    func unasked(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let maker = stores.context()
        let theirs = try maker.make("Product", in: stores.second, ["name": "old", "price": 1.0])
        try maker.save()
        let context = stores.context()
        let product = try context.existingObject(with: theirs.objectID)
        product["note"] = "mine"
        let child = context.newChildContext()
        let shown = child.object(with: theirs.objectID)
        #expect(shown["price"] as? Double == 1)
        theirs["price"] = 2.0
        try maker.save()
        // The same store once more: contexts cannot know that it is no copy that went another way.
        try stores.coordinator.remove(stores.second, closes: false)
        try stores.coordinator.add(stores.second)
        #expect(try child.count("Product") == 1)
        #expect(shown["price"] as? Double == 2)
        #expect(product["price"] as? Double == 2 && product.string("note") == "mine")
        try context.save()
        #expect(try stores.alone(1).all("Product").map { $0.string("note") } == ["mine"])
    }

    private final class Flag: Sendable { let isSet = Atomic(false) }

    @Test("What is read and saved while another store comes and goes does not fail")
    func beside() async throws {
        let stores = try TwoStores(.log)
        let rounds = Campaign.count(60, whole: 200)
        let isDone = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2 {
                group.addTask {
                    let context = stores.context()
                    var count = 0
                    while !isDone.isSet.load(ordering: .relaxed) || count < 10 {
                        context.make("Tag", ["label": "\(number) \(count)"])
                        try context.save()
                        count += 1
                        #expect(try context.all("Tag").count >= count)
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                for round in 0..<rounds {
                    let drafts = try Backend.log.makeStore(stores.coordinator.schema)
                    try stores.coordinator.add(drafts)
                    let context = stores.context()
                    try context.make("Recipe", in: drafts, ["title": "\(round)"])
                    try context.save()
                    try stores.coordinator.remove(drafts)
                }
                isDone.isSet.store(true, ordering: .relaxed)
            }
            try await group.waitForAll()
        }
        #expect(try stores.counts("Recipe") == [0, 0])
    }

    @Test("Ids that no store can have given are nobody's", arguments: Backend.allCases)
    func numbers(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let context = stores.context()
        let tag = context.make("Tag", ["label": "a"])
        try context.save()
        let id = tag.objectID
        let far = ObjectID(
            store: id.store, hierarchy: id.hierarchy, reference: id.reference | 1 << 32)
        #expect(
            stores.coordinator.managedObjectID(forURIRepresentation: far.uriRepresentation) == nil)
        #expect(storeError { _ = try context.existingObject(with: far) }?.code == .objectNotFound)
        #expect(ObjectID(uriRepresentation: far.uriRepresentation) == nil)
        #expect(
            stores.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation) == id)
    }

    @Test(
        "A store is removed and replaced by what it is, not by its identifier",
        arguments: Backend.allCases)
    func sameIdentifier(_ backend: Backend) throws {
        let stores = try TwoStores(backend)
        let old = stores.second
        let new = SealedStore(old)
        try stores.coordinator.replace(old, with: new, closes: false)
        #expect(storeError { try stores.coordinator.remove(old) }?.code == .invalidRequest)
        #expect(
            storeError { try stores.coordinator.replace(old, with: old) }?.code == .invalidRequest)
        #expect(stores.coordinator.persistentStores.last === new)
        _ = try old.snapshot()
        try stores.coordinator.remove(new, closes: false)
        #expect(stores.coordinator.persistentStores.count == 1)
    }
}
