// The contexts of a container, and what they have of each other's saves.

import CoreData
import Testing

@Suite("Contexts of a container")
struct ContainerContextTests {
    let shelf: Shelf
    var view: NSManagedObjectContext { shelf.container.viewContext }

    init() throws { shelf = try Shelf() }

    @Test("An object's context has the values that the program has put there")
    func userInfo() async throws {
        let view = view
        await view.perform {
            view.userInfo["limit"] = 7
            let emma = shelf.book("Emma", pages: 1, in: view)
            #expect(emma.managedObjectContext?.userInfo["limit"] as? Int == 7)
        }
    }

    @Test("The view context has what background contexts save, if it merges")
    func merging() async throws {
        let view = view
        await view.perform { view.automaticallyMergesChangesFromParent = true }
        let id = try await shelf.container.performBackgroundTask { context in
            let emma = shelf.book("Emma", pages: 1, in: context)
            try context.save()
            return emma.objectID
        }
        let emma = try await view.perform {
            let emma = try view.existingObject(with: id)
            #expect(emma.value(forKey: "pages") as? Int == 1)
            return emma
        }
        let background = shelf.container.newBackgroundContext()
        try await background.perform {
            background.object(with: id).setValue(2, forKey: "pages")
            try background.save()
        }
        await view.perform(schedule: .enqueued) {
            #expect(emma.value(forKey: "pages") as? Int == 2)
        }
    }

    @Test("A background context merges what the view context saves")
    func background() async throws {
        let background = shelf.container.newBackgroundContext()
        background.automaticallyMergesChangesFromParent = true
        let view = view
        let emma = try await view.perform {
            let emma = shelf.book("Emma", pages: 1, in: view)
            try view.save()
            return emma
        }
        let id = emma.objectID
        await background.perform {
            #expect(background.object(with: id).value(forKey: "pages") as? Int == 1)
        }
        try await view.perform {
            emma.setValue(2, forKey: "pages")
            try view.save()
        }
        await background.perform {
            #expect(background.object(with: id).value(forKey: "pages") as? Int == 2)
        }
    }

    /// Keeps objects whose rows are gone from being deleted, and says which it was asked about.
    final class Asking: NSManagedObjectContext, @unchecked Sendable {
        // It is used on its queue alone.
        private(set) var asked: [(NSManagedObjectID, String?)] = []

        override func shouldHandleInaccessibleFault(
            _ fault: NSManagedObject, for oid: NSManagedObjectID,
            triggeredByProperty property: NSPropertyDescription?
        ) -> Bool {
            asked.append((oid, property?.name))
            return true
        }
    }

    @Test("A class of contexts says what becomes of an object whose row is gone")
    func inaccessible() throws {
        let context = Asking(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = shelf.coordinator
        let other = shelf.context()
        let book = try other.performAndWait {
            let book = shelf.book("Emma", pages: 1, in: other)
            try other.save()
            return book
        }
        let id = book.objectID
        let fault = context.performAndWait { context.object(with: id) }
        try other.performAndWait {
            other.delete(book)
            try other.save()
        }
        context.performAndWait {
            #expect(fault.value(forKey: "title") == nil && fault.isDeleted)
            #expect(context.asked.map(\.0) == [id] && context.asked.map(\.1) == ["title"])
        }
    }
}
