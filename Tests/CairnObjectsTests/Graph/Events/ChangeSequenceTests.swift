// Changes and saves as asynchronous sequences.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Synchronization
import Testing

@Suite("Changes and saves as sequences")
struct ChangeSequenceTests {
    @Test("A run of edits is one element, with the ids of its objects", arguments: Backend.allCases)
    func changes(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let stored = try stack.products(3)
        let background = stack.container.newBackgroundContext()
        let changes = await background.changes
        let new = try await background.perform { context in
            let new = context.make("Product", ["serialCode": "new"])
            context.object(with: stored[0])["name"] = "edited"
            context.object(with: stored[0])["name"] = "edited twice"
            context.delete(context.object(with: stored[1]))
            context.refresh(context.object(with: stored[2]), mergeChanges: false)
            let temporary = new.objectID
            context.processPendingChanges()
            try context.save()
            return [temporary, new.objectID]
        }
        let last = await background.perform { context in
            let held = context.object(with: stored[0])
            let ids = Set(context.registeredObjects.map(\.objectID))
            context.reset()
            return held.managedObjectContext == nil ? ids : []
        }
        var iterator = changes.inTime().makeAsyncIterator()
        let first = try #require(await iterator.next(isolation: #isolation))
        #expect(first.number == 1)
        #expect(first.insertedObjectIDs == [new[0]] && new[0].isTemporary)
        #expect(first.updatedObjectIDs == [stored[0]])
        #expect(first.deletedObjectIDs == [stored[1]])
        #expect(first.refreshedObjectIDs == [stored[2]])
        #expect(first.invalidatedAllObjectIDs.isEmpty)
        #expect(last.contains(stored[0]))
        let second = try #require(await iterator.next(isolation: #isolation))
        #expect(second.number == 2)
        #expect(second.invalidatedAllObjectIDs == last)
        #expect(second.insertedObjectIDs.isEmpty && second.deletedObjectIDs.isEmpty)
    }

    @Test(
        "The main actor ends a run of edits of the view context, once", arguments: Backend.allCases)
    @MainActor func viewContext(_ backend: Backend) async throws {
        let container = try Stack(Models.shop, backend).container
        let context = container.viewContext
        var changes = context.changes.inTime().makeAsyncIterator()
        for _ in 0..<3 { context.make("Product") }
        let first = try #require(await changes.next(isolation: #isolation))
        #expect(first.insertedObjectIDs.count == 3)
        for object in context.insertedObjects { object["name"] = "edited" }
        context.make("Tag")
        let second = try #require(await changes.next(isolation: #isolation))
        #expect(second.number == 2)
        #expect(second.updatedObjectIDs.count == 3 && second.insertedObjectIDs.count == 1)
        // A run that somebody has ended before is not told twice.
        context.make("Tag")
        context.processPendingChanges()
        context.make("Shop")
        let third = try #require(await changes.next(isolation: #isolation))
        let fourth = try #require(await changes.next(isolation: #isolation))
        #expect([third, fourth].map(\.number) == [3, 4])
        #expect([third, fourth].map(\.insertedObjectIDs.count) == [1, 1])
    }

    @Test(
        "A save is one element, with permanent ids, whichever context of the container it is",
        arguments: Backend.allCases)
    func saves(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let container = stack.container
        let saves = container.saves
        let ids = try await container.performBackgroundTask { context in
            context.name = "task"
            context.transactionAuthor = "me"
            let objects = (0..<20).map { context.make("Tag", ["label": "\($0)"]) }
            try context.save()
            return objects.map(\.objectID)
        }
        try await container.newBackgroundContext().perform { context in
            context.object(with: ids[0])["label"] = "new"
            context.delete(context.object(with: ids[1]))
            try context.save()
            // Nothing is written by this one, and by batches nothing is told.
            context.object(with: ids[0])["label"] = "new"
            try context.save()
            try context.execute(
                BatchInsertRequest(entityName: "Tag", objects: [["label": "batch"]]))
        }
        // A context by hand belongs to no container.
        try stack.store { [$0.make("Tag", ["label": "by hand"])] }
        try await MainActor.run {
            container.viewContext.make("Tag", ["label": "view"])
            try container.viewContext.save()
        }
        var iterator = saves.inTime().makeAsyncIterator()
        let first = try #require(await iterator.next(isolation: #isolation))
        #expect(first.insertedObjectIDs == Set(ids) && !ids.contains { $0.isTemporary })
        #expect(first.contextName == "task" && first.transactionAuthor == "me")
        #expect(first.updatedObjectIDs.isEmpty && first.deletedObjectIDs.isEmpty)
        let second = try #require(await iterator.next(isolation: #isolation))
        #expect(second.updatedObjectIDs == [ids[0]])
        #expect(second.deletedObjectIDs == [ids[1]])
        #expect(second.contextName == nil)
        let third = try #require(await iterator.next(isolation: #isolation))
        #expect(third.number == 3)
        #expect(third.insertedObjectIDs.count == 1)
    }

