// Bringing one context up to what another has saved.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Synchronization
import Testing

@Suite("Merging what others have saved")
struct MergingTests {
    /// What the contexts of a test are told to merge.
    private enum Way: CaseIterable, Sendable {
        /// The notification with objects.
        case objects
        /// The notification with ids.
        case ids
        /// What a container's sequence of saves gives.
        case save
        /// A dictionary of URIs.
        case uris
        /// By itself, from what the store tells.
        case itself
    }

    private static let ways = Backend.allCases.flatMap { backend in
        Way.allCases.map { (backend, $0) }
    }

    /// A store with a shop of three tagged products, and two contexts that know all of them.
    private struct Market {
        let stack: Stack
        let mine: ManagedObjectContext
        let other: ManagedObjectContext
        let ids: [ObjectID]
        /// In the context that merges: a shop, a tag, three products.
        let held: [ManagedObject]
        /// The same in the other one.
        let others: [ManagedObject]

        init(_ backend: Backend) throws {
            stack = try Stack(Models.shop, backend)
            ids = try stack.store { context in
                let shop = context.make("Shop", ["name": "corner"])
                let tag = context.make("Tag", ["label": "new"])
                let products = ["a", "b", "c"].map {
                    context.make(
                        "Product",
                        ["serialCode": $0, "name": $0, "shop": shop, "tags": Set([tag])])
                }
                return [shop, tag] + products
            }
            (mine, other) = (stack.context(), stack.context())
            held = ids.map { [mine] in mine.object(with: $0) }
            others = ids.map { [other] in other.object(with: $0) }
            for object in held + others { try object.fulfill() }
        }

        var shop: ManagedObject { held[0] }
        var tag: ManagedObject { held[1] }
        var products: ArraySlice<ManagedObject> { held[2...] }

        /// Saves the other context and merges that into this one.
        func save(_ way: Way) throws {
            switch way {
            case .itself:
                mine.automaticallyMergesChangesFromParent = true
                try other.save()
                mine.processPendingChanges()
            case .save:
                // As somebody who listens to saves, but here and now.
                let kept = Mutex<ObjectIDs?>(nil)
                try keeping(ManagedObjectContext.didSaveObjectIDsNotification, other) {
                    let ids = ObjectIDs($0)
                    kept.withLock { $0 = ids }
                }
                let ids = kept.withLock { $0 } ?? ObjectIDs()
                ManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [
                        .insertedObjectIDs: Array(ids.inserted),
                        .updatedObjectIDs: Array(ids.updated),
                        .deletedObjectIDs: Array(ids.deleted),
                    ], into: [mine])
            case .objects:
                try merging(ManagedObjectContext.didSaveObjectsNotification)
            case .ids:
                try merging(ManagedObjectContext.didSaveObjectIDsNotification)
            case .uris:
                let kept = Mutex<ObjectIDs?>(nil)
                try keeping(ManagedObjectContext.didSaveObjectIDsNotification, other) {
                    let ids = ObjectIDs($0)
                    kept.withLock { $0 = ids }
                }
                let ids = kept.withLock { $0 } ?? ObjectIDs()
                let info: [AnyHashable: Any] = [
                    "inserted": ids.inserted.map(\.uriRepresentation),
                    "updated": ids.updated.map(\.uriRepresentation.absoluteString),
                    "deleted": Set(ids.deleted.map(\.uriRepresentation)),
                    "something else": 1,
                ]
                ManagedObjectContext.mergeChanges(fromRemoteContextSave: info, into: [mine])
            }
        }

        private func merging(_ name: Notification.Name) throws {
            nonisolated(unsafe) let mine = mine
            try keeping(name, other) { mine.mergeChanges(fromContextDidSave: $0) }
        }

