// Taking back what was done in a context.

import CoreData
import Testing

@Suite("Undo")
struct UndoTests {
    let shelf: Shelf
    let context: NSManagedObjectContext

    init() throws {
        shelf = try Shelf()
        context = shelf.context()
    }

    private func book() throws -> NSManagedObject {
        let book = shelf.book("Emma", pages: 1, in: context)
        try context.save()
        return book
    }

    @Test("Without a manager nothing is taken back")
    func none() throws {
        try context.performAndWait {
            #expect(context.undoManager == nil)
            let book = try book()
            book.setValue(2, forKey: "pages")
            context.undo()
            #expect(book.value(forKey: "pages") as? Int == 2)
        }
    }

    @Test("Each run of edits is a step, taken back and done again")
    func steps() throws {
        context.undoManager = UndoManager()
        try context.performAndWait {
            let book = try book()
            let undoManager = try #require(context.undoManager)
            undoManager.removeAllActions()
            #expect(!undoManager.canUndo && !undoManager.canRedo)
            for pages in 2...3 {
                book.setValue(pages, forKey: "pages")
                context.processPendingChanges()
            }
            #expect(undoManager.canUndo)
            undoManager.undo()
            #expect(book.value(forKey: "pages") as? Int == 2 && undoManager.canRedo)
            context.undo()
            #expect(book.value(forKey: "pages") as? Int == 1 && !undoManager.canUndo)
            context.redo()
            undoManager.redo()
            #expect(book.value(forKey: "pages") as? Int == 3 && !undoManager.canRedo)
            context.delete(book)
            context.processPendingChanges()
            undoManager.undo()
            #expect(!book.isDeleted && context.deletedObjects.isEmpty)
        }
    }

    @Test("A group is one step, with a name; what is not registered is none")
    func groups() throws {
        let undoManager = UndoManager()
        undoManager.levelsOfUndo = 2
        undoManager.groupsByEvent = false
        context.undoManager = undoManager
        try context.performAndWait {
            let book = try book()
            undoManager.removeAllActions()
            undoManager.beginUndoGrouping()
            #expect(undoManager.groupingLevel == 1)
            book.setValue(2, forKey: "pages")
            context.processPendingChanges()
            book.setValue("Persuasion", forKey: "title")
            undoManager.setActionName("Retitle")
            undoManager.endUndoGrouping()
            #expect(undoManager.undoActionName == "Retitle")
            #expect(undoManager.undoMenuItemTitle == "Undo Retitle")
            undoManager.undo()
            #expect(book.value(forKey: "title") as? String == "Emma")
            #expect(book.value(forKey: "pages") as? Int == 1)
            #expect(undoManager.redoMenuItemTitle == "Redo Retitle")
            undoManager.disableUndoRegistration()
            #expect(!undoManager.isUndoRegistrationEnabled)
            book.setValue(9, forKey: "pages")
            context.processPendingChanges()
            undoManager.enableUndoRegistration()
            #expect(!undoManager.canUndo)
            #expect(book.value(forKey: "pages") as? Int == 9)
        }
    }

    @Test("A manager goes from one context to another")
    func moving() throws {
        let undoManager = UndoManager()
        context.undoManager = undoManager
        try context.performAndWait { _ = try book() }
        context.undoManager = nil
        #expect(!undoManager.canUndo)
        let other = shelf.context()
        other.undoManager = undoManager
        try other.performAndWait {
            let book = try #require(try shelf.all("Book", in: other).first)
            book.setValue(2, forKey: "pages")
            undoManager.undo()
            #expect(book.value(forKey: "pages") as? Int == 1)
        }
    }

    /// Counts what it is asked for.
    final class Counting: UndoManager {
        private(set) var undone = 0

        override func undo() {
            undone += 1
            super.undo()
        }
    }

    @Test("A context takes steps back by its manager, which tells of it")
    func telling() throws {
        let undoManager = Counting()
        context.undoManager = undoManager
        let told = [
            Notices(.NSUndoManagerWillUndoChange, of: undoManager),
            Notices(.NSUndoManagerDidUndoChange, of: undoManager),
            Notices(.NSUndoManagerWillRedoChange, of: undoManager),
            Notices(.NSUndoManagerDidRedoChange, of: undoManager),
        ]
        try context.performAndWait {
            let book = try book()
            book.setValue(2, forKey: "pages")
            context.undo()
            #expect(undoManager.undone == 1 && book.value(forKey: "pages") as? Int == 1)
            #expect(told.map(\.all.count) == [1, 1, 0, 0])
            context.redo()
            #expect(told.map(\.all.count) == [1, 1, 1, 1])
            undoManager.removeAllActions(withTarget: book)
            #expect(undoManager.canUndo)
            undoManager.removeAllActions(withTarget: context)
            #expect(!undoManager.canUndo)
        }
    }
}
