// A child context saves to its parent.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

/// A product that counts how it is woken, and refuses a name.
private final class Careful: ManagedObject {
    struct Refusal: Error {}

    var wakings = 0

    override func awakeFromInsert() {
        super.awakeFromInsert()
        wakings += 1
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if self["name"] as? String == "refused" { throw Refusal() }
    }
}

@Suite("Saving to a parent")
struct SavingToParentTests {
    private func family(_ backend: Backend, classes: ObjectClasses = ObjectClasses()) throws -> (
        Stack, parent: ManagedObjectContext, child: ManagedObjectContext
    ) {
        let stack = try Stack(Models.shop, backend, classes: classes)
        try stack.store { context in
            let shop = context.make("Shop", ["name": "corner"])
            return ["a", "b"].map { context.make("Product", ["serialCode": $0, "shop": shop]) }
        }
        let parent = stack.context()
        return (stack, parent, parent.newChildContext())
    }

    private func product(_ code: String, _ context: ManagedObjectContext) throws -> ManagedObject {
        try #require(context.find("Product", "serialCode", .string(code)).first)
    }

    @Test(
        "What a child saves is unsaved in its parent, until that saves", arguments: Backend.allCases
    )
    func levels(_ backend: Backend) throws {
        let (stack, parent, child) = try family(backend)
        let changed = try product("a", child)
        changed["price"] = 5.0
        child.delete(try product("b", child))
        let new = child.make(
            "Product", ["serialCode": "c", "shop": try child.all("Shop")[0]])
        #expect(!parent.hasChanges)
        try child.save()
        #expect(!child.hasChanges && parent.hasChanges)
        #expect(!new.isInserted && !new.hasChanges && !changed.hasChanges)
        #expect(parent.insertedObjects.map(\.objectID) == [new.objectID])
        #expect(parent.deletedObjects.count == 1 && new.objectID.isTemporary)
        let mine = try product("a", parent)
        #expect(mine["price"] as? Double == 5 && mine.changedValues().keys.sorted() == ["price"])
        #expect(mine.committedValues(forKeys: ["price"])["price"] as? Double == 0)
        #expect(try stack.context().count("Product") == 2)
        #expect(try product("a", stack.context())["price"] as? Double == 0)
        try parent.save()
        let fresh = stack.context()
        #expect(
            try fresh.all("Product", sortedBy: "serialCode").map { $0.string("serialCode") }
                == ["a", "c"])
        #expect(try product("c", fresh).object("shop")?.string("name") == "corner")
        #expect(!new.objectID.isTemporary)
        #expect(try product("c", fresh).objectID == new.objectID)
        #expect(
            child.registeredObject(for: new.objectID) === new && new.string("serialCode") == "c")
        // And once more, from where both are.
        new["price"] = 2.0
        try child.save()
        try parent.save()
        #expect(try product("c", stack.context())["price"] as? Double == 2)
    }

    @Test(
        "B011: A child's save finds no conflict and needs no policy; the parent's save does what the parent's policy says",
        arguments: Backend.allCases)
    func policies(_ backend: Backend) throws {
        let (stack, parent, child) = try family(backend)
        child.mergePolicy = .mergeByPropertyObjectTrump
        let twin = child.make("Product", ["serialCode": "a", "price": 7.0])
        try child.save()
        let error = try #require(storeError { try parent.save() })
        #expect(error.code == .constraintConflict && error.violations.count == 1)
        #expect(parent.hasChanges && !child.hasChanges && twin["price"] as? Double == 7)
        parent.mergePolicy = .mergeByPropertyObjectTrump
        try parent.save()
        #expect(try stack.context().count("Product") == 2)
        let kept = try product("a", stack.context())
        #expect(kept["price"] as? Double == 7)
        // The child learns what became of its object.
        #expect(twin.absorbedInto == kept.objectID && twin.isDeleted)
        #expect(twin.managedObjectContext == nil)
    }

    @Test(
        "A child's save never fails on a version either; the parent's save finds what others have changed since the child has read",
        arguments: Backend.allCases)
    func versions(_ backend: Backend) throws {
        let (stack, parent, child) = try family(backend)
        let mine = try product("a", child)
        #expect(parent.registeredObjects.isEmpty)
        let others = stack.context()
        try product("a", others)["price"] = 1.0
        try others.save()
        mine["price"] = 2.0
        try child.save()
        let error = try #require(storeError { try parent.save() })
        #expect(error.code == .mergeConflict && error.versions.count == 1)
        #expect(error.versions.first?.id == mine.objectID)
        parent.mergePolicy = .mergeByPropertyObjectTrump
        try parent.save()
        #expect(try product("a", stack.context())["price"] as? Double == 2)
    }

    @Test(
        "B080: Inserted objects have temporary ids in a child context's did-save, permanent ids when the root context saves",
        arguments: Backend.allCases)
    func notifications(_ backend: Backend) throws {
        let (_, parent, child) = try family(backend)
        let grandchild = child.newChildContext()
        let seen = Mutex<[String: Set<ObjectID>]>([:])
        func record(_ name: String, _ context: ManagedObjectContext) -> NotificationRecorder {
            NotificationRecorder(context) { kind, notification in
                guard kind == .didSaveIDs else { return }
                let ids = notification.objectIDs(.insertedObjectIDs)
                seen.withLock { $0[name] = ids }
            }
        }
        let recorders = [
            record("grandchild", grandchild), record("child", child), record("parent", parent),
        ]
        let new = grandchild.make("Product", ["serialCode": "new"])
        let temporary = new.objectID
        try grandchild.save()
        #expect(recorders[0].take().map(\.kind) == [.didChange, .willSave, .didSave, .didSaveIDs])
        // What a child has saved is a change of its parent.
        #expect(recorders[1].take() == [.init(kind: .didChange, inserted: 1)])
        #expect(recorders[2].take().isEmpty)
        try child.save()
        #expect(recorders[2].take() == [.init(kind: .didChange, inserted: 1)])
        try parent.save()
        let ids = seen.withLock { $0 }
        #expect(ids["grandchild"] == [temporary] && ids["child"] == [temporary])
        #expect(ids["parent"] == [new.objectID] && !new.objectID.isTemporary)
        withExtendedLifetime(recorders) {}
    }

    @Test(
        "A child's save is none of the container's saves; the root's is",
        arguments: Backend.allCases)
    func feeds(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let saves = stack.container.saves
        try await stack.container.performBackgroundTask { context in
            context.name = "root"
            let child = context.newChildContext()
            child.name = "child"
            child.make("Product", ["serialCode": "c"])
            try child.save()
            try context.save()
        }
        for await save in saves.inTime() {
            #expect(save.contextName == "root" && save.insertedObjectIDs.count == 1)
            break
        }
    }

    @Test(
        "Two children that change different properties of an object both have their way; of one property the last one has",
        arguments: Backend.allCases)
    func siblings(_ backend: Backend) throws {
        let (stack, parent, child) = try family(backend)
        let sibling = parent.newChildContext()
        let (one, other) = (try product("a", child), try product("a", sibling))
        one["price"] = 1.0
        one["name"] = "one"
        other["note"] = "other"
        other["name"] = "two"
        try child.save()
        try sibling.save()
        let mine = try product("a", parent)
        #expect(mine["price"] as? Double == 1 && mine.string("note") == "other")
        #expect(mine.string("name") == "two")
        #expect(one.string("name") == "one")
        child.refreshAllObjects()
        #expect(one.string("name") == "two" && one.string("note") == "other")
        try parent.save()
        #expect(try product("a", stack.context()).string("name") == "two")
    }

    @Test(
        "Members, pairs and one-to-one relationships arrive in the parent, both sides of them",
        arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        try stack.store { context in
            let people = (0..<4).map { context.make("Person", ["name": "\($0)"]) }
            people[0]["spouse"] = people[1]
            people[2]["children"] = Set([people[3]])
            people[0]["friends"] = Set([people[2], people[3]])
            return people
        }
        let parent = stack.context()
        let child = parent.newChildContext()
        func people(_ context: ManagedObjectContext) throws -> [ManagedObject] {
            try context.all("Person", sortedBy: "name")
        }
        let mine = try people(parent)
        let own = try people(child)
        let new = child.make("Person", ["name": "4"])
        own[0]["spouse"] = new
        own[3]["parent"] = own[1]
        own[0]["friends"] = Set([own[3], new])
        own[0]["heroes"] = Set([own[1]])
        own[1]["mentor"] = own[1]
        // Meanwhile in the parent:
        mine[1]["spouse"] = mine[2]
        mine[2].add(mine[1], to: "friends")
        try child.save()
        let born = try #require(parent.find("Person", "name", .string("4")).first)
        #expect(mine[0].object("spouse") === born && born.object("spouse") === mine[0])
        #expect(mine[3].object("parent") === mine[1] && mine[2].members("children").isEmpty)
        #expect(mine[1].members("children") == [mine[3]])
        #expect(mine[0].members("friends") == [mine[3], born])
        #expect(mine[2].members("friends") == [mine[1]] && mine[1].members("friends") == [mine[2]])
        #expect(mine[0].members("heroes") == [mine[1]] && mine[1].object("mentor") === mine[1])
        try parent.save()
        let stored = try people(stack.context())
        #expect(stored[0].object("spouse")?.string("name") == "4")
        #expect(Set(stored[0].members("friends").map { $0.string("name") }) == ["3", "4"])
        #expect(own[0].object("spouse") === new && new.members("friends") == [own[0]])
    }

    @Test(
        "Deleting in a child follows the rules in the parent, of what the child has not seen too",
        arguments: Backend.allCases)
    func deleting(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let people = (0..<3).map { context.make("Person", ["name": "\($0)"]) }
            people[0]["children"] = Set([people[1]])
            return people
        }
        let parent = stack.context()
        let child = parent.newChildContext()
        let own = ids.map { child.object(with: $0) }
        #expect(own[0].members("children").count == 1)
        parent.object(with: ids[2])["parent"] = parent.object(with: ids[0])
        own[2]["name"] = "renamed"
        child.delete(own[0])
        try child.save()
        #expect(own[0].managedObjectContext == nil && own[1].managedObjectContext == nil)
        // The parent's rule has reached the one that the child has just changed.
        #expect(own[2].isDeleted && own[2].string("name") == nil && !child.hasChanges)
        #expect(parent.deletedObjects.count == 3)
        #expect(try child.count("Person") == 0)
        try parent.save()
        #expect(try stack.context().count("Person") == 0)
        // What was new in the parent has never been.
        let new = parent.make("Person", ["name": "new"])
        child.delete(child.object(with: new.objectID))
        try child.save()
        #expect(!parent.hasChanges && new.managedObjectContext == nil)
    }

    @Test(
        "What the parent has deleted is dropped by a child's save, or is an error for those who want one",
        arguments: Backend.allCases)
    func deletedInParent(_ backend: Backend) throws {
        let (_, parent, child) = try family(backend)
        let (one, other) = (try product("a", child), try product("b", child))
        parent.delete(try product("a", parent))
        one["price"] = 3.0
        other["price"] = 4.0
        child.shouldDeleteInaccessibleFaults = false
        let error = try #require(storeError { try child.save() })
        #expect(error.code == .objectNotFound && error.context.objectID == one.objectID)
        #expect(one["price"] as? Double == 3 && child.hasChanges)
        #expect(try product("b", parent)["price"] as? Double == 0)
        child.shouldDeleteInaccessibleFaults = true
        try child.save()
        #expect(!child.hasChanges && one.isDeleted && one["price"] == nil)
        #expect(try product("b", parent)["price"] as? Double == 4)
        // Deleted in both is deleted.
        child.delete(other)
        parent.delete(try product("b", parent))
        try child.save()
        try parent.save()
        #expect(try parent.count("Product") == 0)
    }

    @Test(
        "What leads to an object that the parent has deleted, or dropped, leads nowhere",
        arguments: Backend.allCases)
    func danglingTargets(_ backend: Backend) throws {
        let (_, parent, child) = try family(backend)
        let market = parent.make("Shop", ["name": "market"])
        let own = child.object(with: market.objectID)
        let (one, other) = (try product("a", child), try product("b", child))
        one["shop"] = own
        other["shop"] = try child.find("Shop", "name", .string("corner"))[0]
        other["price"] = 1.0
        parent.rollback()
        parent.delete(try #require(parent.all("Shop").first))
        try child.save()
        #expect(try product("a", parent).object("shop") == nil)
        #expect(try product("b", parent).object("shop") == nil)
        try parent.save()
        #expect(one.object("shop") == nil)
    }

    @Test("Validation and hooks run where they belong", arguments: Backend.allCases)
    func hooks(_ backend: Backend) throws {
        let (_, parent, child) = try family(
            backend, classes: ObjectClasses(["Product": Careful.self]))
        let own = try product("a", child)
        own["name"] = "refused"
        #expect(storeError { try child.save() }?.cause is Careful.Refusal)
        #expect(!parent.hasChanges && child.hasChanges)
        own["name"] = "fine"
        let new = try #require(child.make("Product", ["serialCode": "n"]) as? Careful)
        try child.save()
        let mine = try #require(parent.insertedObjects.first as? Careful)
        #expect(new.wakings == 1 && mine.wakings == 0 && mine.isInserted)
        // The parent's save validates what it saves.
        mine["price"] = nil
        #expect(storeError { try parent.save() }?.code == .missingMandatory)
    }

    @Test(
        "Transient values and those set as primitive ones go up; only the latter are seen below",
        arguments: Backend.allCases)
    func transients(_ backend: Backend) throws {
        let stack = try Stack(Models.values, backend)
        let id = try stack.store { [$0.make("Thing", ["size": 3])] }[0]
        let parent = stack.context()
        let child = parent.newChildContext()
        let own = child.object(with: id)
        #expect(own.string("cache") == "empty")
        own["cache"] = "filled"
        own.setPrimitiveValue(4, forKey: "small")
        #expect(child.hasChanges)
        try child.save()
        let mine = parent.object(with: id)
        #expect(mine.string("cache") == "filled" && mine.int("small") == 4 && parent.hasChanges)
        let other = parent.newChildContext().object(with: id)
        #expect(other.int("small") == 4 && other.string("cache") == "empty")
        try parent.save()
        #expect(mine.string("cache") == "filled" && own.string("cache") == "filled")
        #expect(stack.context().object(with: id).int("small") == 4)
        let new = child.make("Thing", ["cache": "of a new one"])
        try child.save()
        #expect(parent.insertedObjects.first?.string("cache") == "of a new one")
        withExtendedLifetime(new) {}
    }

    @Test(
        "What was set on a child's new object counts as set when a policy merges only that",
        arguments: Backend.allCases)
    func setOnly(_ backend: Backend) throws {
        let (stack, parent, child) = try family(backend)
        let setting = stack.context()
        try product("a", setting)["note"] = "kept"
        try product("a", setting)["price"] = 9.0
        try setting.save()
        parent.mergePolicy = MergePolicy(merge: .mergeByPropertyObjectTrump, setOnly: true)
        child.make("Product", ["serialCode": "a", "name": "given"])
        try child.save()
        try parent.save()
        let stored = try product("a", stack.context())
        #expect(stored.string("note") == "kept" && stored["price"] as? Double == 9)
        #expect(stored.string("name") == "given")
    }

    @Test(
        "Rolling back and resetting a child leaves the parent as it is, and the other way round",
        arguments: Backend.allCases)
    func droppingChanges(_ backend: Backend) throws {
        let (_, parent, child) = try family(backend)
        let own = try product("a", child)
        own["price"] = 1.0
        let draft = child.make("Product", ["serialCode": "draft"])
        child.delete(try product("b", child))
        child.rollback()
        #expect(!child.hasChanges && own["price"] as? Double == 0)
        #expect(draft.managedObjectContext == nil && !parent.hasChanges)
        own["price"] = 2.0
        try child.save()
        own["price"] = 3.0
        child.rollback()
        #expect(own["price"] as? Double == 2)
        child.reset()
        #expect(own.managedObjectContext == nil)
        let again = try product("a", child)
        #expect(again["price"] as? Double == 2)
        parent.rollback()
        child.refresh(again, mergeChanges: false)
        #expect(again["price"] as? Double == 0)
        again["price"] = 4.0
        parent.reset()
        try child.save()
        #expect(try product("a", parent)["price"] as? Double == 4)
        // A new object that the parent forgets is gone for the child too.
        let new = child.make("Product", ["serialCode": "n"])
        try child.save()
        parent.reset()
        new["price"] = 1.0
        child.shouldDeleteInaccessibleFaults = false
        #expect(storeError { try child.save() }?.code == .objectNotFound)
    }

    @Test(
        "A save of a draft that differs in nothing changes nothing in the parent",
        arguments: Backend.allCases)
    func nothing(_ backend: Backend) throws {
        let (_, parent, child) = try family(backend)
        let own = try product("a", child)
        own["price"] = 0.0
        #expect(child.hasChanges)
        try child.save()
        #expect(!child.hasChanges && !parent.hasChanges)
    }
}
