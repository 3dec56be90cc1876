// The history of several stores behind a coordinator: a token keeps the places in all of them.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("The history of several stores")
struct CoordinatedHistoryTests {
    /// A coordinator with two stores that keep a history.
    private struct Two {
        let coordinator: PersistentStoreCoordinator
        let stores: [any HistoryStore]
        let context: ManagedObjectContext

        init(_ backend: Backend) throws {
            let coordinator = try PersistentStoreCoordinator(Models.shop)
            stores = try (0..<2).map { _ in
                try backend.makeStoreWithHistory(coordinator.schema)
            }
            for store in stores { try coordinator.add(store) }
            self.coordinator = coordinator
            context = ManagedObjectContext(store: coordinator)
        }

        func write(_ name: String, to store: Int) throws {
            let shop = context.make("Shop", ["name": name])
            try context.assign(shop, to: stores[store])
            try context.save()
        }

        func number(_ token: PersistentHistoryToken?, _ store: Int) -> UInt64? {
            token?.numbers[stores[store].identity.identifier]
        }

        /// Reads as the documentation's example does; gives the stores of the transactions.
        func follow(_ token: inout PersistentHistoryToken?, limit: Int = 0) throws -> [Int] {
            var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
            request.fetchLimit = limit
            let history = try coordinator.fetchHistory(request)
            var told: [Int] = []
            while let transaction = try history.next() {
                told.append(
                    stores.firstIndex { $0.identity.identifier == transaction.storeID } ?? -1)
                token = transaction.token
            }
            return told
        }
    }

    @Test(
        "The token of each transaction is behind all that was fetched before it, whatever the store",
        arguments: Backend.allCases)
    func places(_ backend: Backend) throws {
        let two = try Two(backend)
        for (index, store) in [0, 1, 1, 0, 0].enumerated() {
            try two.write("\(index)", to: store)
        }
        var token: PersistentHistoryToken?
        #expect(try two.follow(&token, limit: 2) == [0, 1])
        #expect(try two.follow(&token) == [1, 0, 0])
        #expect(try two.follow(&token) == [])
        #expect(token == (try two.coordinator.currentPersistentHistoryToken()))
        try two.write("a", to: 0)
        #expect(try two.follow(&token) == [0])
        try two.write("b", to: 1)
        #expect(try two.follow(&token) == [1])
        // A request of one of them leaves the place in the other one alone.
        try two.write("c", to: 0)
        try two.write("d", to: 1)
        var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
        request.affectedStores = [two.stores[1].identity.identifier]
        token = try #require(try two.coordinator.execute(request).transactions.last).token
        #expect(try two.follow(&token) == [0])
        // What a save tells names the store that was written.
        let date = Date()
        try two.write("e", to: 1)
        let told = try #require(try two.stores[1].currentHistoryToken())
        token = token?.merging(told)
        #expect(try two.follow(&token) == [])
        try two.write("f", to: 0)
        let since = try two.coordinator.execute(.fetchHistory(after: date)).transactions
        #expect(since.last?.token == (try two.coordinator.currentPersistentHistoryToken()))
        token = since.last?.token
        #expect(try two.follow(&token) == [])
    }