    @Test(
        "A listener that does not come after has the newest, and sees by the numbers what is missing"
    )
    func bound() async throws {
        let background = try Stack(Models.shop, .dictionary).container.newBackgroundContext()
        let slow = await background.changes
        await background.perform { context in
            for _ in 0..<1030 {
                context.make("Tag")
                context.processPendingChanges()
            }
        }
        var iterator = slow.inTime().makeAsyncIterator()
        var numbers: [Int] = []
        for _ in 0..<1024 {
            numbers.append(try #require(await iterator.next(isolation: #isolation)).number)
        }
        #expect(numbers == Array(7...1030))
        await background.perform { context in _ = context.make("Tag") }
        #expect(await iterator.next(isolation: #isolation)?.number == 1031)
    }

    @Test("A sequence ends with its context, and with its container")
    func ends() async throws {
        var container: PersistentContainer? = try Stack(Models.shop, .dictionary).container
        let saves = try #require(container).saves
        var background = container?.newBackgroundContext()
        let changes = try #require(await background?.changes)
        let inner = await container?.performBackgroundTask { context in
            let changes = context.changes
            context.make("Tag")
            return changes
        }
        // What the task left behind is told, and then it is over.
        var told = 0
        for await change in try #require(inner).inTime() { told += change.insertedObjectIDs.count }
        #expect(told == 1)
        try await background?.perform { context in
            context.make("Tag")
            try context.save()
        }
        background = nil
        told = 0
        for await change in changes.inTime() { told += change.insertedObjectIDs.count }
        #expect(told == 1)
        container = nil
        told = 0
        for await save in saves.inTime() { told += save.insertedObjectIDs.count }
        #expect(told == 1)
    }

    /// Saves once more after it was saved for the first time.
    final class Afterthinker: ManagedObject {
        override func didSave() {
            guard let context = managedObjectContext, string("note") == nil else { return }
            self["note"] = "saved"
            try? context.save()
        }
    }

    @Test(
        "A save that a hook makes comes after the one that it belongs to",
        arguments: Backend.allCases)
    func nestedSaves(_ backend: Backend) async throws {
        let stack = try Stack(
            Models.shop, backend, classes: ObjectClasses(["Product": Afterthinker.self]))
        let saves = stack.container.saves
        for count in [1, 20] {
            // Some are saved one by one, many as columns.
            try await stack.container.performBackgroundTask { context in
                for _ in 0..<count { context.make("Product") }
                try context.save()
            }
            var iterator = saves.inTime().makeAsyncIterator()
            let first = try #require(await iterator.next(isolation: #isolation))
            #expect(first.insertedObjectIDs.count == count && first.updatedObjectIDs.isEmpty)
            for _ in 0..<count {
                let next = try #require(await iterator.next(isolation: #isolation))
                #expect(next.insertedObjectIDs.isEmpty)
                #expect(next.updatedObjectIDs.isSubset(of: first.insertedObjectIDs))
            }
        }
    }

    @Test("A cancelled listener ends, and the others go on")
    func cancellation() async throws {
        let container = try Stack(Models.shop, .dictionary).container
        let (isReady, ready) = AsyncStream.makeStream(of: Void.self)
        let first = container.saves
        let second = container.saves
        let listener = Task {
            var count = 0
            for await _ in first.inTime() {
                count += 1
                ready.yield()
            }
            return count
        }
        func save(_ label: String) async throws {
            try await container.performBackgroundTask { context in
                context.make("Tag", ["label": label])
                try context.save()
            }
        }
        try await save("a")
        var readiness = isReady.inTime().makeAsyncIterator()
        _ = await readiness.next(isolation: #isolation)
        listener.cancel()
        #expect(await listener.value == 1)
        try await save("b")
        var iterator = second.inTime().makeAsyncIterator()
        #expect(await iterator.next(isolation: #isolation)?.number == 1)
        #expect(await iterator.next(isolation: #isolation)?.number == 2)
    }

    @Test(
        "Many contexts save at once, and each listener is told of every save",
        arguments: Backend.allCases)
    func manySaves(_ backend: Backend) async throws {
        let (contexts, rounds, listeners) = (8, 12, 3)
        let stack = try Stack(Models.shop, backend)
        let container = stack.container
        let sequences = (0..<listeners).map { _ in container.saves }
        let told = try await withThrowingTaskGroup { group in
            for saves in sequences {
                group.addTask {
                    var told: [ContextSave] = []
                    for await save in saves.inTime() {
                        told.append(save)
                        if told.count == contexts * rounds { break }
                    }
                    return told
                }
            }
            for number in 0..<contexts {
                group.addTask {
                    let background = container.newBackgroundContext()
                    for round in 0..<rounds {
                        try await background.perform { context in
                            // Large and small saves, with an edit of what the context has saved before.
                            let count = round.isMultiple(of: 3) ? 20 : 2
                            for place in 0..<count {
                                context.make("Tag", ["label": "\(number) \(round) \(place)"])
                            }
                            if round.isMultiple(of: 2) {
                                for tag in try context.find(
                                    "Tag", "label", .string("\(number) \(round - 1) 0"))
                                {
                                    tag["label"] = "\(number) \(round) edited"
                                }
                            }
                            try context.save()
                        }
                    }
                    return []
                }
            }
            var told: [[ContextSave]] = []
            for try await saves in group where !saves.isEmpty { told.append(saves) }
            return told
        }
        #expect(told.count == listeners)
        let stored = Set(try stack.context().fetchObjectIDs(FetchRequest(entityName: "Tag")))
        #expect(stored.count == contexts * (4 * 20 + 8 * 2))
        for saves in told {
            #expect(saves.map(\.number) == Array(1...(contexts * rounds)))
            #expect(saves == told[0])
            let inserted = saves.map(\.insertedObjectIDs)
            #expect(inserted.map(\.count).reduce(0, +) == stored.count)
            #expect(inserted.reduce(into: Set()) { $0.formUnion($1) } == stored)
            #expect(saves.map(\.updatedObjectIDs.count).reduce(0, +) == contexts * 5)
            #expect(saves.allSatisfy { $0.deletedObjectIDs.isEmpty })
        }
    }

    @Test(
        "Many tasks use one context, and its listener is told of every turn",
        arguments: Backend.allCases)
    func manyTurns(_ backend: Backend) async throws {
        let background = try Stack(Models.shop, backend).container.newBackgroundContext()
        let changes = await background.changes
        let (tasks, turns) = (8, 25)
        let listener = Task {
            var ids: Set<ObjectID> = []
            var numbers: [Int] = []
            for await change in changes.inTime() {
                ids.formUnion(change.insertedObjectIDs)
                numbers.append(change.number)
                if ids.count == tasks * turns { break }
            }
            return (ids, numbers)
        }
        await withTaskGroup { group in
            for _ in 0..<tasks {
                group.addTask {
                    for _ in 0..<turns {
                        await background.perform { context in _ = context.make("Product") }
                    }
                }
            }
        }
        let (ids, numbers) = await listener.value
        #expect(numbers == Array(1...(tasks * turns)))
        #expect(await background.perform { Set($0.insertedObjects.map(\.objectID)) } == ids)
    }
}
