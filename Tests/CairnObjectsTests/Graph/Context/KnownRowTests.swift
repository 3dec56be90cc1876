// Which rows a refresh may show again, and which objects are told that a merge policy has changed them.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Synchronization
import Testing

/// A product that notes why it shows other values.
private final class Noting: ManagedObject {
    var events: [SnapshotEvents] = []

    override func awakeFromSnapshotEvents(_ events: SnapshotEvents) {
        super.awakeFromSnapshotEvents(events)
        self.events.append(events)
    }
}

@Suite("Rows that a context knows")
struct KnownRowTests {
    private func stack(_ backend: Backend, classes: ObjectClasses = ObjectClasses()) throws -> (
        Stack, [ObjectID]
    ) {
        let stack = try Stack(Models.shop, backend, classes: classes)
        let ids = try stack.store { context in
            ["a", "b"].map { context.make("Product", ["serialCode": $0, "note": "old"]) }
        }
        return (stack, ids)
    }

    @Test(
        "What somebody saves while a batch request writes nothing is shown by a refresh",
        arguments: Backend.allCases)
    func otherCommit(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        let meddles = Atomic(false)
        let counting = CountingStore(
            stack.store,
            onBatch: {
                guard meddles.load(ordering: .relaxed) else { return }
                let other = stack.context()
                other.object(with: ids[0])["note"] = "of somebody else"
                try? other.save()
            })
        let context = ManagedObjectContext(store: counting)
        let product = context.object(with: ids[0])
        #expect(product.string("note") == "old")
        func upsert(_ note: String, _ policy: MergePolicyKind) throws {
            var request = BatchInsertRequest(
                entityName: "Product", objects: [["serialCode": "a", "note": note]])
            request.mergePolicy = policy
            try context.execute(request)
        }
        try upsert("of the batch", .mergeByPropertyObjectTrump)
        context.refresh(product, mergeChanges: false)
        #expect(product.string("note") == "of the batch")
        // A row with a key that is there is passed over: nothing is written.
        meddles.store(true, ordering: .relaxed)
        try upsert("never", .error)
        context.refresh(product, mergeChanges: false)
        #expect(product.string("note") == "of somebody else")
    }

    @Test(
        "What was read of a pinned state is read anew when it is pinned no more",
        arguments: Backend.allCases)
    func unpinned(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        let pinned = stack.context()
        try pinned.setQueryGeneration(from: .current)
        #expect(try pinned.count("Product") == 2)
        let other = stack.context()
        other.object(with: ids[0])["note"] = "new"
        try other.save()
        let context = stack.context()
        try context.setQueryGeneration(from: pinned.queryGenerationToken)
        let product = context.object(with: ids[0])
        #expect(product.string("note") == "old")
        try context.setQueryGeneration(from: nil)
        try context.execute(
            BatchInsertRequest(entityName: "Product", objects: [["serialCode": "c"]]))
        context.refreshAllObjects()
        #expect(product.string("note") == "new")
    }

    @Test(
        "Objects are told if a policy of one's own has given them another one's values, or sent them back",
        arguments: Backend.allCases)
    func keyConflicts(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend, classes: ObjectClasses(["Product": Noting.self]))
        final class Own: MergePolicy {}
        let context = stack.context(Own(merge: .mergeByPropertyObjectTrump))
        let stored = try #require(context.object(with: ids[0]) as? Noting)
        let untouched = try #require(context.object(with: ids[1]) as? Noting)
        #expect(stored.string("note") == "old" && untouched.string("note") == "old")
        context.make("Product", ["serialCode": "a", "note": "new"])
        try context.save()
        #expect(stored.string("note") == "new" && stored.events == [.mergePolicy])
        #expect(untouched.events.isEmpty)
        context.mergePolicy = Own(merge: .mergeByPropertyStoreTrump)
        untouched["serialCode"] = "a"
        try context.save()
        #expect(untouched.string("serialCode") == "b" && untouched.events == [.mergePolicy])
    }
}
