// Contexts that work on others, each with its queue.

import CoreData
import Testing

@Suite("Families of contexts")
struct FamilyTests {
    let shelf: Shelf

    init() throws { shelf = try Shelf() }

    private func child(
        of parent: NSManagedObjectContext,
        _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(concurrencyType: type)
        child.parent = parent
        return child
    }

    private func count(in context: NSManagedObjectContext) throws -> Int {
        try context.performAndWait { try shelf.all("Book", in: context).count }
    }

    @Test("A private child of a main context works where that does, and saves to it")
    func privateChildOfMain() async throws {
        let main = shelf.context(.mainQueueConcurrencyType)
        let child = child(of: main)
        #expect(child.concurrencyType == .privateQueueConcurrencyType)
        #expect(child.persistentStoreCoordinator === shelf.coordinator)
        try await child.perform {
            dispatchPrecondition(condition: .onQueue(.main))
            shelf.book("Emma", pages: 1, in: child)
            #expect(!main.hasChanges)
            try child.save()
            #expect(main.hasChanges && main.insertedObjects.count == 1)
        }
        #expect(try count(in: shelf.context()) == 0)
        try await main.perform { try main.save() }
        #expect(try count(in: shelf.context()) == 1)
    }

    @Test("A main child of a private context, which writes")
    func mainChildOfPrivate() async throws {
        let writer = shelf.context()
        let main = child(of: writer, .mainQueueConcurrencyType)
        try await main.perform {
            let book = shelf.book("Emma", pages: 1, in: main)
            try main.save()
            #expect(!main.hasChanges)
            #expect(book.managedObjectContext === main)
        }
        #expect(try count(in: shelf.context()) == 0)
        try await writer.perform {
            #expect(writer.insertedObjects.first?.managedObjectContext === writer)
            try writer.save()
        }
        #expect(try count(in: shelf.context()) == 1)
        await main.perform {
            #expect(main.registeredObjects.allSatisfy { !$0.objectID.isTemporaryID })
        }
    }

    @Test("Many threads save through three levels")
    func threeLevels() async throws {
        let writer = shelf.context()
        let main = child(of: writer, .mainQueueConcurrencyType)
        main.automaticallyMergesChangesFromParent = true
        await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for turn in 0..<5 {
                        let background = child(of: main)
                        try await background.perform {
                            shelf.book("\(worker)", pages: turn, in: background)
                            try background.save()
                        }
                        try await main.perform { try main.save() }
                        try writer.performAndWait { try writer.save() }
                    }
                }
            }
        }
        #expect(try count(in: shelf.context()) == 40)
        #expect(try count(in: main) == 40)
    }

    @Test("Two families of one store save at the same time, and merge")
    func twoFamilies() async throws {
        let readers = [shelf.context(), shelf.context(.mainQueueConcurrencyType)]
        for reader in readers {
            reader.automaticallyMergesChangesFromParent = true
            #expect(try count(in: reader) == 0)
        }
        await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let writer = shelf.context()
                    for turn in 0..<10 {
                        try await writer.perform {
                            shelf.book("\(worker)", pages: turn, in: writer)
                            try writer.save()
                        }
                        for reader in readers {
                            await reader.perform {
                                for book in reader.registeredObjects {
                                    #expect(book.value(forKey: "title") as? String != nil)
                                }
                            }
                        }
                    }
                }
            }
        }
        for reader in readers {
            #expect(try count(in: reader) == 40)
            await reader.perform { #expect(reader.registeredObjects.count <= 40) }
        }
    }

    @Test("A child that merges by itself has what its parent merges and saves")
    func mergingChild() throws {
        let parent = shelf.context()
        let child = child(of: parent)
        child.automaticallyMergesChangesFromParent = true
        let emma = try parent.performAndWait {
            let emma = shelf.book("Emma", pages: 1, in: parent)
            try parent.save()
            return emma
        }
        let copy = child.performAndWait { child.object(with: emma.objectID) }
        child.performAndWait { #expect(copy.value(forKey: "pages") as? Int == 1) }
        try parent.performAndWait {
            emma.setValue(2, forKey: "pages")
            try parent.save()
        }
        child.performAndWait { #expect(copy.value(forKey: "pages") as? Int == 2) }
    }

    @Test("A context that is dropped with changes saves nothing, and its objects are of none")
    func dropped() throws {
        weak var gone: NSManagedObjectContext?
        var book: NSManagedObject?
        do {
            let context = shelf.context()
            gone = context
            context.performAndWait { book = shelf.book("Emma", pages: 1, in: context) }
            #expect(book?.managedObjectContext === context)
        }
        #expect(gone == nil)
        #expect(book != nil && book?.managedObjectContext == nil)
        #expect(try count(in: shelf.context()) == 0)
    }

    @Test("A context lives as long as work waits in it")
    func waitingWork() async throws {
        let saved: Int = try await withCheckedThrowingContinuation { continuation in
            let context = shelf.context()
            context.perform { [context] in
                continuation.resume(
                    with: Result {
                        shelf.book("Emma", pages: 1, in: context)
                        try context.save()
                        return try shelf.all("Book", in: context).count
                    })
            }
        }
        #expect(saved == 1)
    }
}
