// Deletions that are taken back because somebody else has changed the object.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Deletions that are taken back")
struct DiscardedDeletionTests {
    /// A grandparent, a parent, a child and a friend of the parent.
    private func family(_ backend: Backend) throws -> (Stack, [ObjectID]) {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let old = context.make("Person", ["name": "old"])
            let parent = context.make("Person", ["name": "parent", "parent": old])
            let child = context.make("Person", ["name": "child", "parent": parent])
            let friend = context.make("Person", ["name": "friend", "friends": Set([parent])])
            return [old, parent, child, friend]
        }
        return (stack, ids)
    }

    /// The objects of ids with their values: who was never read is deleted as he is.
    private func read(_ ids: [ObjectID], _ context: ManagedObjectContext) -> [ManagedObject] {
        let people = ids.map { context.object(with: $0) }
        for person in people { #expect(person.string("name") != nil) }
        return people
    }

    private func rename(_ id: ObjectID, _ stack: Stack, _ name: String = "renamed") throws {
        let context = stack.context()
        context.object(with: id)["name"] = name
        try context.save()
    }

    @Test(
        "With a deletion that is dropped goes what its cascade has deleted",
        arguments: Backend.allCases)
    func cascade(_ backend: Backend) throws {
        let (stack, ids) = try family(backend)
        let context = stack.context()
        let people = read(ids, context)
        context.delete(people[0])
        try rename(ids[0], stack)
        let error = try #require(storeError { try context.save() })
        #expect(people[2].isDeleted && error.code == .mergeConflict)
        let dropped = context.discard(error.conflicts)
        #expect(Set(dropped) == Set(people[0...2]))
        for person in people { #expect(!person.isDeleted) }
        #expect(people[0].string("name") == "renamed")
        #expect(people[0].members("children") == [people[1]])
        #expect(people[2].object("parent") === people[1])
        #expect(people[3].members("friends") == [people[1]])
        try context.save()
        #expect(try describePeople(stack.context()) == describePeople(context))
        #expect(try stack.context().count("Person") == 4)
    }

    @Test("What the program has deleted itself stays deleted", arguments: Backend.allCases)
    func deletedToo(_ backend: Backend) throws {
        let (stack, ids) = try family(backend)
        let context = stack.context()
        let people = read(ids, context)
        context.delete(people[0])
        context.processPendingChanges()
        context.delete(people[2])
        try rename(ids[0], stack)
        let error = try #require(storeError { try context.save() })
        #expect(Set(context.discard(error.conflicts)) == Set(people[0...1]))
        #expect(people[2].isDeleted && !people[1].isDeleted)
        try context.save()
        #expect(try stack.context().count("Person") == 3)
        #expect(stack.context().object(with: ids[1]).members("children").isEmpty)
    }

    @Test(
        "What was deleted before by itself stays deleted, with what it owns",
        arguments: Backend.allCases)
    func deletedBefore(_ backend: Backend) throws {
        let (stack, ids) = try family(backend)
        let context = stack.context()
        let people = read(ids, context)
        // Both are deleted, each by itself; only the first is taken back.
        context.delete(people[1])
        context.processPendingChanges()
        context.delete(people[0])
        try rename(ids[0], stack)
        let error = try #require(storeError { try context.save() })
        #expect(context.discard(error.conflicts) == [people[0]])
        #expect(people[1].isDeleted && people[2].isDeleted)
        try context.save()
        #expect(try stack.context().count("Person") == 2)
    }

    @Test(
        "So does what only an unsaved edit had made a member, as it is stored",
        arguments: Backend.allCases)
    func movedMember(_ backend: Backend) throws {
        let (stack, ids) = try family(backend)
        let context = stack.context()
        let people = read(ids, context)
        people[3]["parent"] = people[0]
        context.delete(people[0])
        try rename(ids[0], stack)
        let error = try #require(storeError { try context.save() })
        #expect(people[3].isDeleted)
        #expect(Set(context.discard(error.conflicts)) == Set(people))
        #expect(!people[3].isDeleted && people[3].object("parent") == nil)
        try context.save()
        #expect(try stack.context().count("Person") == 4)
    }

    @Test(
        "If the deletion of a member cannot be, then that of its owner is not either",
        arguments: Backend.allCases)
    func member(_ backend: Backend) throws {
        let (stack, ids) = try family(backend)
        let context = stack.context()
        let people = read(ids, context)
        context.delete(people[0])
        try rename(ids[2], stack)
        let error = try #require(storeError { try context.save() })
        #expect(error.versions.map(\.id) == [ids[2]])
        #expect(context.discard(error.conflicts) == Array(people[0...2]))
        for person in people { #expect(!person.isDeleted) }
        #expect(people[2].string("name") == "renamed")
        #expect(people[2].object("parent") === people[1])
        try context.save()
        #expect(try stack.context().count("Person") == 4)
    }

    @Test(
        "Nor are those of all who own it, each deleted by itself", arguments: Backend.allCases)
    func owners(_ backend: Backend) throws {
        let (stack, ids) = try family(backend)
        let context = stack.context()
        let people = read(ids, context)
        context.delete(people[1])
        context.processPendingChanges()
        context.delete(people[0])
        try rename(ids[2], stack)
        let error = try #require(storeError { try context.save() })
        #expect(error.versions.map(\.id) == [ids[2]])
        #expect(context.discard(error.conflicts) == Array(people[0...2]))
        try context.save()
        let fresh = stack.context()
        #expect(try fresh.count("Person") == 4)
        #expect(fresh.object(with: ids[2]).object("parent")?.objectID == ids[1])
        #expect(fresh.object(with: ids[1]).object("parent")?.objectID == ids[0])
    }

    @Test(
        "What led to it without an inverse leads to it again, if it leads nowhere else by now",
        arguments: Backend.allCases)
    func oneWay(_ backend: Backend) throws {
        let (stack, ids) = try family(backend)
        let fans = try stack.store { context in
            ["stored", "elsewhere"].map { name in
                let hero = context.object(with: ids[1])
                let links: [String: Any?] = ["mentor": hero, "heroes": Set([hero])]
                return context.make("Person", links.merging(["name": name]) { $1 })
            }
        }
        let context = stack.context()
        let people = read(ids, context)
        let new = context.make("Person", ["name": "new", "mentor": people[2]])
        context.delete(people[0])
        context.processPendingChanges()
        #expect(context.object(with: fans[0]).object("mentor") == nil)
        #expect(context.object(with: fans[0]).members("heroes").isEmpty)
        #expect(new.object("mentor") == nil)
        try context.obtainPermanentIDs(for: [new])
        context.object(with: fans[1])["mentor"] = people[3]
        try rename(ids[0], stack)
        let error = try #require(storeError { try context.save() })
        context.discard(error.conflicts)
        #expect(context.object(with: fans[0]).object("mentor") === people[1])
        #expect(context.object(with: fans[1]).object("mentor") === people[3])
        #expect(new.object("mentor") === people[2])
        try context.save()
        let fresh = stack.context()
        for fan in fans {
            #expect(fresh.object(with: fan).members("heroes").map(\.objectID) == [ids[1]])
        }
        #expect(fresh.object(with: fans[0]).object("mentor")?.objectID == ids[1])
        #expect(fresh.object(with: fans[1]).object("mentor")?.objectID == ids[3])
        #expect(fresh.object(with: new.objectID).object("mentor")?.objectID == ids[2])
    }

    @Test("What is in conflict twice over is told once", arguments: Backend.allCases)
    func twice(_ backend: Backend) throws {
        let (stack, ids) = try family(backend)
        let context = stack.context()
        let people = read(ids, context)
        context.delete(people[0])
        for id in ids[0...1] { try rename(id, stack, "renamed \(id)") }
        let error = try #require(storeError { try context.save() })
        #expect(error.conflicts.count == 2)
        #expect(context.discard(error.conflicts) == Array(people[0...2]))
        try context.save()
        #expect(try stack.context().count("Person") == 4)
    }

    @Test("Many objects can be relied on", arguments: Backend.allCases)
    func lockedOnce(_ backend: Backend) throws {
        let (stack, ids) = try family(backend)
        let counting = CountingStore(stack.store)
        let context = ManagedObjectContext(store: counting, classes: stack.container.classes)
        for _ in 0..<3 { for id in ids { context.detectConflicts(for: context.object(with: id)) } }
        context.make("Person", ["name": "new"])
        context.object(with: ids[3])["name"] = "changed"
        try context.save()
        #expect(counting.lastSave?.locked.map(\.id) == ids)
    }
}
