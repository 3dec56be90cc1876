// Eight tasks on one container, each with one of the things that contexts can do besides.
//
// Meant for the thread sanitizer, as EightTasksTests is; and nothing may be lost or doubled. CAIRN_CAMPAIGN makes it longer.

import Cairn
import CairnTestSupport
import Observation
import StoreBackends
import Synchronization
import Testing

@Suite("Eight tasks with children, undo, policies and observers")
struct EightToolsTests {
    /// Lays what both have added upon what is stored.
    private final class Summing: MergePolicy, @unchecked Sendable {
        // It has no state.

        override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
            for conflict in list {
                guard let product = conflict.sourceObject as? TypedProduct,
                    let before = conflict.objectSnapshot?["stock"] as? Int
                else { continue }
                let own = product.stock - before
                product.managedObjectContext?.refresh(product, mergeChanges: false)
                product.stock += own
            }
        }
    }

    private final class Board: Sendable {
        /// How often the counter was raised, and how many objects are to be there in the end.
        let raised = Atomic<Int>(0)
        let made = Atomic<Int>(0)
        let told = Atomic<Int>(0)
        /// Ids of objects that are not saved yet, for whoever looks them up.
        let promised = Mutex<[ObjectID]>([])
        /// What others have read, as values.
        let snapshots = Mutex<[ObjectSnapshot<TypedProduct>]>([])
    }

    @Test("Children, undo, autosave, ids, policies, observers and snapshots at once lose nothing")
    func eightTools() async throws {
        let types: [any PersistentEntity.Type] = [
            TypedProduct.self, TypedTag.self, TypedMaker.self, TypedMarks.self, TypedPart.self,
            TypedThing.self, TypedBlank.self,
        ]
        let stack = try Stack(
            ManagedObjectModel(for: types), .log, classes: ObjectClasses(for: types))
        let container = stack.container
        let counter = try await container.performBackgroundTask { context in
            let product = context.insert(TypedProduct.self)
            product.serialCode = "counter"
            try context.save()
            return product.objectID
        }
        let rounds = Campaign.count(10, whole: 1000)
        let board = Board()
        let autosaving = container.newBackgroundContext()
        await autosaving.perform { $0.autosaveEnabled = true }
        let undoing = container.newBackgroundContext()
        await undoing.perform { $0.undoHistory = UndoHistory() }
        let parent = container.newBackgroundContext()
        await parent.perform { $0.automaticallyMergesChangesFromParent = true }
        try await MainActor.run {
            let view = container.viewContext
            view.automaticallyMergesChangesFromParent = true
            _ = try view.existingObject(with: counter)
        }

        @Sendable func label(_ task: Int, _ round: Int) -> String { "\(task) \(round)" }
        @Sendable func make(_ label: String, _ context: ManagedObjectContext) {
            context.insert(TypedTag.self).label = label
            board.made.add(1, ordering: .relaxed)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            // 1: a child and a grandchild of a context that merges.
            group.addTask {
                for round in 0..<rounds {
                    try await parent.perform { context in
                        let child = context.newChildContext()
                        let grandchild = child.newChildContext()
                        make(label(1, round), grandchild)
                        _ = try grandchild.fetch(FetchRequest<TypedProduct>()).map(\.name)
                        try grandchild.save()
                        try child.save()
                        try context.save()
                    }
                }
            }
            // 2: undoes what it has made, and what it has saved.
            group.addTask {
                for round in 0..<rounds {
                    try await undoing.perform { context in
                        make(label(2, round), context)
                        context.processPendingChanges()
                        context.undo()
                        context.redo()
                        try context.save()
                        context.undo()
                        try context.save()
                        context.redo()
                        try context.save()
                    }
                }
            }
            // 3: saves by itself.
            group.addTask {
                for round in 0..<rounds {
                    await autosaving.perform { make(label(3, round), $0) }
                }
            }
            // 4: promises ids before it saves, which 5 looks up.
            group.addTask {
                for round in 0..<rounds {
                    try await container.performBackgroundTask { context in
                        make(label(4, round), context)
                        let tags = context.insertedObjects
                        try context.obtainPermanentIDs(for: tags)
                        board.promised.withLock { $0 += tags.map(\.objectID) }
                        try context.save()
                    }
                }
            }
            // 5: looks up what others have promised; and raises the counter, with a policy of its own.
            group.addTask {
                for _ in 0..<rounds {
                    let ids = board.promised.withLock { $0 }
                    await container.performBackgroundTask { context in
                        for id in ids.suffix(3) {
                            // It may not be saved yet.
                            let code = storeError { _ = try context.existingObject(with: id) }?.code
                            #expect(code == nil || code == .objectNotFound)
                        }
                    }
                    try await Self.raise(counter, container, Summing(merge: .error), board)
                }
            }
            // 6: raises the counter as well.
            group.addTask {
                for _ in 0..<rounds {
                    try await Self.raise(counter, container, Summing(merge: .error), board)
                }
            }
            // 7: is told on the main actor of what others do to the counter.
            group.addTask {
                for _ in 0..<rounds {
                    try await MainActor.run {
                        let product = try #require(
                            try container.viewContext.existingObject(with: counter)
                                as? TypedProduct)
                        withObservationTracking {
                            _ = product.stock
                        } onChange: {
                            board.told.add(1, ordering: .relaxed)
                        }
                    }
                    await Task.yield()
                }
            }
            // 8: hands values to other tasks, which read them there.
            group.addTask {
                for _ in 0..<rounds {
                    let snapshot = try await container.performBackgroundTask { context in
                        let product = try #require(
                            try context.existingObject(with: counter) as? TypedProduct)
                        return product.snapshot()
                    }
                    board.snapshots.withLock { $0.append(snapshot) }
                    let stocks = board.snapshots.withLock { $0.map { $0.stock } }
                    #expect(stocks == stocks.sorted())
                }
            }
            try await group.waitForAll()
        }
        let raised = board.raised.load(ordering: .relaxed)
        let fresh = stack.context()
        let product = try #require(try fresh.existingObject(with: counter) as? TypedProduct)
        #expect(product.stock == raised && raised == 2 * rounds)
        let labels = try fresh.fetch(FetchRequest<TypedTag>()).map(\.label)
        #expect(labels.count == board.made.load(ordering: .relaxed))
        #expect(Set(labels).count == labels.count && labels.count == 4 * rounds)
        let shown = try await MainActor.run {
            container.viewContext.mergeWaitingChanges()
            return try #require(
                try container.viewContext.existingObject(with: counter) as? TypedProduct
            ).stock
        }
        #expect(shown == raised)
    }

    /// Raises the counter by one, whoever else does.
    private static func raise(
        _ id: ObjectID, _ container: PersistentContainer, _ policy: Summing, _ board: Board
    ) async throws {
        let wait = OpenWait(for: "a save without conflict")
        defer { wait.end() }
        var isSaved = false
        while !isSaved {
            do {
                try await container.performBackgroundTask { context in
                    context.mergePolicy = policy
                    let product = try #require(
                        try context.existingObject(with: id) as? TypedProduct)
                    product.stock += 1
                    try context.save()
                }
                isSaved = true
            } catch {
                // The rounds that a policy of one's own is given may not be enough beside so many: then all is as before.
                guard (error as? StoreError)?.code == .mergeConflict else { throw error }
            }
        }
        board.raised.add(1, ordering: .relaxed)
    }
}
