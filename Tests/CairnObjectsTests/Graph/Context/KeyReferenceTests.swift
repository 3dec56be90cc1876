// References that resolving a conflict of keys leads to where they were before.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("References between objects with conflicts of keys")
struct KeyReferenceTests {
    /// A child of a stored person is led to a new one with that person's name, and takes the name of a third one.
    private func run(_ backend: Backend, _ policy: MergePolicy) throws -> [String] {
        let stack = try Stack(Models.people, backend)
        let ids = try stack.store { context in
            let parent = context.make("Person", ["name": "C"])
            return [
                parent, context.make("Person", ["name": "D"]),
                context.make("Person", ["name": "E", "parent": parent]),
            ]
        }
        let context = stack.context(policy)
        let child = context.object(with: ids[2])
        child["name"] = "D"
        child["parent"] = context.make("Person", ["name": "C"])
        try context.save()
        let survivor = stack.context().object(with: ids[1])
        #expect(survivor.object("parent")?.objectID == ids[0])
        return try describePeople(stack.context())
    }

    @Test(
        "A reference that was set is given to the survivor, be it that it leads to where it led before",
        arguments: Backend.allCases)
    func setBack(_ backend: Backend) throws {
        for setOnly in [false, true] {
            let byStore = try run(
                backend, MergePolicy(merge: .mergeByPropertyObjectTrump, setOnly: setOnly))
            let byObjects = try run(
                backend, PlainSubclass(merge: .mergeByPropertyObjectTrump, setOnly: setOnly))
            #expect(byStore == byObjects)
        }
    }
}
