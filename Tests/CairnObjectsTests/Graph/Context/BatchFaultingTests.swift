// Faults that are read together, and the entity of an id.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Reading many faults at once")
struct BatchFaultingTests {
    private func products(_ count: Int, _ backend: Backend) throws -> (Stack, [ObjectID]) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            (0..<count).map { context.make("Product", ["serialCode": "\($0)", "stock": $0]) }
        }
        return (stack, ids)
    }

    @Test("Many faults are read with one question for each 1,024", arguments: Backend.allCases)
    func questions(_ backend: Backend) throws {
        let (stack, ids) = try products(1500, backend)
        let counting = CountingStore(stack.store)
        let context = ManagedObjectContext(store: counting)
        let objects = ids.map { context.object(with: $0) }
        #expect(objects[7].int("stock") == 7)
        let edited = objects[8]
        edited["note"] = "mine"
        let before = counting.reads
        try context.fulfill(objects)
        #expect(counting.reads == before + 2)
        #expect(objects.map { $0.int("stock") } == Array(0..<1500))
        #expect(objects.allSatisfy { !$0.isFault } && edited.string("note") == "mine")
        try context.fulfill(objects)
        #expect(counting.reads == before + 2)
        // Those of other contexts, and new ones, are not its business.
        try stack.context().fulfill(objects + [context.make("Product")])
        #expect(counting.reads == before + 2)
    }

    @Test("Rows that are gone are what the setting says", arguments: Backend.allCases)
    func gone(_ backend: Backend) throws {
        let (stack, ids) = try products(3, backend)
        let context = stack.context()
        let objects = ids.map { context.object(with: $0) }
        let other = stack.context()
        other.delete(other.object(with: ids[1]))
        try other.save()
        context.shouldDeleteInaccessibleFaults = false
        let error = storeError { try context.fulfill(objects) }
        #expect(error?.code == .objectNotFound && error?.context.objectID == ids[1])
        context.shouldDeleteInaccessibleFaults = true
        try context.fulfill(objects)
        #expect(objects.map(\.isDeleted) == [false, true, false])
        #expect(objects[2].int("stock") == 2)
    }

    @Test("The entity of an id is told without its object", arguments: Backend.allCases)
    func entities(_ backend: Backend) throws {
        let stack = try Stack(Models.vehicles, backend)
        let ids = try stack.store { context in
            [context.make("Car", ["numberPlate": "a"]), context.make("SportCar")]
        }
        let context = stack.context()
        #expect(try ids.map { try context.entity(of: $0)?.name } == ["Car", "SportCar"])
        #expect(context.registeredObjects.isEmpty)
        let new = context.make("SportCar")
        #expect(try context.entity(of: new.objectID)?.name == "SportCar")
        let far = try Stack(Models.vehicles, backend)
        #expect(try far.context().entity(of: ids[0]) == nil)
        let other = stack.context()
        other.delete(other.object(with: ids[1]))
        try other.save()
        #expect(try context.entity(of: ids[1]) == nil)
    }
}
