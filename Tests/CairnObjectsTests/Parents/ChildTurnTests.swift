// Children in time: what they hand over after their parent has saved, and what becomes of them at the end of turns and saves.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

/// Calls a closure of the test's in `willSave`.
private final class Hooked: ManagedObject {
    var onSave: () -> Void = {}

    override func willSave() {
        super.willSave()
        let once = onSave
        onSave = {}
        once()
    }
}

@Suite("Children in time")
struct ChildTurnTests {
    @Test(
        "What a child has read before its parent saved is no conflict of the parent with itself",
        arguments: Backend.allCases)
    func ownSave(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        let grandchild = child.newChildContext()
        let (one, other) = (child.object(with: ids[1]), grandchild.object(with: ids[2]))
        _ = (one.string("note"), other.string("note"))
        do {
            for id in ids[1...] { parent.object(with: id)["note"] = "of the parent" }
            try parent.save()
        }
        parent.refreshAllObjects()
        one["price"] = 1.0
        other["price"] = 2.0
        try grandchild.save()
        try child.save()
        try parent.save()
        for (id, price) in zip(ids[1...], [1.0, 2.0]) {
            let stored = stack.context().object(with: id)
            #expect(stored["price"] as? Double == price && stored.string("note") == "of the parent")
        }
    }

    @Test(
        "What somebody else has saved since the parent saved is a conflict, though the parent holds nothing of it",
        arguments: Backend.allCases)
    func laterSave(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        let product = child.object(with: ids[1])
        _ = product.string("note")
        parent.object(with: ids[1])["price"] = 1.0
        try parent.save()
        #expect(parent.registeredObject(for: ids[1]) == nil)
        let other = stack.context()
        other.object(with: ids[1])["note"] = "B"
        try other.save()
        product["note"] = "C"
        try child.save()
        #expect(storeError { try parent.save() }?.code == .mergeConflict)
        #expect(stack.context().object(with: ids[1]).string("note") == "B")
    }

    @Test(
        "Fetching with shouldRefreshRefetchedObjects shows a child what its parent has saved since",
        arguments: Backend.allCases)
    func refetching(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        let product = child.object(with: ids[1])
        #expect(product.string("note") == nil)
        parent.object(with: ids[1])["note"] = "of the parent"
        try parent.save()
        var request = FetchRequest<ManagedObject>(entityName: "Product")
        request.shouldRefreshRefetchedObjects = true
        _ = try child.fetch(request)
        #expect(product.string("note") == "of the parent")
    }

    @Test(
        "What somebody else has saved since the child read is a conflict still",
        arguments: Backend.allCases)
    func otherSave(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        let product = child.object(with: ids[1])
        _ = product.string("note")
        parent.object(with: ids[2])["note"] = "of the parent"
        try parent.save()
        let other = stack.context()
        other.object(with: ids[1])["note"] = "of somebody else"
        try other.save()
        product["price"] = 1.0
        try child.save()
        #expect(storeError { try parent.save() }?.versions.map(\.id) == [ids[1]])
    }

    @Test(
        "Children of a background context save by themselves after its turns, before it does",
        arguments: Backend.allCases)
    func autosave(_ backend: Backend) async throws {
        struct Stop: Error {}
        let stack = try Stack(Models.shop, backend)
        let background = stack.container.newBackgroundContext()
        await background.perform { context in
            context.autosaveEnabled = true
            let child = context.newChildContext()
            let grandchild = child.newChildContext()
            child.autosaveEnabled = true
            grandchild.autosaveEnabled = true
            context.userInfo["drafts"] = [child, grandchild]
            grandchild.make("Product", ["serialCode": "a"])
        }
        #expect(try stack.context().count("Product") == 1)
        do {
            try await background.perform { context in
                let drafts = context.userInfo["drafts"] as? [ManagedObjectContext]
                drafts?[1].make("Product", ["serialCode": "b"])
                throw Stop()
            }
        } catch {}
        #expect(try stack.context().count("Product") == 1)
        await background.perform { _ in }
        #expect(try stack.context().count("Product") == 2)
        await background.perform { context in context.userInfo = [:] }
    }

    @Test(
        "The runs of edits of children end with the turns of a background context",
        arguments: Backend.allCases)
    func processing(_ backend: Backend) async throws {
        let (stack, ids) = try Stack.shop(backend)
        let background = stack.container.newBackgroundContext()
        let isPropagated = await background.perform { context in
            let child = context.newChildContext()
            context.userInfo["draft"] = child
            child.delete(child.object(with: ids[0]))
            return child.object(with: ids[1]).object("shop") == nil
        }
        #expect(!isPropagated)
        let isNow = await background.perform { context in
            let child = context.userInfo["draft"] as? ManagedObjectContext
            defer { context.userInfo = [:] }
            guard let product = child?.registeredObject(for: ids[1]) else { return false }
            return product.object("shop") == nil
        }
        #expect(isNow)
    }

    @Test(
        "What the parent saves while a child saves is merged when the child is done",
        arguments: Backend.allCases)
    func missed(_ backend: Backend) throws {
        let (stack, ids) = try Stack.shop(backend, classes: ObjectClasses(["Shop": Hooked.self]))
        let parent = stack.context()
        let child = parent.newChildContext()
        child.automaticallyMergesChangesFromParent = true
        let product = child.object(with: ids[1])
        #expect(product.string("note") == nil)
        let shop = try #require(child.object(with: ids[0]) as? Hooked)
        shop["name"] = "market"
        shop.onSave = {
            parent.object(with: ids[1])["note"] = "of the parent"
            try? parent.save()
        }
        try child.save()
        // Nobody has asked the child for anything since.
        #expect(product.string("note") == "of the parent")
        #expect(!child.hasChanges && shop.string("name") == "market")
    }
}
