// What contexts make of ids whose objects were folded into others.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Objects that were folded into others")
struct RedirectedObjectsTests {
    private let stack: Stack
    /// The ids of people with the same address, in the order of their names: "a" stays.
    private let people: [ObjectID]

    init() throws {
        stack = try Stack(DuplicatePeople.model, .log)
        people = try stack.store { context in
            ["a", "b", "c"].map { context.make("Person", ["name": $0, "email": "x"]) }
        }
    }

    private func fold(keeping rule: DeduplicationRule = .smallest(by: "name")) throws {
        let result = try stack.context().execute(
            DeduplicationRequest(entityName: "Person", by: ["email"], keeping: rule))
        #expect(result.deletedCount > 0)
    }

    private func name(_ id: ObjectID, _ context: ManagedObjectContext) throws -> String? {
        try context.existingObject(with: id).string("name")
    }

    @Test("The id of a loser gets the winner, by itself, as a fault and as a URI")
    func lookingUp() throws {
        try fold()
        let context = stack.context()
        #expect(try context.redirectedObjectID(for: people[1]) == people[0])
        #expect(try context.redirectedObjectID(for: people[0]) == nil)
        #expect(try name(people[2], context) == "a")
        #expect(context.object(with: people[1]).objectID == people[0])
        #expect(context.object(with: people[1]) === (try context.existingObject(with: people[0])))
        let child = ManagedObjectContext(parent: context)
        #expect(try name(people[1], child) == "a")
        #expect(child.object(with: people[2]).objectID == people[0])
        let id = try #require(ObjectID(uriRepresentation: people[1].uriRepresentation))
        #expect(try name(id, context) == "a")
        let unknown = stack.store.identity.id(9_999, entity: try personEntity().index)
        #expect(try context.redirectedObjectID(for: unknown) == nil)
        #expect(
            storeError { _ = try context.existingObject(with: unknown) }?.code == .objectNotFound)
    }

    private func personEntity() throws -> SchemaEntity {
        try #require(stack.store.schema.entity(named: "Person"))
    }

    @Test("Fetches whose conditions name a loser look for the winner, and what leads to it")
    func fetching() throws {
        try stack.store { context in
            let friend = context.make("Person", ["name": "friend"])
            friend["mentor"] = context.object(with: people[1])
            return [friend]
        }
        try fold()
        let context = stack.context()
        let loser = Value.objectID(people[1])
        func names(_ predicate: PredicateNode) throws -> [String] {
            try context.fetch(FetchRequest(entityName: "Person", predicate: predicate))
                .compactMap { $0.string("name") }.sorted()
        }
        #expect(try names(.compare(.evaluatedObject, .equal, .constant(loser))) == ["a"])
        #expect(
            try names(
                .compare(.evaluatedObject, .in, .list([loser, .objectID(people[2])]))) == ["a"])
        #expect(try names(.compare("mentor", .equal, loser)) == ["friend"])
        #expect(try names(PredicateNode(format: "mentor == %@", [loser])) == ["friend"])
        // Unsaved changes are laid over it.
        let other = context.make("Person", ["name": "other"])
        other["mentor"] = try context.existingObject(with: people[0])
        #expect(try names(.compare("mentor", .equal, loser)) == ["friend", "other"])
        #expect(
            try context.count(
                for: FetchRequest(
                    entityName: "Person", predicate: .compare("mentor", .equal, loser))) == 2)
    }

    @Test("What a context sets to a loser that it has still is saved as the winner")
    func lateReferences() throws {
        let context = stack.context()
        let loser = try context.existingObject(with: people[1])
        let friend = context.make("Person", ["name": "friend", "mentor": loser])
        friend["heroes"] = Set([loser])
        try context.save()
        let late = context.make("Person", ["name": "late", "mentor": loser])
        late["heroes"] = Set([loser])
        let tag = context.make("Tag", ["label": "t"])
        tag["people"] = Set([loser])
        try fold()
        try context.save()
        #expect(late.object("mentor")?.objectID == people[0])
        let other = stack.context()
        let winner = try other.existingObject(with: people[0])
        for name in ["friend", "late"] {
            let found = try #require(other.find("Person", "name", .string(name)).first)
            #expect(found.object("mentor") === winner, "\(name)")
            #expect(found.members("heroes") == [winner], "\(name)")
        }
        #expect(try other.all("Tag")[0].members("people") == [winner])
    }

    @Test(
        "A context that merges finds the loser deleted, told whose place was taken, and its edits led on"
    )
    func merging() throws {
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let loser = try context.existingObject(with: people[1])
        _ = loser.string("name")
        let late = context.make("Person", ["name": "late", "mentor": loser])
        late["heroes"] = Set([loser])
        // Before it has merged, the object is what it was.
        #expect(try context.redirectedObjectID(for: people[1]) == nil)
        try fold()
        context.processPendingChanges()
        _ = try context.all("Tag")
        #expect(loser.isDeleted && loser.absorbedInto == people[0])
        #expect(loser.string("name") == "b")
        let winner = try context.existingObject(with: people[1])
        #expect(winner.objectID == people[0])
        #expect(late.object("mentor") === winner && late.members("heroes") == [winner])
        try context.save()
        #expect(
            try stack.context().find("Person", "name", .string("late"))[0]
                .object("mentor")?.objectID == people[0])
        #expect(context.registeredObject(for: people[1]) == nil)
    }

    @Test("A context that is pinned to a state from before sees the loser")
    func generations() throws {
        let context = stack.context()
        try context.setQueryGeneration(from: .current)
        #expect(try context.count("Person") == 3)
        try fold()
        #expect(try name(people[1], context) == "b")
        #expect(context.object(with: people[2]).string("name") == "c")
        try context.setQueryGeneration(from: nil)
        context.reset()
        #expect(try name(people[1], context) == "a")
    }

    @Test(
        "Who saves a loser that others have changed meanwhile has a conflict as before, or has it back"
    )
    func conflicts() throws {
        for policy in [MergePolicy.error, .overwrite] {
            let stack = try Stack(DuplicatePeople.model, .log)
            let ids = try stack.store { context in
                ["a", "b"].map { context.make("Person", ["name": $0, "email": "x"]) }
            }
            let context = stack.context(policy)
            let loser = try context.existingObject(with: ids[1])
            loser["phone"] = "1"
            _ = try stack.context().execute(
                DeduplicationRequest(
                    entityName: "Person", by: ["email"], keeping: .smallest(by: "name")))
            let error = storeError { try context.save() }
            let other = stack.context()
            if policy.mergeType == .error {
                #expect(error?.code == .mergeConflict)
                #expect(try other.redirectedObjectID(for: ids[1]) == ids[0])
            } else {
                #expect(error == nil)
                #expect(try other.redirectedObjectID(for: ids[1]) == nil)
                #expect(try other.existingObject(with: ids[1]).string("phone") == "1")
            }
        }
    }

    @Test("Winners that lose later hand all on; one that is deleted for good leads nowhere")
    func chains() throws {
        try fold()
        try stack.store { context in [context.make("Person", ["name": "0", "email": "x"])] }
        try fold()
        let context = stack.context()
        #expect(try people.map { try name($0, context) } == ["0", "0", "0"])
        context.delete(try context.existingObject(with: people[0]))
        try context.save()
        for id in people {
            #expect(
                storeError { _ = try stack.context().existingObject(with: id) }?.code
                    == .objectNotFound)
        }
    }

    @Test("The history says who took whose place")
    func history() throws {
        let store = try Backend.log.makeStoreWithHistory(Schema(DuplicatePeople.model))
        let stack = Stack(store: store)
        let ids = try stack.store { context in
            ["a", "b"].map { context.make("Person", ["name": $0, "email": "x"]) }
        }
        let context = stack.context()
        try context.execute(
            DeduplicationRequest(
                entityName: "Person", by: ["email"], keeping: .smallest(by: "name")))
        let result = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nil))
        let last = try #require(result.transactions.last?.changes)
        #expect(last.filter { $0.changeType == .delete }.map(\.redirectedObjectID) == [ids[0]])
        #expect(
            last.filter { $0.changeType != .delete }.allSatisfy { $0.redirectedObjectID == nil })
        try store.close()
    }

    @Test("Each store of a coordinator has its own")
    func coordinator() throws {
        let both = try TwoStores(DuplicatePeople.model, .log, [nil, nil])
        let context = both.context()
        var ids: [[ObjectID]] = []
        for store in both.stores {
            let objects = try ["a", "b"].map {
                try context.make("Person", in: store, ["name": $0, "email": "x"])
            }
            try context.save()
            ids.append(objects.map(\.objectID))
        }
        try context.execute(
            DeduplicationRequest(
                entityName: "Person", by: ["email"], keeping: .smallest(by: "name")))
        let other = both.context()
        for (winner, loser) in ids.map({ ($0[0], $0[1]) }) {
            #expect(try other.redirectedObjectID(for: loser) == winner)
            #expect(try both.coordinator.redirectedObjectID(for: loser) == winner)
            #expect(try other.existingObject(with: loser).objectID == winner)
            #expect(other.object(with: loser).objectID == winner)
            let late = try other.make("Person", in: both.stores[ids[0][0] == winner ? 0 : 1])
            late["mentor"] = other.object(with: loser)
            try other.save()
            #expect(
                try other.count(
                    for: FetchRequest(
                        entityName: "Person",
                        predicate: .compare("mentor", .equal, .objectID(loser)))) == 1)
        }
    }
}
