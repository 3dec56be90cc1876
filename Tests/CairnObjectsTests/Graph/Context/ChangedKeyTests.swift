// A stored object is given the unique key of another one.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("A changed object with the key of another one")
struct ChangedKeyTests {
    private func prepare(_ backend: Backend) throws -> (Stack, ObjectID, ObjectID) {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let a = context.make("Product", ["serialCode": "A", "price": 1.0, "note": "a"])
            let b = context.make("Product", ["serialCode": "B", "price": 2.0, "note": "b"])
            b["shop"] = context.make("Shop", ["name": "corner"])
            b["tags"] = [context.make("Tag", ["label": "red"])]
            return [a, b]
        }
        return (stack, ids[0], ids[1])
    }

    @Test("Under the error policy the save fails and names both", arguments: Backend.allCases)
    func error(_ backend: Backend) throws {
        let (stack, a, b) = try prepare(backend)
        let context = stack.context()
        context.object(with: b)["serialCode"] = "A"
        let error = try #require(storeError { try context.save() })
        #expect(error.violations.count == 1)
        #expect(error.violations.first?.stored?.id == a)
        #expect(error.violations.first?.objects == [b])
    }

    @Test(
        "Store trump and rollback send it back to what is stored", arguments: Backend.allCases,
        [MergePolicyKind.mergeByPropertyStoreTrump, .rollback])
    func goesBack(_ backend: Backend, _ kind: MergePolicyKind) throws {
        let (stack, a, b) = try prepare(backend)
        let context = stack.context(MergePolicy(merge: kind))
        let object = context.object(with: b)
        object["serialCode"] = "A"
        object["note"] = "edited"
        try context.save()
        #expect(object.string("serialCode") == "B" && object.string("note") == "b")
        #expect(object.changedValues().isEmpty && !context.hasChanges)
        #expect(stack.context().object(with: b).string("note") == "b")
        #expect(stack.context().object(with: a).string("serialCode") == "A")
    }

    @Test(
        "Under object trump the other one takes the changed values, and everything leads to it",
        arguments: Backend.allCases)
    func absorbed(_ backend: Backend) throws {
        let (stack, a, b) = try prepare(backend)
        let context = stack.context(.mergeByPropertyObjectTrump)
        let object = context.object(with: b)
        object["serialCode"] = "A"
        object["note"] = "edited"
        try context.save()
        #expect(object.isDeleted && object.absorbedInto == a)
        let rows = try stack.context().all("Product")
        #expect(rows.map(\.objectID) == [a])
        #expect(rows[0].string("note") == "edited")
        #expect(rows[0]["price"] as? Double == 1, "what was not changed is not given")
        let tag = try #require(try stack.context().all("Tag").first)
        #expect(tag.members("products").map(\.objectID) == [a])
    }

    @Test("Overwrite displaces the other one", arguments: Backend.allCases)
    func displaces(_ backend: Backend) throws {
        let (stack, a, b) = try prepare(backend)
        let context = stack.context(.overwrite)
        let other = context.object(with: a)
        context.object(with: b)["serialCode"] = "A"
        try context.save()
        #expect(other.isDeleted)
        #expect(try stack.context().all("Product").map(\.objectID) == [b])
        #expect(stack.context().object(with: b).string("serialCode") == "A")
    }

    @Test(
        "A displaced object that others must point at forbids the save", arguments: Backend.allCases
    )
    func mandatory(_ backend: Backend) throws {
        let stack = try Stack(Models.people, backend)
        try stack.store { context in
            let sales = context.make("Department", ["name": "Sales"])
            return [sales, context.make("Desk", ["number": 1, "department": sales])]
        }
        let context = stack.context(.overwrite)
        context.make("Department", ["name": "Sales"])
        #expect(storeError { try context.save() }?.code == .constraintConflict)
        #expect(try stack.context().all("Desk").first?.object("department") != nil)
    }

    @Test("A new object takes a key that a changed one has left", arguments: Backend.allCases)
    func left(_ backend: Backend) throws {
        let (stack, a, b) = try prepare(backend)
        let context = stack.context()
        context.object(with: b)["serialCode"] = "C"
        let new = context.make("Product", ["serialCode": "B"])
        try context.save()
        #expect(try stack.context().all("Product").map(\.objectID) == [a, b, new.objectID])
    }
}
