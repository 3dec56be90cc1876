// Listeners of a process in which nobody has asked for the names of notifications: what they are told must not hang on that.
//
// Each test is a process of its own, as names are asked for once and for all.

import CairnModel
import CairnObjects
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Listeners without notifications")
struct UnnamedListenerTests {
    @Test("Saves are told to a sequence, though nobody observes")
    func saves() async {
        await #expect(processExitsWith: .success) {
            let stack = try Stack(Models.shop, .dictionary)
            let saves = stack.container.saves
            let id = try await stack.container.performBackgroundTask { context in
                let object = context.make("Product", ["name": "one"])
                try context.save()
                return object.objectID
            }
            var iterator = saves.inTime().makeAsyncIterator()
            let save = await iterator.next(isolation: #isolation)
            precondition(save?.insertedObjectIDs == [id])
        }
    }

    @Test("Changes are told to a sequence, though nobody observes")
    func changes() async {
        await #expect(processExitsWith: .success) {
            let stack = try Stack(Models.shop, .dictionary)
            let ids = try stack.store { context in
                [context.make("Product", ["name": "a"]), context.make("Product", ["name": "b"])]
            }
            let background = stack.container.newBackgroundContext()
            let changes = await background.changes
            await background.perform { context in
                context.delete(context.object(with: ids[0]))
                context.refresh(context.object(with: ids[1]), mergeChanges: false)
            }
            var iterator = changes.inTime().makeAsyncIterator()
            let change = await iterator.next(isolation: #isolation)
            precondition(change?.deletedObjectIDs == [ids[0]])
            precondition(change?.refreshedObjectIDs == [ids[1]])
        }
    }

    @Test("Undoing works, though nobody observes")
    func undo() async {
        await #expect(processExitsWith: .success) {
            let context = try Stack(Models.shop, .dictionary).context()
            context.undoHistory = UndoHistory()
            let object = context.make("Product", ["name": "a"])
            context.processPendingChanges()
            object["name"] = "b"
            context.undo()
            precondition(object.string("name") == "a")
        }
    }
}
