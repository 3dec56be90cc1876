// Contexts that read a store as it was after a commit of the past.

import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import Foundation
import Testing

@Suite("Query generations of the past")
struct PastGenerationTests {
    /// A store with two products, of which one was changed and one was deleted since.
    private struct Market {
        let store: LogStore
        let stack: Stack
        let products: [ObjectID]
        let shop: ObjectID
        /// The commit behind which they were as they were made.
        let then: UInt64

        init() throws {
            var options = LogStoreOptions()
            options.pastStates = .all
            options.persistentHistoryTracking = true
            store = try LogStore.inMemory(schema: Schema(Models.shop), options: options)
            let stack = Stack(store: store)
            self.stack = stack
            let ids = try stack.store { context in
                let shop = context.make("Shop", ["name": "corner"])
                return [shop]
                    + ["a", "b"].map {
                        context.make(
                            "Product", ["serialCode": $0, "name": $0, "price": 1.0, "shop": shop])
                    }
            }
            (shop, products) = (ids[0], Array(ids[1...]))
            then = try store.snapshot().commit
            let context = stack.context()
            context.object(with: products[0])["name"] = "z"
            context.object(with: products[0])["shop"] = nil
            context.delete(context.object(with: products[1]))
            context.make("Product", ["serialCode": "c", "name": "c"])
            try context.save()
            _ = try store.compact()
        }

        func past(_ policy: MergePolicy = .error) throws -> ManagedObjectContext {
            let context = stack.context(policy)
            try context.setQueryGeneration(from: try stack.container.queryGeneration(at: then))
            return context
        }
    }

    private func names(_ objects: some Sequence<ManagedObject>) -> [String] {
        objects.map { $0.string("name") ?? "nil" }.sorted()
    }

    @Test("A context fetches, counts, faults and follows relationships in the state of then")
    func reading() throws {
        let market = try Market()
        let context = try market.past()
        #expect(names(try context.all("Product")) == ["a", "b"])
        #expect(try context.count("Product") == 2)
        let gone = context.object(with: market.products[1])
        #expect(gone.string("name") == "b")
        let shop = context.object(with: market.shop)
        #expect(names(shop["products"] as? Set<ManagedObject> ?? []) == ["a", "b"])
        #expect(context.queryGenerationToken?.description == "commit \(market.then)")
        // Tokens of one state are equal, whoever took them.
        #expect(
            context.queryGenerationToken == (try market.store.queryGeneration(at: market.then)))
        try context.setQueryGeneration(from: nil)
        context.refreshAllObjects()
        #expect(names(try context.all("Product")) == ["c", "z"])
    }

    @Test("What was changed since is a conflict, and a save without one moves the context on")
    func saving() throws {
        let market = try Market()
        let context = try market.past()
        context.object(with: market.products[0])["price"] = 7.0
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .mergeConflict)
        // What others have written since is not undone by what was read of then.
        let other = try market.past(.mergeByPropertyObjectTrump)
        other.object(with: market.products[0])["price"] = 7.0
        try other.save()
        let newest = market.stack.context().object(with: market.products[0])
        #expect(newest.string("name") == "z" && newest["price"] as? Double == 7)
        #expect(newest["shop"] == nil)
        #expect(names(try other.all("Product")) == ["c", "z"])
        let last = try market.store.snapshot().commit
        #expect(other.queryGenerationToken?.description == "commit \(last)")
        // Of a state of then an object that is gone comes back for nobody.
        let third = try market.past()
        third.object(with: market.products[1])["price"] = 7.0
        #expect(throws: (any Error).self) { try third.save() }
        #expect(try market.stack.context().count("Product") == 2)
    }

    @Test("A state can be said by a point of the history and by a date, also to a coordinator")
    func points() throws {
        let market = try Market()
        let transactions = try market.store.execute(.fetchHistory(after: nil)).transactions
        let first = try #require(transactions.first)
        #expect(first.transactionNumber == market.then)
        let token = try market.store.queryGeneration(at: first.token)
        #expect(token == (try market.store.queryGeneration(at: market.then)))
        let other = PersistentHistoryToken(store: UUID(), number: 1)
        #expect(throws: StoreError.self) { _ = try market.store.queryGeneration(at: other) }
        let late = try market.store.queryGeneration(at: Date().addingTimeInterval(100))
        #expect(late.description == "commit \(try market.store.snapshot().commit)")
        let early = #expect(throws: StoreError.self) {
            _ = try market.store.queryGeneration(at: Date(timeIntervalSinceReferenceDate: 1))
        }
        #expect(early?.code == .pastStateUnavailable)

        let coordinator = try PersistentStoreCoordinator(Models.shop)
        try coordinator.add(market.store)
        for generation in [
            try coordinator.queryGeneration(at: market.then),
            try coordinator.queryGeneration(at: first.token),
        ] {
            let context = ManagedObjectContext(store: coordinator)
            try context.setQueryGeneration(from: generation)
            #expect(names(try context.all("Product")) == ["a", "b"])
        }
    }

    @Test("A commit that is not kept, or still to come, is refused with what there is")
    func bounds() throws {
        let market = try Market()
        let bounds = try #require(try market.store.pastStateBounds())
        for number in [bounds.horizon - 1, bounds.last + 1] {
            let error = #expect(throws: StoreError.self) {
                _ = try market.store.queryGeneration(at: number)
            }
            #expect(error?.code == .pastStateUnavailable)
        }
        let plain = try LogStore.inMemory(schema: Schema(Models.shop))
        let error = #expect(throws: StoreError.self) { _ = try plain.queryGeneration(at: 1 << 40) }
        #expect(error?.code == .invalidRequest)
    }

    @Test("A transaction's values before and after it can be read")
    func values() throws {
        let market = try Market()
        let last = try #require(
            try market.store.execute(.fetchHistory(after: nil)).transactions.last)
        let values = try market.store.values(of: last)
        #expect(values.count == last.changes?.count)
        func one(_ type: PersistentHistoryChangeType, _ entity: String) throws
            -> PersistentHistoryValues
        {
            try #require(
                values.first { $0.change.changeType == type && $0.change.entityName == entity })
        }
        let updated = try one(.update, "Product")
        #expect(updated.before?["name"] == .string("a") && updated.after?["name"] == .string("z"))
        #expect(updated.before?["shop"] == .objectID(market.shop))
        #expect(updated.after?["shop"] == .null)
        let deleted = try one(.delete, "Product")
        #expect(deleted.before?["name"] == .string("b") && deleted.after == nil)
        let made = try one(.insert, "Product")
        #expect(made.before == nil && made.after?["serialCode"] == .string("c"))
        var count = 0
        try market.store.readValues(of: last) { _ in
            count += 1
            return false
        }
        #expect(count == 1)
        // The same number is another one in another store.
        let other = try Market()
        let foreign = #expect(throws: StoreError.self) { _ = try other.store.values(of: last) }
        #expect(foreign?.code == .invalidRequest)
        try market.store.purgePastStates(before: last.transactionNumber)
        let error = #expect(throws: StoreError.self) { _ = try market.store.values(of: last) }
        #expect(error?.code == .pastStateUnavailable)
    }
}
