// Objects that were found to be folded into others, and are there again; and how much is asked about those that are not.

import CairnLog
import CairnModel
import CairnStore
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
