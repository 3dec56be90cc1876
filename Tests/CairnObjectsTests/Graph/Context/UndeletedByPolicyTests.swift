// Deletions that a merge policy takes back in favour of what somebody else has stored.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Deletions that a merge policy takes back")
struct UndeletedByPolicyTests {
    /// A grandparent, a parent, a child, a friend of the parent, and one whose mentor the parent is.
    private struct Scene {
        let stack: Stack
        let context: ManagedObjectContext
        let ids: [ObjectID]
        let people: [ManagedObject]

        init(_ backend: Backend, _ policy: MergePolicy) throws {
            stack = try Stack(Models.people, backend)
            ids = try stack.store { context in
                let old = context.make("Person", ["name": "old"])
                let parent = context.make("Person", ["name": "parent", "parent": old])
                let child = context.make("Person", ["name": "child", "parent": parent])
                let friend = context.make("Person", ["name": "friend", "friends": Set([parent])])
                let pupil = context.make("Person", ["name": "pupil", "mentor": parent])
                return [old, parent, child, friend, pupil]
            }
            let context = stack.context(policy)
            self.context = context
            people = ids.map { context.object(with: $0) }
            for person in people { #expect(person.string("name") != nil) }
        }

        /// Somebody else renames one of them, then the context saves.
        func save(renaming index: Int) throws {
            let other = stack.context()
            other.object(with: ids[index])["name"] = "renamed"
            try other.save()
            try context.save()
            #expect(!context.hasChanges)
            #expect(people[index].string("name") == "renamed" && !people[index].isDeleted)
            #expect(try describePeople(context) == describePeople(stack.context()))
        }
    }

    /// The policies that do so: carried out by the store where it can, and on the objects.
    private static var policies: [MergePolicy] {
        [MergePolicyKind.mergeByPropertyStoreTrump, .rollback].flatMap {
            [MergePolicy(merge: $0), PlainSubclass(merge: $0)]
        }
    }

    @Test(
        "What delete rules have deleted and unlinked comes back, too", arguments: Backend.allCases)
    func rules(_ backend: Backend) throws {
        for policy in Self.policies {
            let scene = try Scene(backend, policy)
            let people = scene.people
            scene.context.delete(people[1])
            scene.context.processPendingChanges()
            #expect(people[2].isDeleted && people[4].object("mentor") == nil)
            #expect(people[3].members("friends").isEmpty && people[0].members("children").isEmpty)
            try scene.save(renaming: 1)
            #expect(!people[2].isDeleted && people[2].object("parent") === people[1])
            #expect(people[0].members("children") == [people[1]])
            #expect(people[3].members("friends") == [people[1]])
            #expect(people[4].object("mentor") === people[1])
            #expect(try scene.stack.context().count("Person") == 5)
        }
    }

    @Test("Who was moved elsewhere before stays there", arguments: Backend.allCases)
    func moved(_ backend: Backend) throws {
        for policy in Self.policies {
            let scene = try Scene(backend, policy)
            let people = scene.people
            people[2]["parent"] = people[3]
            scene.context.delete(people[1])
            try scene.save(renaming: 1)
            #expect(people[2].object("parent") === people[3])
            #expect(people[1].members("children").isEmpty)
            #expect(people[0].members("children") == [people[1]])
            #expect(try scene.stack.context().count("Person") == 5)
        }
    }

    @Test("Who owns it, and was deleted, stays deleted", arguments: Backend.allCases)
    func owner(_ backend: Backend) throws {
        for policy in Self.policies {
            let scene = try Scene(backend, policy)
            let people = scene.people
            scene.context.delete(people[0])
            try scene.save(renaming: 2)
            #expect(people[2].object("parent") == nil)
            let names = try scene.stack.context().all("Person").compactMap { $0.string("name") }
            #expect(names.sorted() == ["friend", "pupil", "renamed"])
        }
    }

    @Test("Several of one cascade come back once each", arguments: Backend.allCases)
    func several(_ backend: Backend) throws {
        for policy in Self.policies {
            let scene = try Scene(backend, policy)
            let people = scene.people
            scene.context.delete(people[0])
            let other = scene.stack.context()
            other.object(with: scene.ids[0])["name"] = "older"
            other.object(with: scene.ids[1])["name"] = "elder"
            try other.save()
            try scene.save(renaming: 2)
            #expect(people[0].string("name") == "older" && people[1].string("name") == "elder")
            #expect(people[2].object("parent") === people[1])
            #expect(people[1].object("parent") === people[0])
            #expect(people[4].object("mentor") === people[1])
        }
    }
}
