// Objects that are gone from a child for a while, because its parent has deleted them and rolls back.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Objects that come back")
struct ReturningObjectsTests {
    private func stack(_ backend: Backend) throws -> (Stack, [ObjectID]) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            [
                context.make("Shop", ["name": "corner"]), context.make("Tag", ["label": "red"]),
                context.make("Product", ["serialCode": "a"]),
            ]
        }
        return (stack, ids)
    }

    /// Deletes an object of the parent, and takes that back.
    private func deleteForAWhile(_ id: ObjectID, _ contexts: [ManagedObjectContext]) throws {
        contexts[0].delete(contexts[0].object(with: id))
        for context in contexts {
            context.refreshAllObjects()
            #expect(try !context.all("Shop").contains { $0.objectID == id })
            #expect(try !context.all("Tag").contains { $0.objectID == id })
            #expect(try !context.all("Product").contains { $0.objectID == id })
        }
        contexts[0].rollback()
        for context in contexts { context.refreshAllObjects() }
    }

    @Test(
        "A member of a pair is one again, whichever of the two was gone",
        arguments: Backend.allCases, [1, 2])
    func pairs(_ backend: Backend, _ gone: Int) throws {
        let (stack, ids) = try stack(backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        child.object(with: ids[2]).add(child.object(with: ids[1]), to: "tags")
        try deleteForAWhile(ids[gone], [parent, child])
        let tag = try #require(try child.all("Tag").first)
        let product = try #require(try child.all("Product").first)
        #expect(product.members("tags") == [tag] && tag.members("products") == [product])
        try child.save()
        try parent.save()
        #expect(stack.context().object(with: ids[2]).members("tags").count == 1)
    }

    @Test(
        "A pair of which one is gone is not saved", arguments: Backend.allCases, [1, 2])
    func halfPairs(_ backend: Backend, _ gone: Int) throws {
        let (stack, ids) = try stack(backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        child.object(with: ids[2]).add(child.object(with: ids[1]), to: "tags")
        parent.delete(parent.object(with: ids[gone]))
        try parent.save()
        child.refreshAllObjects()
        #expect(try child.all(gone == 1 ? "Tag" : "Product").isEmpty)
        try child.save()
        try parent.save()
        #expect(!child.hasChanges && !parent.hasChanges)
        let left = stack.context().object(with: ids[3 - gone])
        #expect(left.members(gone == 1 ? "tags" : "products").isEmpty)
    }

    @Test(
        "Who works on a context sees the members of an object that has come back there, though nobody there holds it",
        arguments: Backend.allCases)
    func unheld(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        let grandchild = child.newChildContext()
        let product = child.object(with: ids[2])
        product["shop"] = child.object(with: ids[0])
        try deleteForAWhile(ids[0], [parent, child, grandchild])
        let shop = try #require(try grandchild.all("Shop").first)
        #expect(shop.members("products").map(\.objectID) == [ids[2]])
        #expect(try child.all("Shop").first?.members("products") == [product])
    }

    @Test(
        "One whose members alone were changed is not found once it is gone",
        arguments: Backend.allCases)
    func goneUnread(_ backend: Backend) throws {
        let (stack, ids) = try stack(backend)
        let parent = stack.context()
        let child = parent.newChildContext()
        let grandchild = child.newChildContext()
        child.object(with: ids[1]).add(child.object(with: ids[2]), to: "products")
        parent.delete(parent.object(with: ids[2]))
        for context in [child, grandchild] {
            let request = FetchRequest<ManagedObject>(entityName: "Product")
            #expect(try context.count(for: request) == 0)
            #expect(try context.fetch(request).isEmpty)
        }
    }
}
