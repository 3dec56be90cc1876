// Up to where a reader of a part of the history has come.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Reading a part of the history")
struct HistoryStreamTests {
    /// Stores with a history behind a coordinator.
    private struct Scene {
        let coordinator: PersistentStoreCoordinator
        let stores: [any HistoryStore]

        init(_ backend: Backend, stores count: Int) throws {
            let coordinator = try PersistentStoreCoordinator(Models.shop)
            stores = try (0..<count).map { _ in
                try backend.makeStoreWithHistory(coordinator.schema)
            }
            for store in stores { try coordinator.add(store) }
            self.coordinator = coordinator
        }

        /// Writes a transaction of some changes.
        func write(_ author: String, _ changes: Int, to store: Int = 0) throws {
            let context = ManagedObjectContext(store: coordinator)
            context.transactionAuthor = author
            for _ in 0..<changes {
                try context.assign(context.make("Shop"), to: stores[store])
            }
            try context.save()
        }
    }

    @Test(
        "A limit of changes does not cut a transaction that comes with its token",
        arguments: Backend.allCases, [1, 2])
    func changeLimits(_ backend: Backend, _ count: Int) throws {
        let scene = try Scene(backend, stores: count)
        for (index, changes) in [6, 4, 1].enumerated() {
            try scene.write("a", changes, to: index % count)
        }
        var fetch = PersistentHistoryChange.fetchRequest
        fetch.fetchLimit = 8
        var request = PersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        func follow(_ token: PersistentHistoryToken?) throws -> [PersistentHistoryTransaction] {
            var next = PersistentHistoryChangeRequest.fetchHistory(after: token)
            next.fetchRequest = fetch
            let stream = try scene.coordinator.fetchHistory(next)
            var all: [PersistentHistoryTransaction] = []
            while let transaction = try stream.next() { all.append(transaction) }
            let executed = try scene.coordinator.execute(next).transactions
            #expect(executed.map { $0.changes?.count } == all.map { $0.changes?.count })
            return all
        }
        let first = try follow(nil)
        #expect(first.map { $0.changes?.count } == [6, 4])
        #expect(try follow(first.last?.token).map { $0.changes?.count } == [1])
        // Changes by themselves are as many as are wanted.
        request.resultType = .changesOnly
        #expect(try scene.coordinator.execute(request).changes.count == 8)
        request.resultType = .count
        #expect(try scene.coordinator.execute(request).count == 8)
        // Without their changes no more transactions come than with them.
        request.resultType = .transactionsOnly
        let alone = try scene.coordinator.execute(request).transactions
        #expect(alone.map(\.transactionNumber) == first.map(\.transactionNumber))
        #expect(alone.allSatisfy { $0.changes == nil })
    }

    @Test("A limit may be as great as it likes")
    func greatLimits() throws {
        let scene = try Scene(.log, stores: 1)
        for _ in 0..<3 { try scene.write("a", 1) }
        var fetch = PersistentHistoryTransaction.fetchRequest
        fetch.sortDescriptors = [SortKey("transactionNumber", ascending: false)]
        fetch.fetchLimit = .max
        let all = try scene.coordinator.execute(.fetchHistory(withFetch: fetch)).transactions
        #expect(all.count == 3)
    }

    @Test(
        "The token of a stream is behind what nobody wanted, and not behind what is still to come",
        arguments: Backend.allCases, [1, 2])
    func tokens(_ backend: Backend, _ count: Int) throws {
        let scene = try Scene(backend, stores: count)
        let start = try scene.coordinator.currentPersistentHistoryToken()
        for index in 0..<4 { try scene.write("own", 1, to: index % count) }
        let now = try scene.coordinator.currentPersistentHistoryToken()
        #expect(start != now)
        var excluding = PersistentHistoryChangeRequest.fetchHistory(after: start)
        excluding.excludedAuthors = ["own"]
        var matching = PersistentHistoryChangeRequest.fetchHistory(after: start)
        matching.fetchRequest = PersistentHistoryTransaction.fetchRequest(
            where: .compare("author", .equal, .string("other")))
        for request in [excluding, matching] {
            let stream = try scene.coordinator.fetchHistory(request)
            #expect(stream.token == start)
            #expect(try stream.next() == nil)
            #expect(stream.token == now)
        }
    }

    @Test(
        "Who goes on from a stream's token after each transaction gets all that he wants, each once",
        arguments: Backend.allCases, RandomSource.seeds(4))
    func goingOn(_ backend: Backend, _ seed: UInt64) throws {
        print("seed \(seed)")
        var random = RandomSource(seed: seed)
        let scene = try Scene(backend, stores: 3)
        for _ in 0..<40 {
            try scene.write(
                random.chance(30) ? "other" : "own", 1 + random.below(3), to: random.below(3))
        }
        var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
        request.excludedAuthors = ["own"]
        func name(_ transaction: PersistentHistoryTransaction) -> String {
            "\(transaction.storeID) \(transaction.transactionNumber)"
        }
        let all = try scene.coordinator.execute(request).transactions.map(name)
        var found: [String] = []
        var token: PersistentHistoryToken?
        while true {
            var next = PersistentHistoryChangeRequest.fetchHistory(after: token)
            next.excludedAuthors = ["own"]
            let stream = try scene.coordinator.fetchHistory(next)
            let transaction = try stream.next()
            token = stream.token
            guard let transaction else { break }
            found.append(name(transaction))
        }
        #expect(found == all)
        #expect(token == (try scene.coordinator.currentPersistentHistoryToken()))
    }
}
