// Objects that were found to be folded into others, and are there again; and how much is asked about those that are not.

import CairnLog
import CairnModel
import CairnStore
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Folded objects that come back")
struct ReturningLoserTests {
    private let stack: Stack
    /// The ids of people with the same address: the first one stays.
    private let people: [ObjectID]

    init() throws {
        stack = try Stack(DuplicatePeople.model, .log)
        people = try stack.store { context in
            ["a", "b"].map { context.make("Person", ["name": $0, "email": "x"]) }
        }
    }

    private static func fold(_ stack: Stack) throws {
        _ = try stack.context().execute(
            DeduplicationRequest(
                entityName: "Person", by: ["email"], keeping: .smallest(by: "name")))
    }

    @Test("One that is there in another state of the store is in nobody's place")
    func revived() throws {
        let companies = try stack.store { context in
            (0..<2).map { _ in context.make("Company", ["name": "x"]) }
        }
        let past = stack.context()
        try past.setQueryGeneration(from: .current)
        #expect(try past.count("Company") == 2)
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        // Nobody has seen its values.
        let loser = context.object(with: companies[1])
        try stack.context().execute(
            DeduplicationRequest(entityName: "Company", by: ["name"], keeping: .first))
        context.processPendingChanges()
        #expect(loser.isGone && loser.absorbedInto == companies[0])
        try context.setQueryGeneration(from: past.queryGenerationToken)
        let back = try context.existingObject(with: companies[1])
        #expect(back === loser && back.string("name") == "x")
        #expect(back.absorbedInto == nil && !back.isDeleted)
    }

    @Test("One that somebody has stored again is as any other once it is refreshed")
    func refreshed() throws {
        let other = stack.context(.overwrite)
        try other.existingObject(with: people[1])["phone"] = "1"
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let loser = try context.existingObject(with: people[1])
        try Self.fold(stack)
        context.processPendingChanges()
        #expect(loser.isDeleted && loser.absorbedInto == people[0])
        context.automaticallyMergesChangesFromParent = false
        try other.save()
        context.refresh(loser, mergeChanges: false)
        #expect(loser.string("phone") == "1" && !loser.isDeleted)
        #expect(loser.absorbedInto == nil && !loser.isDisplaced)
        #expect(try context.redirectedObjectID(for: people[1]) == nil)
    }

    @Test("Of many that are gone only those are asked for that edits lead to")
    func work() throws {
        let store = CountingStore(try Backend.log.makeStore(Schema(DuplicatePeople.model)))
        let stack = Stack(store: store)
        let ids = try stack.store { context in
            (0..<60).map { context.make("Person", ["name": "\(100 + $0)", "email": "x"]) }
        }
        let context = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let held = try context.all("Person")
        #expect(held.count == 60)
        let late = context.make("Person", ["name": "late", "mentor": context.object(with: ids[7])])
        context.processPendingChanges()
        try Self.fold(stack)
        let before = store.snapshots
        context.processPendingChanges()
        #expect(held.count { $0.isDeleted } == 59)
        #expect(store.snapshots - before < 8)
        #expect(late.object("mentor")?.objectID == ids[0])
    }
}
