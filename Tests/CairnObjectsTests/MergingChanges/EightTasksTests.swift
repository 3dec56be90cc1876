// Eight tasks on one container, each doing something else all the time.
//
// Meant for the thread sanitizer, which says of each access whether another was ordered before it; and the sums must be
// right at the end. CAIRN_CAMPAIGN makes it longer.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Synchronization
import Testing

@Suite("Eight tasks on one container")
struct EightTasksTests {
    /// What the tasks have done, to be compared with what is stored.
    private struct Tally: Sendable {
        var made = 0
        var deleted = 0
        /// By counter: how often it was raised.
        var raised: [Int: Int] = [:]
        var saves = 0
    }

    /// What the tasks and those who listen share.
    private final class Board: Sendable {
        let tally = Mutex(Tally())
        let told = Mutex<Set<UInt64>>([])
        let seen = Mutex<Set<ObjectID>>([])
    }

    private static let counters = 6

    @Test(
        "Fetching, saving, merging, listening, batches and pinned reading at once lose nothing",
        arguments: Backend.allCases)
    func eightTasks(_ backend: Backend) async throws {
        let stack = try Stack(Models.shop, backend)
        let container = stack.container
        let counters = try stack.store { context in
            let shop = context.make("Shop", ["name": "all"])
            return (0..<Self.counters).map {
                context.make("Product", ["serialCode": "counter \($0)", "stock": 0, "shop": shop])
            }
        }
        let rounds = Campaign.count(12, whole: 2000)
        let board = Board()
        let observation = stack.store.observeChanges { set in
            let commits = Set(set.commits)
            let isNew = board.told.withLock { told in
                defer { told.formUnion(commits) }
                return told.isDisjoint(with: commits)
            }
            if !isNew { Issue.record("a commit was told twice") }
        }
        let background = container.newBackgroundContext()
        await background.perform { $0.automaticallyMergesChangesFromParent = true }
        let shared = container.newBackgroundContext()
        await MainActor.run { container.viewContext.automaticallyMergesChangesFromParent = true }
        let changes = await background.changes
        let saves = container.saves
        let remote = container.remoteChanges
        let start = try stack.store.snapshot().commit

        // Those who listen do so until the others are done.
        let listeners = [
            Task {
                for await change in changes.inTime() {
                    board.seen.withLock { $0.formUnion(change.insertedObjectIDs) }
                }
            },
            Task { for await save in saves.inTime() { _ = save.commit } },
            Task { for await change in remote.inTime() { _ = change.updatedObjectIDs } },
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            // 1, 2: raise counters, each in contexts of its own, until no conflict stands against it.
            for task in 0..<2 {
                group.addTask {
                    for round in 0..<rounds {
                        let counter = (round + task) % Self.counters
                        try await Self.raise(counters[counter], container)
                        board.tally.withLock { $0.raised[counter, default: 0] += 1 }
                    }
                }
            }
            // 3: makes objects and deletes some, in a context that merges.
            group.addTask {
                for round in 0..<rounds {
                    let (made, deleted) = try await background.perform { context in
                        var deleted = 0
                        for number in 0..<3 {
                            context.make("Tag", ["label": "3 \(round) \(number)"])
                        }
                        try context.save()
                        let own = try context.all("Tag").filter {
                            $0.string("label")?.hasPrefix("3 ") == true
                        }
                        for tag in own.prefix(1) {
                            context.delete(tag)
                            deleted += 1
                        }
                        try context.save()
                        return (3, deleted)
                    }
                    board.tally.withLock {
                        $0.made += made
                        $0.deleted += deleted
                    }
                }
            }
            // 4: batches.
            group.addTask {
                for round in 0..<rounds {
                    let rows = (0..<20).map { ["label": "4 \(round) \($0)"] }
                    _ = try stack.store.execute(
                        BatchInsertRequest(entityName: "Tag", objects: rows))
                    let tags = try stack.context().all("Tag").filter {
                        $0.string("label")?.hasPrefix("4 ") == true
                    }.prefix(5)
                    let result = try stack.store.execute(
                        BatchDeleteRequest(
                            .ids(
                                tags.map(\.objectID),
                                entity: stack.store.schema.entity(named: "Tag")!.index)))
                    board.tally.withLock {
                        $0.made += 20
                        $0.deleted += result.deletedCount
                    }
                }
            }
            // 5: reads a pinned state twice, which must be the same.
            group.addTask {
                for _ in 0..<rounds {
                    try await container.performBackgroundTask { context in
                        try context.setQueryGeneration(from: .current)
                        let first = try Self.content(context)
                        context.reset()
                        await Task.yield()
                        let second = try Self.content(context)
                        if first != second { Issue.record("a pinned state has changed") }
                    }
                }
            }
            // 6: the view context, which merges on the main actor and reads its relationships.
            group.addTask {
                for _ in 0..<rounds {
                    try await MainActor.run {
                        let view = container.viewContext
                        let shop = try view.all("Shop")[0]
                        #expect(shop.members("products").count == Self.counters)
                        for product in shop.members("products") { _ = product["stock"] }
                        view.processPendingChanges()
                    }
                    await Task.yield()
                }
            }
            // 7: one context for two tasks, who take turns.
            for half in 0..<2 {
                group.addTask {
                    for round in 0..<rounds {
                        try await shared.perform { context in
                            context.mergePolicy = .mergeByPropertyObjectTrump
                            context.make(
                                "Recipe", ["source": "\(half)", "externalID": "\(round % 5)"])
                            try context.save()
                        }
                    }
                }
            }
            // 8: refreshes and fetches without end, and lets objects go anywhere.
            group.addTask {
                for round in 0..<rounds {
                    try await container.performBackgroundTask { context in
                        context.automaticallyMergesChangesFromParent = round % 2 == 0
                        let held = try context.all("Product")
                        await Task.yield()
                        context.refreshAllObjects()
                        for object in held { _ = object.string("serialCode") }
                        _ = try context.count("Tag")
                    }
                }
            }
            try await group.waitForAll()
        }
        // A commit more tells what may still wait to be told.
        try stack.store { [$0.make("Recipe", ["title": "last"])] }
        for listener in listeners { listener.cancel() }
        for listener in listeners { await listener.value }
        observation.cancel()

        let end = try stack.store.snapshot().commit
        #expect(board.told.withLock { $0 }.isSubset(of: Set(start + 1...end)))
        let done = board.tally.withLock { $0 }
        let fresh = stack.context()
        #expect(try fresh.count("Tag") == done.made - done.deleted)
        #expect(try fresh.count("Recipe") == min(rounds, 5) * 2 + 1)
        for (number, id) in counters.enumerated() {
            let stock = fresh.object(with: id).int("stock")
            #expect(stock == done.raised[number, default: 0], "counter \(number)")
        }
        // Who merges shows what a fresh context reads.
        let stored = try Self.content(fresh)
        let merged = try await background.perform { context in
            context.mergeWaitingChanges()
            return try Self.content(context)
        }
        #expect(merged == stored)
        let shown = try await MainActor.run {
            container.viewContext.mergeWaitingChanges()
            return try Self.content(container.viewContext)
        }
        #expect(shown == stored)
    }

    /// Raises a counter by one, in contexts of its own, until that succeeds.
    private static func raise(_ id: ObjectID, _ container: PersistentContainer) async throws {
        let wait = OpenWait(for: "a save without conflict")
        defer { wait.end() }
        while true {
            let isDone = try await container.performBackgroundTask { context in
                let product = context.object(with: id)
                product["stock"] = (product.int("stock") ?? 0) + 1
                do {
                    try context.save()
                    return true
                } catch {
                    guard (error as? StoreError)?.code == .mergeConflict else { throw error }
                    return false
                }
            }
            if isDone { return }
        }
    }

    /// The products with their stock, and the labels of all tags.
    private static func content(_ context: ManagedObjectContext) throws -> [String] {
        let products = try context.all("Product").map {
            "\($0.string("serialCode") ?? "") \($0.int("stock") ?? -1)"
        }
        return products.sorted()
            + (try context.all("Tag").compactMap { $0.string("label") }).sorted()
    }
}
