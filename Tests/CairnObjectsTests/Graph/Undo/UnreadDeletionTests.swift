// Taking back the deletion of objects that nobody had read, after it was saved.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Undo of deleted faults")
struct UnreadDeletionTests {
    @Test(
        "A fault that was deleted and saved comes back with its values and members",
        arguments: Backend.allCases)
    func faults(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let ids = try stack.store { context in
            let tag = context.make("Tag", ["label": "new"])
            return [tag, context.make("Product", ["name": "one", "tags": Set([tag])])]
        }
        let context = stack.context()
        context.undoHistory = UndoHistory()
        let tag = context.object(with: ids[0])
        #expect(tag.isFault)
        context.delete(tag)
        try context.save()
        #expect(try stack.context().count("Tag") == 0)
        context.undo()
        #expect(tag.isInserted && tag.string("label") == "new")
        try context.save()
        let fresh = tag.fresh(stack)
        #expect(fresh.string("label") == "new")
        #expect(fresh.members("products").map(\.objectID) == [ids[1]])
    }

    @Test(
        "An object that comes back has a version that nobody has read: edits made before are a conflict",
        arguments: Backend.allCases)
    func versions(_ backend: Backend) throws {
        let stack = try Stack(Models.shop, backend)
        let id = try stack.store { [$0.make("Product", ["name": "A"])] }[0]
        let (mine, other) = (stack.context(), stack.context())
        mine.undoHistory = UndoHistory()
        let theirs = other.object(with: id)
        try theirs.fulfill()
        let object = mine.object(with: id)
        mine.delete(object)
        try mine.save()
        mine.undo()
        object["name"] = "Z"
        try mine.save()
        theirs["name"] = "B"
        #expect(storeError { try other.save() }?.code == .mergeConflict)
        #expect(object.fresh(stack).string("name") == "Z")
        // Those who merge see it too.
        other.rollback()
        other.automaticallyMergesChangesFromParent = true
        #expect(theirs.string("name") == "Z")
        mine.delete(object)
        try mine.save()
        mine.undo()
        object["name"] = "Y"
        try mine.save()
        other.processPendingChanges()
        #expect(theirs.string("name") == "Y" && !theirs.isDeleted)
    }
}
