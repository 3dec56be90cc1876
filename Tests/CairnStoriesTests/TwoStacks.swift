// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Testing

@Entity
final class Chore: ManagedObject {
    #Unique<Chore>([\.title])
    var title: String = ""
    var isDone: Bool = false
}

@Suite("Two stacks, one store")
struct TwoStacks {
    /// Two containers over one store of two chores.
    private func open(_ path: String) async throws -> (PersistentContainer, PersistentContainer) {
        // TwoStacks 1 begins
        let first = try PersistentContainer(at: path, for: Chore.self)
        let second = try PersistentContainer(at: path, for: Chore.self)
        // TwoStacks 1 ends
        try await first.performBackgroundTask { context in
            for title in ["dishes", "laundry"] { context.insert(Chore.self).title = title }
            try context.save()
        }
        return (first, second)
    }

    @MainActor
    @Test("A context that merges by itself shows what any other stack saves")
    func itself() async throws {
        let directory = try TemporaryDirectory()
        let (first, second) = try await open(directory.path("chores.cairn"))
        let wait = OpenWait(for: "what the other stack saves to be shown")
        defer { wait.end() }
        // TwoStacks 2 begins
        let view = second.viewContext
        view.automaticallyMergesChangesFromParent = true
        let chores = try view.fetch(FetchRequest<Chore>(sortBy: [SortKey("title")]))
        let changes = view.changes
        chores[1].title = "all the laundry"  // not saved

        try await first.performBackgroundTask { context in
            for chore in try context.fetch(FetchRequest<Chore>()) { chore.isDone = true }
            context.insert(Chore.self).title = "windows"
            try context.save()
        }
        for await change in changes where !change.refreshedObjectIDs.isEmpty {
            // Two refreshed objects, one inserted.
            // TwoStacks 2 pauses
            #expect(change.refreshedObjectIDs.count == 2)
            #expect(change.insertedObjectIDs.count == 1)
            // TwoStacks 2 goes on
            break
        }
        // Both chores are done; the title that is not saved is still there.
        // TwoStacks 2 ends
        #expect(chores.allSatisfy(\.isDone) && chores[1].title == "all the laundry")
        try view.save()
        #expect(try view.count(for: FetchRequest<Chore>()) == 3)
    }

    @Test("What one stack saves is merged into a context of the other when it is told to")
    func byHand() async throws {
        let directory = try TemporaryDirectory()
        let (first, second) = try await open(directory.path("chores.cairn"))
        let wait = OpenWait(for: "the save of the other stack")
        defer { wait.end() }
        // TwoStacks 3 begins
        let background = second.newBackgroundContext()
        let saves = first.saves
        // TwoStacks 3 pauses
        let ids = try await background.perform { context in
            let chores = try context.fetch(FetchRequest<Chore>(sortBy: [SortKey("title")]))
            // An edit keeps an object alive.
            chores[0].title = "the dishes"
            return chores.map(\.objectID)
        }
        try await first.performBackgroundTask { context in
            context.object(with: ids[0])["isDone"] = true
            context.delete(context.object(with: ids[1]))
            try context.save()
        }
        // TwoStacks 3 goes on
        for await save in saves {
            await background.perform { $0.mergeChanges(fromContextDidSave: save) }
            // TwoStacks 3 pauses
            break
            // TwoStacks 3 goes on
        }
        // TwoStacks 3 ends
        let isDone = await background.perform { $0.object(with: ids[0])["isDone"] as? Bool }
        #expect(isDone == true)
        let count = try await background.perform { context in
            try context.save()
            return try context.count(for: FetchRequest<Chore>(where: "title == %@", "the dishes"))
        }
        #expect(count == 1)
    }

    @MainActor
    @Test("The ids that a batch request reports are merged where its objects are shown")
    func batch() async throws {
        let directory = try TemporaryDirectory()
        let (_, second) = try await open(directory.path("chores.cairn"))
        let view = second.viewContext
        let chores = try view.fetch(FetchRequest<Chore>(sortBy: [SortKey("title")]))
        // TwoStacks 4 begins
        var request = BatchDeleteRequest(
            .ids([chores[0].objectID], entity: chores[0].entity.index))
        request.reportsIDs = true
        let result = try view.execute(request)
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [.deletedObjectIDs: result.objectIDs], into: [view])
        // chores[0].isDeleted is true, and its title still "dishes" until the context saves.
        // TwoStacks 4 ends
        #expect(chores.map(\.isDeleted) == [true, false] && chores[0].title == "dishes")
        try view.save()
        #expect(view.deletedObjects.isEmpty)
    }

    @Test("Whatever is written to the store is told, whoever wrote it")
    func remote() async throws {
        let directory = try TemporaryDirectory()
        let (first, second) = try await open(directory.path("chores.cairn"))
        let wait = OpenWait(for: "the change to be told")
        defer { wait.end() }
        // TwoStacks 5 begins
        let changes = second.remoteChanges
        // TwoStacks 5 pauses
        try await first.performBackgroundTask { context in
            context.transactionAuthor = "helper"
            context.insert(Chore.self).title = "windows"
            try context.save()
        }
        var lines: [String] = []
        // TwoStacks 5 goes on
        for await change in changes {
            let author = change.author ?? "somebody"
            print(author, "made", change.insertedObjectIDs.count, "objects")
            // TwoStacks 5 pauses
            lines.append("\(author) made \(change.insertedObjectIDs.count)")
            break
            // TwoStacks 5 goes on
        }
        // TwoStacks 5 ends
        #expect(lines == ["helper made 1"])
        withExtendedLifetime((first, second)) {}
    }
}
