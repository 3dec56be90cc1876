// Rows that somebody creates again after they were deleted.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Rows that are created again")
struct RecreatedRowTests {
    @Test(
        "Nobody takes a row that was created again for the one that he has read",
        arguments: Backend.allCases)
    func versions(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { [$0.make("Product", ["serialCode": "a", "note": "first"])] }
        // It is read in its first version, changed, read in its second one, and deleted.
        let early = stack.context(.mergeByPropertyObjectTrump)
        let kept = early.object(with: ids[0])
        #expect(kept.string("note") == "first")
        let other = stack.context()
        let theirs = other.object(with: ids[0])
        theirs["note"] = "second"
        try other.save()
        let late = stack.context()
        let product = late.object(with: ids[0])
        #expect(product.string("note") == "second")
        other.delete(theirs)
        try other.save()
        kept["note"] = "mine"
        try early.save()
        #expect(stack.context().object(with: ids[0]).string("note") == "mine")
        product["stock"] = 3
        let error = storeError { try late.save() }
        #expect(error?.code == .mergeConflict)
        #expect(error?.versions.map(\.id) == ids)
        late.refresh(product, mergeChanges: true)
        try late.save()
        #expect(stack.context().object(with: ids[0]).string("note") == "mine")
    }

    @Test(
        "One whose key another one has by now gives that only what was edited",
        arguments: Backend.allCases)
    func takenKey(_ backend: Backend) throws {
        for policy in [
            MergePolicy(merge: .mergeByPropertyObjectTrump),
            PlainSubclass(merge: .mergeByPropertyObjectTrump),
        ] {
            let stack = try Stack(Models.shop, backend)
            let ids = try stack.store {
                [$0.make("Product", ["serialCode": "a", "name": "old", "note": "old"])]
            }
            let context = stack.context(policy)
            let product = context.object(with: ids[0])
            #expect(product.string("note") == "old")
            product["name"] = "mine"
            let other = stack.context()
            other.delete(other.object(with: ids[0]))
            try other.save()
            other.make("Product", ["serialCode": "a", "name": "new", "note": "new"])
            try other.save()
            try context.save()
            let products = try stack.context().all("Product")
            #expect(products.map { $0.string("name") } == ["mine"])
            #expect(products.map { $0.string("note") } == ["new"])
        }
    }
}
