// What keeps objects and contexts alive, and what does not.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("What is kept alive")
struct RetainingTests {
    private func stack(_ backend: Backend) throws -> (Stack, [ObjectID]) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let shop = context.make("Shop", ["name": "corner"])
            return [shop]
                + ["a", "b"].map { context.make("Product", ["serialCode": $0, "shop": shop]) }
        }
        return (stack, ids)
    }

    @Test(
        "A context that retains its objects keeps clean ones, until it is told otherwise",
        arguments: Backend.allCases)
    func retaining(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        let context = stack.context()
        #expect(!context.retainsRegisteredObjects)
        _ = context.object(with: ids[0])
        #expect(context.registeredObjects.isEmpty)
        do {
            let held = context.object(with: ids[0])
            context.retainsRegisteredObjects = true
            // Those that it has, those that come by faults, rows, members and inserting.
            #expect(held.members("products").count == 2)
            _ = try context.all("Product")
            context.make("Tag", ["label": "new"])
            try context.save()
        }
        #expect(context.registeredObjects.count == 4)
        #expect(context.registeredObject(for: ids[1])?.string("serialCode") == "a")
        context.delete(try #require(context.registeredObject(for: ids[2])))
        try context.save()
        #expect(context.registeredObjects.count == 3)
        #expect(context.registeredObject(for: ids[2]) == nil)
        context.make("Tag", ["label": "dropped"])
        context.rollback()
        #expect(context.registeredObjects.count == 3)
        context.retainsRegisteredObjects = false
        #expect(context.registeredObjects.isEmpty)
    }

    @Test(
        "A context that retains its objects lets them go with a reset", arguments: Backend.allCases)
    func resetting(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        weak var gone: ManagedObjectContext?
        do {
            let context = stack.context()
            gone = context
            context.retainsRegisteredObjects = true
            _ = context.object(with: ids[1]).string("serialCode")
            #expect(context.registeredObjects.count == 1)
            context.reset()
            #expect(context.registeredObjects.isEmpty)
            _ = context.object(with: ids[1])
            #expect(context.registeredObjects.count == 1)
            context.reset()
        }
        #expect(gone == nil)
    }

    @Test(
        "A context that is watched is not kept alive by what was refreshed in it, or found to be gone",
        arguments: Backend.allCases)
    func pendingEvents(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        _ = ManagedObjectContext.didChangeObjectsNotification
        weak var gone: ManagedObjectContext?
        do {
            let context = stack.context()
            gone = context
            let (one, other) = (context.object(with: ids[1]), context.object(with: ids[2]))
            _ = one.string("name")
            context.refresh(one, mergeChanges: false)
            let elsewhere = stack.context()
            elsewhere.delete(elsewhere.object(with: ids[2]))
            try elsewhere.save()
            #expect(other.string("serialCode") == nil && other.isDeleted)
        }
        #expect(gone == nil)
    }

    @Test(
        "Objects that nobody holds are told as refreshed and as deleted all the same",
        arguments: Backend.allCases)
    func told(_ backend: Backend) async throws {
        let (stack, ids) = try stack(backend)
        let background = stack.container.newBackgroundContext()
        var changes = await background.changes.inTime().makeAsyncIterator()
        let elsewhere = stack.context()
        await background.perform { context in
            let first = context.object(with: ids[1])
            _ = first.string("name")
            context.refresh(first, mergeChanges: false)
        }
        let refreshed = await changes.next(isolation: #isolation)
        #expect(refreshed?.refreshedObjectIDs == [ids[1]])
        elsewhere.delete(elsewhere.object(with: ids[2]))
        try elsewhere.save()
        await background.perform { context in _ = context.object(with: ids[2]).string("name") }
        let deleted = await changes.next(isolation: #isolation)
        #expect(deleted?.deletedObjectIDs == [ids[2]])
    }
}