    @Test(
        "Consumers are registered with whatever store a container has, and keep what they have not seen",
        arguments: Backend.allCases, [true, false])
    func consumers(_ backend: Backend, _ isOne: Bool) throws {
        let two = try Two(backend)
        let container = PersistentContainer(store: isOne ? two.stores[0] : two.coordinator)
        func deleteSeen() throws -> Int {
            try container.execute(.deleteSeenHistory()).deletedTransactionCount
        }
        #expect(try container.historyConsumers().isEmpty)
        try container.registerHistoryConsumer("search")
        let begin = try #require(try container.historyConsumers()["search"])
        for name in ["a", "b", "c"] { try two.write(name, to: 0) }
        if !isOne { for name in ["d", "e"] { try two.write(name, to: 1) } }
        try container.registerHistoryConsumer("search")
        #expect(try container.historyConsumers() == ["search": begin])
        #expect(try deleteSeen() == 0)
        let found = try container.execute(.fetchHistory(after: begin)).transactions
        #expect(found.count == (isOne ? 3 : 5))
        try container.advance("search", to: found[1].token)
        #expect(try container.historyConsumers()["search"] == begin.merging(found[1].token))
        #expect(try deleteSeen() == 2)
        let rest = try container.execute(
            .fetchHistory(after: try container.historyConsumers()["search"])
        ).transactions
        #expect(rest.map(\.transactionNumber) == found[2...].map(\.transactionNumber))
        try container.advance("search", to: try #require(found.last).token)
        #expect(try deleteSeen() == found.count - 2)
        #expect(
            storeError { try container.advance("other", to: found[1].token) }?.code
                == .invalidRequest)
        let stranger = PersistentHistoryToken(store: UUID(), number: 1)
        #expect(
            storeError { try container.advance("search", to: stranger) }?.code == .invalidRequest)
        try container.removeHistoryConsumer("search")
        #expect(try container.historyConsumers().isEmpty)
        let plain = PersistentContainer(store: try backend.makeStore(two.coordinator.schema))
        #expect(
            storeError { try plain.registerHistoryConsumer("x") }?.code == .invalidRequest)
        #expect(try plain.historyConsumers().isEmpty)
    }

    @Test("A store that is only read has no consumers here, and is in nobody's way")
    func readOnlyConsumers() throws {
        let schema = try Schema(Models.shop)
        var options = LogStoreOptions()
        options.fileSystem = MemoryFileSystem()
        options.persistentHistoryTracking = true
        let catalogue = try LogStore.open(at: "/catalogue", schema: schema, options: options)
        try Stack(store: catalogue).store { [$0.make("Shop", ["name": "old"])] }
        try catalogue.close()
        options.persistentHistoryTracking = nil
        options.isReadOnly = true
        let reader = try LogStore.open(at: "/catalogue", schema: schema, options: options)
        #expect(reader.historyTracking != .off)
        let container = PersistentContainer(store: reader)
        #expect(storeError { try container.registerHistoryConsumer("x") }?.code == .readOnly)

        let coordinator = try PersistentStoreCoordinator(Models.shop)
        let user = try Backend.log.makeStoreWithHistory(coordinator.schema)
        try coordinator.add(user)
        try coordinator.add(reader)
        let both = PersistentContainer(store: coordinator)
        try both.registerHistoryConsumer("search")
        let context = ManagedObjectContext(store: coordinator)
        context.make("Shop", ["name": "new"])
        try context.save()
        let found = try both.execute(.fetchHistory(after: nil)).transactions
        let last = try #require(found.last).token
        #expect(last.numbers.count == 2)
        try both.advance("search", to: last)
        let identifier = user.identity.identifier
        let seen = try #require(try both.historyConsumers()["search"])
        #expect(seen.numbers == [identifier: try #require(last.numbers[identifier])])
        // What the token says of the other store alone cannot be noted, and need not be.
        let other = try #require(last.numbers[reader.identity.identifier])
        try both.advance(
            "search",
            to: PersistentHistoryToken(store: reader.identity.identifier, number: other))
        try both.removeHistoryConsumer("search")
        try coordinator.close()
    }

    @Test(
        "What was deleted from one store before it was fetched is noticed, though it told nothing yet",
        arguments: Backend.allCases)
    func expired(_ backend: Backend) throws {
        for hasToldOfBoth in [true, false] {
            let two = try Two(backend)
            try two.write("a", to: 0)
            if hasToldOfBoth { try two.write("b", to: 1) }
            var token: PersistentHistoryToken?
            #expect(try two.follow(&token) == (hasToldOfBoth ? [0, 1] : [0]))
            try two.write("c", to: 0)
            #expect(try two.follow(&token) == [0])
            for name in ["d", "e"] { try two.write(name, to: 1) }
            let last = try #require(try two.stores[1].historyBounds()).last
            _ = try two.stores[1].deleteHistory(through: last)
            try two.write("f", to: 1)
            let error = storeError { _ = try two.follow(&token) }
            #expect(error?.code == .historyTokenExpired, "\(hasToldOfBoth)")
        }
    }

    @Test(
        "What is deleted before a token goes in all stores, and before a transaction in its own",
        arguments: Backend.allCases)
    func deletion(_ backend: Backend) throws {
        let two = try Two(backend)
        for (index, store) in [0, 1, 0, 1, 0, 1].enumerated() {
            try two.write("\(index)", to: store)
        }
        let all = try two.coordinator.execute(.fetchHistory(after: nil)).transactions
        func delete(_ request: PersistentHistoryChangeRequest) throws -> Int {
            try two.coordinator.execute(request).deletedTransactionCount
        }
        #expect(try delete(.deleteHistory(before: all[3].token)) == 2)
        #expect(try delete(.deleteHistory(before: all[4])) == 1)
        #expect(
            try two.coordinator.execute(.fetchHistory(after: nil)).transactions
                .map(\.transactionNumber) == all.dropFirst(3).map(\.transactionNumber))
        let other = try Two(backend)
        try other.write("x", to: 0)
        let foreign = try #require(
            try other.coordinator.execute(.fetchHistory(after: nil)).transactions.first)
        #expect(
            storeError { _ = try delete(.deleteHistory(before: foreign)) }?.code == .invalidRequest)
        // A token that names none of the stores deletes nothing.
        #expect(try delete(.deleteHistory(before: foreign.token)) == 0)
    }

    @Test(
        "A transaction's token outlives the course of a store, and is told from another",
        arguments: Backend.allCases)
    func marks(_ backend: Backend) throws {
        let two = try Two(backend)
        try two.write("a", to: 0)
        try two.write("b", to: 1)
        let token = try #require(
            try two.coordinator.execute(.fetchHistory(after: nil)).transactions.last?.token)
        #expect(token.marks.keys.count == 2)
        let store = two.stores[1].identity.identifier
        var marks = token.marks
        marks[store]?.time += 1
        let foreign = PersistentHistoryToken(token.numbers, marks: marks)
        #expect(
            storeError { _ = try two.coordinator.fetchHistory(.fetchHistory(after: foreign)) }?.code
                == .historyTokenExpired)
        #expect(
            storeError { try two.stores[1].registerHistoryConsumer("x") } == nil)
        #expect(
            storeError { try two.stores[1].advance("x", to: foreign) }?.code == .historyTokenExpired
        )
        try two.stores[1].advance("x", to: token)
        #expect(
            storeError {
                try two.stores[1].setHistoryConsumer("x", seen: .max, mustExist: true)
            }?.code == .invalidRequest)
        #expect(
            storeError {
                try two.stores[1].setHistoryConsumer("y", seen: 1, mustExist: true)
            }?.code == .invalidRequest)
        #expect(try two.stores[1].deleteHistory(through: .max) == 1)
        try two.write("c", to: 1)
        #expect(try two.stores[1].execute(.fetchHistory(after: token)).transactions.count == 1)
    }
}
