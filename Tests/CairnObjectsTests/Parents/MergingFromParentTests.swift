// Children that are brought up to what their parents have saved.

import CairnModel
import CairnObjects
import StoreBackends
import Testing

@Suite("Merging from a parent")
struct MergingFromParentTests {
    private struct Family {
        let stack: Stack
        let id: ObjectID
        let parent: ManagedObjectContext
        let child: ManagedObjectContext

        init(_ backend: Backend) throws {
            stack = try Stack(Models.shop, backend)
            id = try stack.store { [$0.make("Product", ["name": "old", "price": 1.0])] }[0]
            parent = stack.context()
            child = parent.newChildContext()
        }
    }

    @Test(
        "B128: a child keeps its old value after the parent saves, or shows the new one if it merges by itself",
        arguments: Backend.allCases)
    func parentSaves(_ backend: Backend) throws {
        for merges in [false, true] {
            let family = try Family(backend)
            let (parent, child) = (family.parent, family.child)
            child.automaticallyMergesChangesFromParent = merges
            #expect(child.automaticallyMergesChangesFromParent == merges)
            let object = child.object(with: family.id)
            #expect(object.string("name") == "old")
            parent.object(with: family.id)["name"] = "new"
            try parent.save()
            #expect(object.string("name") == (merges ? "new" : "old"))
            #expect(!child.hasChanges)
            child.refresh(object, mergeChanges: false)
            #expect(object.string("name") == "new")
        }
    }

    @Test(
        "Edits of the child stay on top, and what the parent has deleted is deleted in it",
        arguments: Backend.allCases)
    func editsAndDeletions(_ backend: Backend) throws {
        let family = try Family(backend)
        let (parent, child) = (family.parent, family.child)
        child.automaticallyMergesChangesFromParent = true
        let object = child.object(with: family.id)
        object["price"] = 9.0
        parent.object(with: family.id)["name"] = "new"
        try parent.save()
        #expect(object.string("name") == "new" && object["price"] as? Double == 9)
        #expect(child.updatedObjects == [object])
        child.rollback()
        #expect(object["price"] as? Double == 1)
        parent.delete(parent.object(with: family.id))
        try parent.save()
        #expect(object.isDeleted && child.deletedObjects == [object])
        try child.save()
        #expect(!parent.hasChanges && !child.hasChanges)
    }

    @Test(
        "What one child saves to the parent another one shows, new objects of the parent among it",
        arguments: Backend.allCases)
    func siblings(_ backend: Backend) throws {
        let family = try Family(backend)
        let (parent, one) = (family.parent, family.child)
        let new = parent.make("Product", ["name": "unsaved"])
        let other = parent.newChildContext()
        other.automaticallyMergesChangesFromParent = true
        let shown = other.object(with: new.objectID)
        let stored = other.object(with: family.id)
        #expect(shown.string("name") == "unsaved" && stored.string("name") == "old")
        one.object(with: new.objectID)["name"] = "edited"
        one.delete(one.object(with: family.id))
        try one.save()
        #expect(shown.string("name") == "edited")
        #expect(stored.isDeleted)
        other.automaticallyMergesChangesFromParent = false
        one.object(with: new.objectID)["name"] = "edited again"
        try one.save()
        #expect(shown.string("name") == "edited")
    }

    @Test(
        "What the parent merges from others reaches its children and theirs",
        arguments: Backend.allCases)
    func passedOn(_ backend: Backend) throws {
        let family = try Family(backend)
        let (parent, child) = (family.parent, family.child)
        let grandchild = child.newChildContext()
        for context in [parent, child, grandchild] {
            context.automaticallyMergesChangesFromParent = true
        }
        let objects = [parent, child, grandchild].map { $0.object(with: family.id) }
        #expect(objects.allSatisfy { $0.string("name") == "old" })
        let elsewhere = family.stack.context()
        elsewhere.object(with: family.id)["name"] = "new"
        try elsewhere.save()
        parent.processPendingChanges()
        #expect(objects.allSatisfy { $0.string("name") == "new" })
    }

    @Test("Objects of children of the view context can be observed as its own can")
    @MainActor func observable() throws {
        let stack = try Stack(Models.shop, .dictionary)
        #expect(stack.container.viewContext.newChildContext().isObservable)
        #expect(!stack.context().newChildContext().isObservable)
    }
}
