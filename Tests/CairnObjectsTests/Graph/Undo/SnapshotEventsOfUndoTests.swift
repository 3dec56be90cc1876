// Objects are told that undo or redo gave them other values.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

/// A product that notes why it shows other values, and computes a transient from them.
private final class Awakened: ManagedObject {
    var events: [SnapshotEvents] = []

    override func awakeFromSnapshotEvents(_ events: SnapshotEvents) {
        super.awakeFromSnapshotEvents(events)
        self.events.append(events)
    }

    func take() -> [SnapshotEvents] {
        defer { events = [] }
        return events
    }
}

@Suite("Snapshot events of undo")
struct SnapshotEventsOfUndoTests {
    @Test("Insertions, changes and deletions tell which they were", arguments: Backend.allCases)
    func events(_ backend: Backend) throws {
        let stack = try Stack(
            Models.shop, backend, classes: ObjectClasses(["Product": Awakened.self]))
        let id = try stack.store { [$0.make("Product", ["name": "stored"])] }[0]
        let context = stack.context()
        context.undoHistory = UndoHistory()
        let product = try #require(context.object(with: id) as? Awakened)
        product["name"] = "changed"
        context.undo()
        #expect(product.take() == [.undoUpdate] && product.string("name") == "stored")
        context.redo()
        #expect(product.take() == [.undoUpdate] && product.string("name") == "changed")
        try context.save()

        let new = try #require(context.make("Product", ["name": "new"]) as? Awakened)
        context.undo()
        #expect(new.take() == [.undoInsertion] && new.managedObjectContext == nil)
        context.redo()
        #expect(new.take() == [.undoInsertion] && new.string("name") == "new")

        context.delete(product)
        context.undo()
        #expect(product.take() == [.undoDeletion] && !product.isDeleted)
        context.redo()
        #expect(product.take() == [.undoDeletion] && product.isDeleted)
        try context.save()
        context.undo()
        #expect(product.take() == [.undoDeletion] && product.string("name") == "changed")
        #expect(new.take().isEmpty, "what a step has nothing to do with is not told")

        // A group of several runs is told once.
        let history = try #require(context.undoHistory)
        history.beginUndoGrouping()
        product["name"] = "first"
        context.processPendingChanges()
        product["name"] = "second"
        history.endUndoGrouping()
        context.undo()
        #expect(product.take() == [.undoUpdate] && product.string("name") == "changed")
    }
}
