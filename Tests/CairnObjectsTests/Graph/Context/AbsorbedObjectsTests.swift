// Ids of objects that lost their unique keys to others in a save.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Ids of objects that a merge policy has given up")
struct AbsorbedObjectsTests {
    private static func products(_ stack: Stack, _ codes: [String]) throws -> [ObjectID] {
        try stack.store { context in
            codes.map { context.make("Product", ["serialCode": $0, "name": "old \($0)"]) }
        }
    }

    @Test(
        "A changed object whose key another one has becomes that: its id leads there",
        arguments: Backend.allCases, MergePlace.allCases)
    func changed(_ backend: Backend, _ place: MergePlace) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try Self.products(stack, ["A", "B"])
        let context = stack.context(place.policy(.mergeByPropertyObjectTrump))
        let loser = try context.existingObject(with: ids[1])
        loser["serialCode"] = "A"
        loser["note"] = "mine"
        try context.save()
        #expect(loser.isDeleted && loser.absorbedInto == ids[0])
        let other = stack.context()
        #expect(try other.redirectedObjectID(for: ids[1]) == ids[0])
        #expect(try other.redirectedObjectID(for: ids[0]) == nil)
        let winner = try other.existingObject(with: ids[1])
        #expect(winner.objectID == ids[0] && winner.string("note") == "mine")
        let uri = try #require(ObjectID(uriRepresentation: ids[1].uriRepresentation))
        #expect(try other.existingObject(with: uri) === winner)
        #expect(try context.existingObject(with: ids[1]).objectID == ids[0])
    }

    @Test(
        "Under the overwrite policy the id of the stored object leads to the one that replaced it",
        arguments: Backend.allCases, MergePlace.allCases)
    func replaced(_ backend: Backend, _ place: MergePlace) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try Self.products(stack, ["A", "B"])
        let context = stack.context(place.policy(.overwrite))
        let old = try context.existingObject(with: ids[0])
        let new = context.make("Product", ["serialCode": "A", "name": "new"])
        let changed = try context.existingObject(with: ids[1])
        try context.save()
        #expect(old.isDeleted && old.absorbedInto == new.objectID)
        #expect(try stack.context().existingObject(with: ids[0]).string("name") == "new")
        // One that was changed keeps its own id, and replaces the one that replaced another.
        changed["serialCode"] = "A"
        try context.save()
        #expect(new.isDeleted && new.absorbedInto == ids[1])
        let other = stack.context()
        for id in [ids[0], new.objectID] {
            #expect(try other.redirectedObjectID(for: id) == ids[1])
        }
        #expect(try other.count("Product") == 1)
    }

    @Test(
        "An id that a new object was given before the save leads to the object that it became",
        arguments: Backend.allCases, MergePlace.allCases)
    func obtained(_ backend: Backend, _ place: MergePlace) throws {
        let kinds: [MergePolicyKind] = [
            .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .rollback,
        ]
        for kind in kinds {
            let stack = try Stack(Models.shop, backend)
            let ids = try Self.products(stack, ["A"])
            let context = stack.context(place.policy(kind))
            let new = context.make("Product", ["serialCode": "A", "name": "new"])
            try context.obtainPermanentIDs(for: [new])
            let id = new.objectID
            let twins = ["x", "y"].map {
                context.make("Product", ["serialCode": "C", "name": $0])
            }
            try context.obtainPermanentIDs(for: [twins[1]])
            let twin = twins[1].objectID
            try context.save()
            #expect(new.absorbedInto == ids[0], "\(kind)")
            let other = stack.context()
            #expect(try other.redirectedObjectID(for: id) == ids[0], "\(kind)")
            #expect(try other.redirectedObjectID(for: twin) == twins[0].objectID, "\(kind)")
            #expect(try other.count("Product") == 2, "\(kind)")
        }
    }

    @Test(
        "What nobody can have an id of leads nowhere, and so does what goes back to its key",
        arguments: Backend.allCases, MergePlace.allCases)
    func nothing(_ backend: Backend, _ place: MergePlace) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try Self.products(stack, ["A", "B"])
        for kind in [MergePolicyKind.mergeByPropertyObjectTrump, .rollback] {
            let context = stack.context(place.policy(kind))
            for name in ["new", "newer"] {
                context.make("Product", ["serialCode": "A", "name": name])
            }
            try context.save()
        }
        let context = stack.context(place.policy(.mergeByPropertyStoreTrump))
        try context.existingObject(with: ids[1])["serialCode"] = "A"
        try context.save()
        #expect(!stack.store.hasRedirects)
        #expect(try stack.context().existingObject(with: ids[1]).string("serialCode") == "B")
    }

    @Test("Chains through several saves, and through one, end at who is there")
    func chains() throws {
        let stack = try Stack(Models.shop, .log)
        let ids = try Self.products(stack, ["A", "B", "C", "D"])
        for (index, key) in [(0, "B"), (1, "C"), (2, "D")] {
            let context = stack.context(.mergeByPropertyObjectTrump)
            try context.existingObject(with: ids[index])["serialCode"] = key
            try context.save()
            let other = stack.context()
            for id in ids[...index] {
                #expect(try other.redirectedObjectID(for: id) == ids[index + 1])
            }
        }
        // Deleted for good: nobody is in its place.
        let context = stack.context()
        context.delete(try context.existingObject(with: ids[0]))
        try context.save()
        for id in ids { #expect(try stack.context().redirectedObjectID(for: id) == nil) }
    }

    @Test("Rules of the model, too, fold stored objects", arguments: Backend.allCases)
    func declared(_ backend: Backend) throws {
        let types: [any PersistentEntity.Type] = [RuledArticle.self, RuledTag.self]
        let stack = try Stack(
            ManagedObjectModel(for: types), backend, classes: ObjectClasses(for: types))
        let ids = try stack.store { context in
            ["A", "B"].map { context.make("RuledArticle", ["code": $0, "visits": 2]) }
        }
        let context = stack.context(.declared)
        try context.existingObject(with: ids[1])["code"] = "A"
        try context.save()
        let winner = try stack.context().existingObject(with: ids[1])
        #expect(winner.objectID == ids[0] && winner.int("visits") == 4)
    }

    @Test(
        "Who has the object still is told, and what it is set to is saved as the survivor",
        arguments: Backend.allCases)
    func others(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try Self.products(stack, ["A", "B"])
        let merging = stack.context()
        merging.automaticallyMergesChangesFromParent = true
        let known = try merging.existingObject(with: ids[1])
        let late = stack.context()
        let tag = late.make(
            "Tag", ["label": "t", "products": Set([try late.existingObject(with: ids[1])])])
        let context = stack.context(.mergeByPropertyObjectTrump)
        try context.existingObject(with: ids[1])["serialCode"] = "A"
        try context.save()
        merging.processPendingChanges()
        #expect(known.isDeleted && known.absorbedInto == ids[0])
        try late.save()
        #expect(
            try stack.context().existingObject(with: tag.objectID).members("products")
                .map(\.objectID) == [ids[0]])
    }

    @Test("One that is stored again is itself", arguments: Backend.allCases)
    func back(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try Self.products(stack, ["A", "B"])
        let slow = stack.context(.overwrite)
        try slow.existingObject(with: ids[1])["note"] = "late"
        let context = stack.context(.mergeByPropertyObjectTrump)
        try context.existingObject(with: ids[1])["serialCode"] = "A"
        try context.save()
        try slow.save()
        let other = stack.context()
        #expect(try other.redirectedObjectID(for: ids[1]) == nil)
        #expect(try other.existingObject(with: ids[1]).string("note") == "late")
        #expect(try other.count("Product") == 2)
    }

    @Test(
        "Behind a coordinator each store leads its own",
        arguments: Backend.allCases, MergePlace.allCases)
    func stores(_ backend: Backend, _ place: MergePlace) throws {
        let stores = try TwoStores(backend)
        let setup = stores.context()
        var made: [ManagedObject] = []
        for store in stores.stores {
            for code in ["A", "B"] {
                made.append(try setup.make("Product", in: store, ["serialCode": code]))
            }
        }
        try setup.save()
        let ids = made.map(\.objectID)
        let context = stores.context(place.policy(.mergeByPropertyObjectTrump))
        try context.existingObject(with: ids[3])["serialCode"] = "A"
        let new = try context.make("Product", in: stores.first, ["serialCode": "B"])
        try context.obtainPermanentIDs(for: [new])
        let id = new.objectID
        try context.save()
        let other = stores.context()
        #expect(try other.existingObject(with: ids[3]).objectID == ids[2])
        #expect(try other.existingObject(with: id).objectID == ids[1])
        #expect(try other.count("Product") == 3)
    }

    @Test("The history says to whom the object was led", arguments: MergePlace.allCases)
    func history(_ place: MergePlace) throws {
        let stack = Stack(store: try Backend.log.makeStoreWithHistory(Schema(Models.shop)))
        let ids = try Self.products(stack, ["A", "B"])
        let context = stack.context(place.policy(.mergeByPropertyObjectTrump))
        try context.existingObject(with: ids[1])["serialCode"] = "A"
        try context.save()
        let last = try stack.container.execute(.fetchHistory(after: nil)).transactions.last
        let deletion = try #require(last?.changes?.first { $0.changeType == .delete })
        #expect(deletion.changedObjectID == ids[1])
        #expect(deletion.redirectedObjectID == ids[0])
    }
}