        private func keeping(
            _ name: Notification.Name, _ context: ManagedObjectContext,
            _ body: @escaping @Sendable (Notification) -> Void
        ) throws {
            let token = NotificationCenter.default.addObserver(
                forName: name, object: context, queue: nil, using: body)
            defer { NotificationCenter.default.removeObserver(token) }
            try context.save()
        }
    }

    private struct ObjectIDs: Sendable {
        var inserted: Set<ObjectID> = []
        var updated: Set<ObjectID> = []
        var deleted: Set<ObjectID> = []

        init() {}

        init(_ notification: Notification) {
            inserted = notification.objectIDs(.insertedObjectIDs)
            updated = notification.objectIDs(.updatedObjectIDs)
            deleted = notification.objectIDs(.deletedObjectIDs)
        }
    }

    @Test(
        "B122: updates arrive as refreshed objects and inserts as inserted ones, and nothing is left to save",
        arguments: ways)
    private func updatesAndInserts(_ backend: Backend, _ way: Way) throws {
        let market = try Market(backend)
        let recorder = NotificationRecorder(market.mine)
        market.others[2]["price"] = 9.0
        let new = market.other.make("Product", ["serialCode": "d", "name": "d"])
        try market.save(way)
        let seen = recorder.take()
        #expect(seen == [Entry(kind: .didChange, inserted: 1, refreshed: 1)])
        #expect(market.held[2]["price"] as? Double == 9)
        #expect(!market.mine.hasChanges)
        #expect(market.mine.insertedObjects.isEmpty && market.mine.updatedObjects.isEmpty)
        #expect(market.held.allSatisfy { !$0.hasChanges })
        #expect(try market.mine.existingObject(with: new.objectID).string("name") == "d")
    }

    @Test(
        "B124: a merged deletion is among deletedObjects, values intact, until the context saves, which stores nothing",
        arguments: ways)
    private func deletions(_ backend: Backend, _ way: Way) throws {
        let market = try Market(backend)
        let recorder = NotificationRecorder(market.mine)
        market.other.delete(market.others[2])
        try market.save(way)
        let gone = market.held[2]
        #expect(recorder.take().last?.deleted == 1)
        #expect(market.mine.deletedObjects == [gone])
        #expect(gone.isDeleted && gone.managedObjectContext === market.mine)
        #expect(gone.string("name") == "a" && gone.string("serialCode") == "a")
        #expect(market.mine.registeredObject(for: market.ids[2]) === gone)
        #expect(!market.mine.updatedObjects.contains { $0.hasPersistentChangedValues })
        #expect(market.shop.members("products").map { $0.string("name") }.count == 2)
        let commit = try market.stack.store.snapshot().commit
        try market.mine.save()
        #expect(market.mine.deletedObjects.isEmpty && !market.mine.hasChanges)
        #expect(try market.stack.store.snapshot().commit == commit)
        #expect(gone.managedObjectContext == nil && gone.string("name") == "a")
    }

    @Test("Unsaved edits stay on top of what is merged, and are saved", arguments: ways)
    private func edits(_ backend: Backend, _ way: Way) throws {
        let market = try Market(backend)
        let mine = market.held[2]
        mine["price"] = 3.0
        mine["note"] = "mine"
        market.others[2]["price"] = 9.0
        market.others[2]["name"] = "theirs"
        try market.save(way)
        #expect(mine["price"] as? Double == 3 && mine.string("note") == "mine")
        #expect(mine.string("name") == "theirs")
        #expect(mine.committedValues(forKeys: ["price"])["price"] as? Double == 9)
        // No conflict: what the edits are of was read again.
        try market.mine.save()
        market.other.refreshAllObjects()
        #expect(market.others[2]["price"] as? Double == 3)
        #expect(market.others[2].string("name") == "theirs")
    }

    @Test("Relationships that were read show their members as they are now", arguments: ways)
    private func members(_ backend: Backend, _ way: Way) throws {
        let market = try Market(backend)
        #expect(market.shop.members("products").count == 3)
        #expect(market.tag.members("products").count == 3)
        #expect(market.held[3].members("tags").count == 1)
        // An addition of one's own, not saved.
        let own = market.mine.make("Product", ["serialCode": "own"])
        market.shop.add(own, to: "products")
        let shop = market.others[0]
        let new = market.other.make("Product", ["serialCode": "d", "shop": shop])
        market.others[2]["shop"] = nil
        market.others[3]["tags"] = Set([market.other.make("Tag", ["label": "other"])])
        market.other.delete(market.others[4])
        try market.save(way)
        let products = market.shop.members("products").compactMap { $0.string("serialCode") }
        #expect(Set(products) == ["b", "d", "own"])
        #expect(
            Set(market.tag.objectIDs(forRelationshipNamed: "products")) == [market.ids[2]])
        #expect(market.held[3].members("tags").map { $0.string("label") } == ["other"])
        #expect(market.held[2].object("shop") == nil)
        #expect(market.mine.object(with: new.objectID).object("shop") === market.shop)
        try market.mine.save()
        #expect(
            try market.stack.context().find("Product", "serialCode", .string("own")).first?
                .object("shop")?.objectID == market.ids[0])
    }

    @Test(
        "A relationship that was read and changed makes its owner a refreshed object; others stay",
        arguments: Backend.allCases)
    func toldOfMembers(_ backend: Backend) throws {
        let market = try Market(backend)
        let second = try market.stack.store { [$0.make("Shop", ["name": "second"])] }
        let idle = market.mine.object(with: second[0])
        #expect(idle.members("products").isEmpty && market.shop.members("products").count == 3)
        #expect(market.tag.members("products").count == 3)
        let recorder = NotificationRecorder(market.mine)
        market.mine.automaticallyMergesChangesFromParent = true
        // By a batch nobody names the shop, and its row does not change.
        _ = try market.stack.store.execute(
            BatchDeleteRequest(.ids([market.ids[2]], entity: market.held[2].entity.index)))
        market.mine.processPendingChanges()
        // The shop, and the tag that the product had.
        #expect(market.shop.members("products").count == 2)
        #expect(recorder.take().last == Entry(kind: .didChange, deleted: 1, refreshed: 2))
    }

    @Test(
        "What others have deleted and stored again is there again, with edits, and no deletion of one's own",
        arguments: ways)
    private func storedAgain(_ backend: Backend, _ way: Way) throws {
        let market = try Market(backend)
        let products = Array(market.products)
        #expect(products.count >= 3)
        let slow = market.stack.context(.overwrite)
        for (place, product) in products[..<3].enumerated() {
            try slow.existingObject(with: product.objectID)["note"] = "again \(place)"
        }
        _ = products[0].string("name")
        products[1]["stock"] = 77
        for product in products[..<3] {
            market.other.delete(try market.other.existingObject(with: product.objectID))
        }
        try market.save(way)
        #expect(products[..<3].map(\.isDeleted) == [true, true, true])
        // This one is not to be, whoever else deletes it.
        market.mine.delete(products[2])
        try slow.save()
        let ids = products[..<3].map(\.objectID)
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.insertedObjectIDs: ids], into: [market.mine])
        #expect(products[..<3].map(\.isDeleted) == [false, false, true])
        #expect(products[0].string("note") == "again 0" && !products[0].isUpdated)
        #expect(products[1].string("note") == "again 1" && products[1].int("stock") == 77)
        let first = try market.mine.existingObject(with: ids[0])
        #expect(first === products[0])
        try market.mine.save()
        let left = market.stack.context()
        #expect(try left.existingObject(with: ids[1]).int("stock") == 77)
        let error = storeError { _ = try left.existingObject(with: ids[2]) }
        #expect(error?.code == .objectNotFound)
    }

    @Test("What others have stored again among very many new ones is there again")
    func againAmongMany() throws {
        let stack = try Stack(Models.shop, .log)
        let ids = try stack.products(1)
        let (mine, other, slow) = (stack.context(), stack.context(), stack.context(.overwrite))
        mine.automaticallyMergesChangesFromParent = true
        let product = mine.object(with: ids[0])
        #expect(product.string("name") == "0")
        slow.object(with: ids[0])["name"] = "again"
        other.delete(other.object(with: ids[0]))
        try other.save()
        mine.processPendingChanges()
        #expect(product.isDeleted)
        for _ in 0..<1100 { slow.make("Product") }
        try slow.save()
        mine.processPendingChanges()
        #expect(!product.isDeleted && product.string("name") == "again")
    }

    @Test("Who was deleted elsewhere before a save made it a member is none once that is merged")
    func savedGoneMember() throws {
        let stack = try Stack(Models.people, .log)
        let ids = try stack.store { context in
            ["a", "b"].map { context.make("Person", ["name": $0]) }
        }
        let (mine, other) = (stack.context(), stack.context())
        mine.automaticallyMergesChangesFromParent = true
        let people = ids.map { mine.object(with: $0) }
        #expect(people[1].string("name") == "b")
        people[0]["heroes"] = Set([people[1]])
        other.delete(other.object(with: ids[1]))
        try other.save()
        try mine.save()
        mine.processPendingChanges()
        #expect(people[1].isDeleted && people[0].members("heroes").isEmpty)
    }

    @Test(
        "What edits of an object lead to that others have deleted and stored again leads back to it",
        arguments: Backend.allCases)
    func linkedAgain(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            ["a", "b", "c", "d"].map { context.make("Person", ["name": $0]) }
        }
        let (mine, other, slow) = (stack.context(), stack.context(), stack.context(.overwrite))
        mine.automaticallyMergesChangesFromParent = true
        let people = ids.map { mine.object(with: $0) }
        #expect(people[1].members("children").isEmpty)
        people[0]["parent"] = people[1]
        people[0]["spouse"] = people[2]
        people[0]["mentor"] = people[3]
        slow.object(with: ids[0])["name"] = "again"
        other.delete(other.object(with: ids[0]))
        try other.save()
        mine.processPendingChanges()
        #expect(people[0].isDeleted && people[1].members("children").isEmpty)
        #expect(people[2].object("spouse") == nil)
        // What is no more by then is led to no more.
        other.delete(other.object(with: ids[3]))
        try other.save()
        mine.processPendingChanges()
        try slow.save()
        mine.processPendingChanges()
        for person in [people, ids.map { stack.context().object(with: $0) }] {
            #expect(!person[0].isDeleted && person[0].string("name") == "again")
            #expect(person[0].object("parent")?.objectID == ids[1])
            #expect(person[1].objectIDs(forRelationshipNamed: "children") == [ids[0]])
            #expect(person[0].object("spouse")?.objectID == ids[2])
            #expect(person[2].object("spouse")?.objectID == ids[0])
            #expect(person[0].object("mentor") == nil)
            try mine.save()
        }
    }

    @Test(
        "What was found to be no more is a member again as soon as others have stored it again",
        arguments: Backend.allCases, [true, false])
    func memberAgain(_ backend: Backend, _ isWatched: Bool) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            ["a", "b"].map { context.make("Person", ["name": $0]) }
        }
        let (mine, slow) = (stack.context(), stack.context(.overwrite))
        let recorder = isWatched ? NotificationRecorder(mine) : nil
        mine.automaticallyMergesChangesFromParent = true
        let people = ids.map { mine.object(with: $0) }
        #expect(people[0].members("friends").isEmpty && people[1].string("name") == "b")
        slow.object(with: ids[1])["friends"] = Set([slow.object(with: ids[0])])
        slow.object(with: ids[1])["name"] = "again"
        let other = stack.context()
        other.delete(other.object(with: ids[1]))
        try other.save()
        mine.processPendingChanges()
        #expect(people[1].string("name") == "b" && people[1].isDeleted)
        mine.rollback()
        // Nobody in the context says any more that it is deleted; that there is no row does.
        #expect(people[1].string("name") == nil && people[1].isDeleted)
        try slow.save()
        mine.processPendingChanges()
        #expect(people[0].members("friends") == [people[1]])
        #expect(!people[1].isDeleted && people[1].string("name") == "again")
        #expect(people[1].members("friends") == [people[0]])
        #expect(!mine.hasChanges)
        withExtendedLifetime(recorder) {}
    }

    @Test(
        "A save does not delete what others have deleted and stored again, merged or not",
        arguments: ways)
    private func notDeletedAgain(_ backend: Backend, _ way: Way) throws {
        let market = try Market(backend)
        let product = try #require(market.products.first)
        let slow = market.stack.context(.overwrite)
        try slow.existingObject(with: product.objectID)["note"] = "again"
        _ = product.string("name")
        market.other.delete(try market.other.existingObject(with: product.objectID))
        try market.save(way)
        market.mine.automaticallyMergesChangesFromParent = false
        try slow.save()
        market.mine.mergePolicy = .overwrite
        market.mine.make("Tag", ["label": "new"])
        try market.mine.save()
        #expect(
            try market.stack.context().existingObject(with: product.objectID).string("note")
                == "again")
        #expect(
            try market.mine.existingObject(with: product.objectID).string("note") == "again")
    }

    @Test("What edits lead to objects deleted elsewhere leads nowhere", arguments: ways)
    private func danglingEdits(_ backend: Backend, _ way: Way) throws {
        let market = try Market(backend)
        let shop = market.other.make("Shop", ["name": "short-lived"])
        try market.other.save()
        let mine = market.mine.object(with: shop.objectID)
        let new = market.mine.make("Product", ["serialCode": "new", "shop": mine])
        market.held[2]["shop"] = mine
        market.other.delete(shop)
        try market.save(way)
        #expect(mine.isDeleted && new.object("shop") == nil)
        #expect(market.held[2].object("shop") == nil)
        try market.mine.save()
        let fresh = market.stack.context()
        #expect(try fresh.count("Product") == 4)
        #expect(fresh.object(with: market.ids[2]).object("shop") == nil)
    }

    @Test(
        "New objects that a cascade rule ties to one deleted elsewhere are deleted with it",
        arguments: Backend.allCases)
    func cascade(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let parent = context.make("Person", ["name": "parent"])
            return [parent, context.make("Person", ["name": "child", "parent": parent])]
        }
        let (mine, other) = (stack.context(), stack.context())
        let parent = mine.object(with: ids[0])
        let child = mine.object(with: ids[1])
        try child.fulfill()
        let new = mine.make("Person", ["name": "new", "parent": parent])
        let grandchild = mine.make("Person", ["name": "grandchild", "parent": new])
        other.delete(other.object(with: ids[0]))
        try other.save()
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.deletedObjectIDs: ids], into: [mine])
        #expect(parent.isDeleted && child.isDeleted && new.isDeleted && grandchild.isDeleted)
        #expect(child.string("name") == "child")
        try mine.save()
        #expect(try stack.context().count("Person") == 0)
    }

    @Test(
        "Edits without an inverse lead nowhere also if nobody holds what was deleted elsewhere",
        arguments: Backend.allCases, [true, false])
    func unheld(_ backend: Backend, _ mergesByItself: Bool) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            "abcd".map { context.make("Person", ["name": String($0)]) }
        }
        let (mine, other) = (stack.context(), stack.context())
        mine.automaticallyMergesChangesFromParent = mergesByItself
        let person = mine.object(with: ids[0])
        person["heroes"] = Set(ids[1...].map { mine.object(with: $0) })
        person["mentor"] = mine.object(with: ids[2])
        #expect(mine.registeredObjects == [person])
        other.delete(other.object(with: ids[2]))
        try other.save()
        if mergesByItself {
            mine.processPendingChanges()
        } else {
            ManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [.deletedObjectIDs: [ids[2]]], into: [mine])
        }
        #expect(person.objectIDs(forRelationshipNamed: "heroes") == [ids[1], ids[3]])
        #expect(person.object("mentor") == nil)
        try mine.save()
        #expect(person.objectIDs(forRelationshipNamed: "heroes") == [ids[1], ids[3]])
        let fresh = person.fresh(stack)
        #expect(fresh.objectIDs(forRelationshipNamed: "heroes") == [ids[1], ids[3]])
        #expect(fresh.object("mentor") == nil && fresh.string("name") == "a")
    }

    @Test(
        "A deletion that a rule would deny here has happened elsewhere all the same",
        arguments: Backend.allCases)
    func denied(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            [context.make("Department", ["name": "d"]), context.make("Person", ["name": "p"])]
        }
        let (mine, other) = (stack.context(), stack.context())
        let department = mine.object(with: ids[0])
        let person = mine.object(with: ids[1])
        person["department"] = department
        other.delete(other.object(with: ids[0]))
        try other.save()
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.deletedObjectIDs: [ids[0]]], into: [mine])
        #expect(department.isDeleted && person.object("department") == nil)
        try mine.save()
        #expect(!mine.hasChanges)
    }

    @Test("An object that is a fault, or deleted here too, is merged as well", arguments: ways)
    private func faults(_ backend: Backend, _ way: Way) throws {
        let market = try Market(backend)
        market.mine.refreshAllObjects()
        #expect(market.held[2].isFault && market.held[3].isFault)
        market.mine.delete(market.held[4])
        market.others[2]["name"] = "theirs"
        market.other.delete(market.others[3])
        market.other.delete(market.others[4])
        try market.save(way)
        #expect(market.held[2].string("name") == "theirs")
        // Nobody has seen its values, and nobody can any more.
        #expect(market.held[3].isDeleted && market.held[3].string("name") == nil)
        #expect(market.held[4].isDeleted && market.mine.deletedObjects.contains(market.held[3]))
        try market.mine.save()
        #expect(!market.mine.hasChanges)
        #expect(try market.stack.context().count("Product") == 1)
    }

    @Test("Rolling back gives up objects that were deleted elsewhere", arguments: Backend.allCases)
    func rolledBack(_ backend: Backend) throws {
        let market = try Market(backend)
        // Of one nobody has seen the values.
        market.mine.refresh(market.held[3], mergeChanges: false)
        market.other.delete(market.others[2])
        market.other.delete(market.others[3])
        try market.save(.itself)
        #expect(market.held[2].isDeleted && market.held[3].isDeleted)
        #expect(market.mine.deletedObjects.count == 2)
        market.mine.rollback()
        #expect(!market.mine.hasChanges)
        for object in market.held[2...3] {
            #expect(object.string("name") == nil && object.isDeleted)
        }
        #expect(try market.mine.count("Product") == 1)
    }

    @Test(
        "Ids of other stores, of objects that are not there and of one's own save change nothing",
        arguments: Backend.allCases)
    func foreign(_ backend: Backend) throws {
        let market = try Market(backend)
        let other = try Stack(Models.shop, backend).store { [$0.make("Tag", ["label": "x"])] }
        let gone = try market.stack.store { [$0.make("Tag", ["label": "gone"])] }
        _ = try market.stack.store.execute(
            BatchDeleteRequest(.ids(gone, entity: market.tag.entity.index)))
        let recorder = NotificationRecorder(market.mine)
        let ids = other + gone + [market.ids[0]]
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                .insertedObjectIDs: other + gone, .updatedObjectIDs: ids, .deletedObjectIDs: ids,
            ], into: [market.mine])
        #expect(recorder.take().isEmpty)
        #expect(!market.mine.hasChanges && !market.shop.isDeleted)
        // A notification of the context itself.
        nonisolated(unsafe) let mine = market.mine
        let token = NotificationCenter.default.addObserver(
            forName: ManagedObjectContext.didSaveObjectsNotification, object: mine, queue: nil
        ) { mine.mergeChanges(fromContextDidSave: $0) }
        defer { NotificationCenter.default.removeObserver(token) }
        mine.make("Tag", ["label": "own"])
        market.shop["name"] = "renamed"
        try mine.save()
        #expect(!recorder.take().contains { $0.kind == .didChange && $0.refreshed > 0 })
    }

    @Test(
        "The ids of what was merged are posted, with those of objects that were refreshed",
        arguments: ways.filter { $0.1 != .save && $0.1 != .uris })
    private func posted(_ backend: Backend, _ way: Way) throws {
        let market = try Market(backend)
        let kept = Mutex<[(ObjectIDs, Set<ObjectID>)]>([])
        let token = NotificationCenter.default.addObserver(
            forName: ManagedObjectContext.didMergeChangesObjectIDsNotification,
            object: market.mine, queue: nil
        ) { notification in
            let ids = ObjectIDs(notification)
            let refreshed = notification.objectIDs(.refreshedObjectIDs)
            kept.withLock { $0.append((ids, refreshed)) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        market.others[2]["name"] = "theirs"
        let new = market.other.make("Recipe", ["title": "new"])
        let tag = market.other.make("Tag", ["label": "tag"])
        try market.other.save()
        market.mine.processPendingChanges()
        market.others[3]["name"] = "theirs"
        market.other.delete(tag)
        try market.save(way)
        let (ids, refreshed) = try #require(kept.withLock { $0.last })
        #expect(ids.updated.contains(market.ids[3]) && ids.deleted == [tag.objectID])
        #expect(ids.inserted.isEmpty && refreshed == [market.ids[3]])
        withExtendedLifetime(new) {}
    }

    @Test(
        "Merging moves a pinned context on; by itself it merges only what it may read",
        arguments: Backend.allCases)
    func pinned(_ backend: Backend) throws {
        let market = try Market(backend)
        try market.mine.setQueryGeneration(from: .current)
        _ = try market.mine.count("Recipe")
        market.others[2]["name"] = "theirs"
        try market.save(.itself)
        #expect(market.held[2].string("name") == "a")
        #expect(try market.mine.find("Product", "name", .string("theirs")).isEmpty)
        try market.mine.setQueryGeneration(from: nil)
        market.mine.processPendingChanges()
        #expect(market.held[2].string("name") == "theirs")
        market.mine.automaticallyMergesChangesFromParent = false

        try market.mine.setQueryGeneration(from: .current)
        _ = try market.mine.count("Recipe")
        let token = market.mine.queryGenerationToken
        market.others[3]["name"] = "theirs too"
        try market.save(.ids)
        #expect(market.held[3].string("name") == "theirs too")
        #expect(market.mine.queryGenerationToken != nil)
        #expect(market.mine.queryGenerationToken != token)
    }
}

private typealias Entry = NotificationRecorder.Entry
