// Keys that name objects which were folded into others.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Finding by keys that name folded objects")
struct RedirectedKeyTests {
    private let stack: Stack
    /// The ids of people with the same address, in the order of their names: "a" stays.
    private let people: [ObjectID]
    private let friend: ObjectID

    init() throws {
        stack = try Stack(DuplicatePeople.model, .log)
        people = try stack.store { context in
            ["a", "b", "c"].map { context.make("Person", ["name": $0, "email": "x"]) }
        }
        let ids = people
        friend = try stack.store { context in
            let friend = context.make("Person", ["name": "friend"])
            friend["mentor"] = context.object(with: ids[1])
            return [friend]
        }[0]
    }

    private func fold() throws {
        let result = try stack.context().execute(
            DeduplicationRequest(
                entityName: "Person", by: ["email"], keeping: .smallest(by: "name")))
        #expect(result.deletedCount == 2)
    }

    private func find(_ name: String, _ mentor: ObjectID, _ context: ManagedObjectContext) throws
        -> (object: ManagedObject, isNew: Bool)
    {
        try context.findOrInsert(entityName: "Person", key: ["name": name, "mentor": mentor])
    }

    @Test("A key that names a loser finds what leads to the winner, and a new object leads there")
    func losers() throws {
        try fold()
        let context = stack.context()
        for id in people {
            let found = try find("friend", id, context)
            #expect(found.object.objectID == friend && !found.isNew)
        }
        let child = ManagedObjectContext(parent: context)
        #expect(try find("friend", people[2], child).object.objectID == friend)
        // Several names of one object are one key.
        let all = try context.findOrInsert(
            entityName: "Person", keys: people.map { ["name": "new", "mentor": $0] })
        #expect(all.map(\.isNew) == [true, false, false])
        #expect(all.allSatisfy { $0.object === all[0].object })
        #expect(all[0].object.object("mentor")?.objectID == people[0])
        #expect(try find("new", people[1], context).object === all[0].object)
        #expect(try find("new", people[1], child).object.objectID == all[0].object.objectID)
        try context.save()
        let other = stack.context()
        #expect(try other.count("Person") == 3)
        #expect(try find("new", people[2], other).object.objectID == all[0].object.objectID)
    }

    @Test("A changed object that shows the loser still is found by it")
    func unmerged() throws {
        let context = stack.context()
        let held = context.object(with: friend)
        held["phone"] = "1"
        #expect(try find("friend", people[1], context).object === held)
        try fold()
        let found = try find("friend", people[1], context)
        #expect(found.object === held && !found.isNew)
    }

    @Test("It is found by whichever loser it shows, also beside keys that name others")
    func unmergedBesideOthers() throws {
        let context = stack.context()
        let held = context.object(with: friend)
        held["phone"] = "1"
        #expect(try find("friend", people[1], context).object === held)
        try fold()
        let found = try context.findOrInsert(
            entityName: "Person",
            keys: [people[2], people[0], people[1]].map { ["name": "friend", "mentor": $0] })
        #expect(found.allSatisfy { $0.object === held && !$0.isNew })
    }
}
