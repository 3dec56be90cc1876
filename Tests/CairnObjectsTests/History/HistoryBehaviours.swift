// Persistent history as contexts, containers and coordinators are asked for it.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@testable import CairnLog

@Suite("Persistent history")
struct HistoryBehaviours {
    private static func stack(_ backend: Backend) throws -> Stack {
        Stack(store: try backend.makeStoreWithHistory(try Schema(Models.shop)))
    }

    private static func history(_ stack: Stack) throws -> any HistoryStore {
        try #require(stack.store as? any HistoryStore)
    }

    private static func all(
        _ stack: Stack, _ change: (inout PersistentHistoryChangeRequest) -> Void = { _ in }
    ) throws -> [PersistentHistoryTransaction] {
        var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
        change(&request)
        return try stack.container.execute(request).transactions
    }

    /// The changes of a transaction by entity, type and properties.
    private static func words(_ transaction: PersistentHistoryTransaction) -> Set<String> {
        Set(
            (transaction.changes ?? [])
                .map { change in
                    let names = change.updatedProperties.map { " \($0.sorted())" } ?? ""
                    return "\(change.changeType) \(change.entityName)\(names)"
                })
    }

    @Test(
        "B131: with tracking on did-save carries a history token, with it off it carries none",
        arguments: Backend.allCases)
    func token(_ backend: Backend) async throws {
        for isTracking in [true, false] {
            let stack =
                isTracking ? try Self.stack(backend) : try Stack(Models.shop, backend)
            let context = stack.container.newBackgroundContext()
            var saves = stack.container.saves.inTime().makeAsyncIterator()
            var changes = stack.container.remoteChanges.inTime().makeAsyncIterator()
            let tokens = try await context.perform {
                (context: ManagedObjectContext) throws -> [PersistentHistoryToken?] in
                final class Found: @unchecked Sendable {
                    // Filled and read by one thread: notifications are posted where the context works.
                    var tokens: [PersistentHistoryToken?] = []
                }
                let found = Found()
                let key = ManagedObjectContext.NotificationKey.historyToken.rawValue
                let observers = [
                    ManagedObjectContext.didSaveObjectsNotification,
                    ManagedObjectContext.didSaveObjectIDsNotification,
                ].map { name in
                    NotificationCenter.default.addObserver(
                        forName: name, object: context, queue: nil
                    ) {
                        found.tokens.append($0.userInfo?[key] as? PersistentHistoryToken)
                    }
                }
                defer { for one in observers { NotificationCenter.default.removeObserver(one) } }
                context.make("Shop", ["name": "a"])
                try context.save()
                return found.tokens
            }
            #expect(tokens.count == 2)
            let current = try stack.container.currentPersistentHistoryToken()
            #expect(isTracking ? tokens.allSatisfy { $0 == current } : tokens == [nil, nil])
            #expect((current != nil) == isTracking)
            let save = await saves.next()
            #expect(save?.historyToken == current)
            let change = await changes.next()
            #expect(change?.historyToken == current)
            if !isTracking {
                #expect(
                    storeError {
                        _ = try stack.container.execute(.fetchHistory(after: nil))
                    }?.code == .invalidRequest)
            }
        }
    }

    @Test(
        "B133: three saves after a purge give three transactions, oldest first, which another context can merge",
        arguments: Backend.allCases, [true, false])
    func merging(_ backend: Backend, _ byNotification: Bool) throws {
        let stack = try Self.stack(backend)
        let ids = try stack.store { context in
            ["changed", "deleted"].map { context.make("Shop", ["name": $0]) }
        }
        let first = try #require(try stack.container.currentPersistentHistoryToken())
        try stack.store { [$0.make("Shop", ["name": "before"])] }
        let start = try #require(try stack.container.currentPersistentHistoryToken())
        let other = stack.context()
        let held = ids.map { other.object(with: $0) }
        for object in held { try object.fulfill() }
        // The transaction of the token itself is kept.
        let purged = try stack.container.execute(.deleteHistory(before: start))
        #expect(purged.deletedTransactionCount == 1)
        #expect(try Self.all(stack).map(\.token) == [start])

        let mine = stack.context()
        let shop = mine.make("Shop", ["name": "new"])
        try mine.save()
        mine.object(with: ids[0])["name"] = "other"
        try mine.save()
        mine.delete(mine.object(with: ids[1]))
        try mine.save()
        let found = try other.execute(.fetchHistory(after: start)).transactions
        #expect(
            found.map(Self.words) == [
                ["insert Shop"], ["update Shop [\"name\"]"], ["delete Shop"],
            ])
        #expect(found.map(\.transactionNumber) == found.map(\.transactionNumber).sorted())
        #expect(found.map(\.timestamp) == found.map(\.timestamp).sorted())
        #expect(found.last?.token == (try stack.container.currentPersistentHistoryToken()))
        #expect(found.flatMap(\.insertedObjectIDs) == [shop.objectID])
        #expect(found.flatMap(\.updatedObjectIDs) == [ids[0]])
        #expect(found.flatMap(\.deletedObjectIDs) == [ids[1]])
        #expect(
            try other.execute(.fetchHistory(after: found[0])).transactions.map(\.token)
                == found.dropFirst().map(\.token))

        let recorder = NotificationRecorder(other)
        var told: [NotificationRecorder.Entry] = []
        for transaction in found {
            if byNotification {
                other.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            } else {
                other.mergeChanges(from: transaction)
            }
            other.processPendingChanges()
            told += recorder.take().filter { $0.kind == .didChange }
        }
        #expect(told.map(\.inserted) == [1, 0, 0])
        #expect(told.map { $0.updated + $0.refreshed } == [0, 1, 0])
        #expect(told.map(\.deleted) == [0, 0, 1])
        #expect(held[0].string("name") == "other")
        // Behind the first save nothing is missing; from before it something is.
        #expect(try stack.container.execute(.fetchHistory(after: first)).transactions.count == 4)
        try stack.container.execute(.deleteHistory(before: found[0]))
        #expect(
            storeError { _ = try stack.container.execute(.fetchHistory(after: first)) }?.code
                == .historyTokenExpired)
    }

    @Test(
        "B134: transactions can be fetched by author and context name; another author gives none",
        arguments: Backend.allCases)
    func authors(_ backend: Backend) throws {
        let stack = try Self.stack(backend)
        for (author, name) in [("one", "view"), ("two", "import"), ("one", nil)] {
            let context = stack.context()
            context.transactionAuthor = author
            context.name = name
            context.make("Shop", ["name": author + (name ?? "")])
            try context.save()
        }
        try stack.store { [$0.make("Shop", ["name": "nobody"])] }
        #expect(try Self.all(stack).map(\.author) == ["one", "two", "one", nil])
        #expect(try Self.all(stack).map(\.contextName) == ["view", "import", nil, nil])
        #expect(try Self.all(stack) { $0.authors = ["one"] }.count == 2)
        #expect(try Self.all(stack) { $0.authors = ["three"] }.isEmpty)
        #expect(try Self.all(stack) { $0.contextNames = ["import"] }.map(\.author) == ["two"])
        #expect(try Self.all(stack) { $0.excludedAuthors = ["one"] }.map(\.author) == ["two", nil])
        #expect(
            try Self.all(stack) {
                $0.authors = ["one"]
                $0.contextNames = ["view"]
            }.count == 1)
        #expect(try Self.all(stack) { $0.fetchLimit = 2 }.map(\.author) == ["one", "two"])
        #expect(
            try Self.all(stack).allSatisfy {
                $0.processID == ProcessInfo.processInfo.processIdentifier
            })
    }

    @Test(
        "B136: changes can be fetched by type, by entity without its subentities, and by object",
        arguments: Backend.allCases)
    func filters(_ backend: Backend) throws {
        let stack = Stack(store: try backend.makeStoreWithHistory(try Schema(Models.vehicles)))
        let context = stack.context()
        let car = context.make("Car", ["numberPlate": "1", "maker": "a"])
        let sport = context.make("SportCar", ["numberPlate": "2", "racingNumber": 7])
        try context.save()
        car["maker"] = "b"
        sport["team"] = "red"
        try context.save()
        context.delete(car)
        try context.save()
        func words(_ change: (inout PersistentHistoryChangeRequest) -> Void) throws -> [String] {
            try Self.all(stack, change).flatMap { $0.changes.map { Array($0) } ?? [] }
                .map { "\($0.changeType) \($0.entityName)" }
        }
        #expect(
            Set(try words { _ in }) == [
                "insert Car", "insert SportCar", "update Car", "update SportCar", "delete Car",
            ])
        #expect(
            try words { $0.entityName = "Car" } == ["insert Car", "update Car", "delete Car"])
        #expect(try words { $0.changeTypes = [.delete] } == ["delete Car"])
        #expect(
            try words { $0.changedObjectIDs = [sport.objectID] } == [
                "insert SportCar", "update SportCar",
            ])
        #expect(try words { $0.updatedProperties = ["team"] } == ["update SportCar"])
        #expect(
            try words {
                $0.changeTypes = [.insert]
                $0.changedObjectIDs = [car.objectID]
            } == ["insert Car"])
        #expect(try words { $0.entityName = "Bicycle" }.isEmpty)
    }

    @Test(
        "B137: transactions alone have no changes, changes alone are a flat list",
        arguments: Backend.allCases)
    func results(_ backend: Backend) throws {
        let stack = try Self.stack(backend)
        let ids = try stack.products(3)
        try stack.store { context in
            let product = context.object(with: ids[1])
            product["name"] = "new"
            return [product]
        }
        func result(_ type: PersistentHistoryResultType) throws -> PersistentHistoryResult {
            var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
            request.resultType = type
            return try stack.container.execute(request)
        }
        let alone = try result(.transactionsOnly).transactions
        #expect(alone.count == 2 && alone.allSatisfy { $0.changes == nil })
        let changes = try result(.changesOnly)
        #expect(changes.transactions.isEmpty)
        #expect(changes.changes.map(\.changeType) == [.insert, .insert, .insert, .update])
        #expect(changes.changes.map(\.changedObjectID) == ids + [ids[1]])
        #expect(changes.changes.map(\.changeID) == [1, 2, 3, 1])
        #expect(try result(.objectIDs).objectIDs == ids)
        #expect(try result(.count).count == 4)
        let both = try result(.transactionsAndChanges).transactions
        #expect(both.map { $0.changes?.count } == [3, 1])
        let nothing = try result(.statusOnly)
        #expect(nothing.transactions.isEmpty && nothing.changes.isEmpty)
    }

    @Test(
        "B140: batches are in the history too, and so is what pruning deletes",
        arguments: Backend.allCases)
    func batches(_ backend: Backend) throws {
        let stack = try Self.stack(backend)
        let context = stack.context(.mergeByPropertyObjectTrump)
        context.transactionAuthor = "import"
        func upsert(_ rows: [[String: Any]], prunes: Bool = false) throws {
            var request = BatchInsertRequest(entityName: "Product", objects: rows)
            request.prunesMissing = prunes
            try context.execute(request)
        }
        try upsert((0..<5).map { ["serialCode": "\($0)", "name": "n\($0)", "price": 1.0] })
        try upsert([
            ["serialCode": "1", "name": "n1", "price": 2.0],
            ["serialCode": "9", "name": "n9", "price": 1.0],
        ])
        try upsert(
            [
                ["serialCode": "1", "name": "n1", "price": 2.0],
                ["serialCode": "2", "name": "other", "price": 1.0],
            ], prunes: true)
        let request = FetchRequest(
            entityName: "Product", predicate: .compare("serialCode", .equal, .string("2")))
        try context.executeBatchDelete(request)
        try upsert((3..<7).map { ["serialCode": "\($0)", "stock": $0] })
        try context.execute(
            BatchUpdateRequest(
                entityName: "Product", propertiesToUpdate: ["note": "many", "price": 3.0],
                predicate: .compare("stock", .greater, .integer(3))))
        try context.execute(
            BatchDeleteRequest(
                entityName: "Product", predicate: .compare("stock", .less, .integer(5))))
        let found = try Self.all(stack)
        #expect(found.allSatisfy { $0.author == "import" })
        #expect(
            found.map(Self.words) == [
                ["insert Product"], ["insert Product", "update Product [\"price\"]"],
                ["update Product [\"name\"]", "delete Product"], ["delete Product"],
                ["insert Product"], ["update Product [\"note\", \"price\"]"], ["delete Product"],
            ])
        #expect(found.map { $0.changes?.count } == [5, 2, 5, 1, 4, 3, 2])
    }

    @Test("What relationships change is told at both ends", arguments: Backend.allCases)
    func relationships(_ backend: Backend) throws {
        let stack = try Self.stack(backend)
        let context = stack.context()
        let shop = context.make("Shop", ["name": "corner"])
        let product = context.make("Product", ["name": "a", "shop": shop])
        let tag = context.make("Tag", ["label": "new"])
        try context.save()
        product.add(tag, to: "tags")
        try context.save()
        shop["name"] = "other"
        product["shop"] = nil
        try context.save()
        let found = try Self.all(stack).map(Self.words)
        #expect(
            found[1] == ["update Product [\"tags\"]", "update Tag [\"products\"]"])
        #expect(
            found[2] == ["update Product [\"shop\"]", "update Shop [\"name\", \"products\"]"])
    }

    @Test(
        "The owner of members that come, go or change places is told though nothing else of it changed",
        arguments: Backend.allCases)
    func owners(_ backend: Backend) throws {
        let stack = try Self.stack(backend)
        let context = stack.context()
        let shops = ["a", "b"].map { context.make("Shop", ["name": $0]) }
        let product = context.make("Product", ["serialCode": "0", "shop": shops[0]])
        try context.save()
        product["shop"] = nil
        try context.save()
        product["shop"] = shops[0]
        try context.save()
        product["shop"] = shops[1]
        try context.save()
        product["price"] = 3.0
        try context.save()
        try context.execute(
            BatchInsertRequest(
                entityName: "Product",
                objects: (1..<4).map { ["serialCode": "\($0)", "shop": shops[1].objectID] }))
        try context.execute(BatchDeleteRequest(objectIDs: [product.objectID]))
        try context.execute(BatchDeleteRequest(objectIDs: [shops[1].objectID]))
        let found = try Self.all(stack).map(Self.words)
        let leads = "update Product [\"shop\"]"
        let has = "update Shop [\"products\"]"
        #expect(
            found == [
                ["insert Shop", "insert Product"], [leads, has], [leads, has], [leads, has],
                ["update Product [\"price\"]"], ["insert Product", has], ["delete Product", has],
                [leads, "delete Shop"],
            ])
        let changes = try Self.all(stack).map { Array($0.changes ?? []) }
        func owners(_ transaction: Int) -> [ObjectID] {
            changes[transaction].filter { $0.entityName == "Shop" }.map(\.changedObjectID)
        }
        #expect(owners(1) == [shops[0].objectID] && owners(2) == [shops[0].objectID])
        #expect(Set(owners(3)) == Set(shops.map(\.objectID)))
        #expect(owners(5) == [shops[1].objectID] && owners(6) == [shops[1].objectID])
        // Who asks for changes of one property finds them.
        let some = try Self.all(stack) { $0.updatedProperties = ["products"] }
        #expect(some.count == 5)
    }

    @Test(
        "Members in another order are a change of their owner", arguments: Backend.allCases,
        [("Folder", "items"), ("Playlist", "items"), ("Playlist", "extras")])
    func reordered(_ backend: Backend, _ test: (owner: String, key: String)) throws {
        let stack = Stack(store: try backend.makeStoreWithHistory(try Schema(Models.ordered)))
        let context = stack.context()
        let items = "abcd".map { context.make("Song", ["name": String($0)]) }
        let owner = context.make(test.owner)
        owner[test.key] = items
        try context.save()
        owner[test.key] = [items[2], items[0], items[1], items[3]]
        try context.save()
        let told = Self.words(try #require(try Self.all(stack).last))
        #expect(told.contains("update \(test.owner) [\"\(test.key)\"]"))
        let changes = try #require(try Self.all(stack).last?.changes)
        #expect(
            changes.filter { $0.entityName == test.owner }.map(\.changedObjectID)
                == [owner.objectID])
    }

    @Test(
        "Values that the model wants to be kept outlive their objects", arguments: Backend.allCases)
    func tombstones(_ backend: Backend) throws {
        var model = Models.shop
        for place in model.entities.indices where model.entities[place].name == "Product" {
            for index in model.entities[place].attributes.indices {
                model.entities[place].attributes[index].preservesValueInHistoryOnDeletion =
                    ["serialCode", "price", "stock"].contains(
                        model.entities[place].attributes[index].name)
            }
        }
        let stack = Stack(store: try backend.makeStoreWithHistory(try Schema(model)))
        let context = stack.context()
        let products = (0..<3).map {
            context.make(
                "Product",
                ["serialCode": "s\($0)", "price": Double($0) + 0.5, "stock": $0 == 1 ? nil : $0])
        }
        let shop = context.make("Shop")
        try context.save()
        context.delete(products[0])
        context.delete(products[1])
        context.delete(shop)
        try context.save()
        let changes = try #require(try Self.all(stack).last?.changes)
        let tombstones = changes.map(\.tombstone)
        #expect(changes.map(\.entityName) == ["Shop", "Product", "Product"])
        #expect(tombstones[0] == nil)
        #expect(
            tombstones[1] == [
                "serialCode": .string("s0"), "price": .double(0.5), "stock": .integer(0),
            ])
        #expect(tombstones[2] == ["serialCode": .string("s1"), "price": .double(1.5)])
        let one = try Self.all(stack) { $0.changedObjectIDs = [products[1].objectID] }
        #expect(one.last?.changes?.first?.tombstone?["serialCode"] == .string("s1"))
        #expect(one.last?.changes?.count == 1)
    }

    @Test(
        "A token of what was purged has expired, and a consumer keeps it from being purged",
        arguments: Backend.allCases)
    func retention(_ backend: Backend) throws {
        let stack = try Self.stack(backend)
        let store = try Self.history(stack)
        var tokens: [PersistentHistoryToken] = []
        for name in ["a", "b", "c", "d"] {
            try stack.store { [$0.make("Shop", ["name": name])] }
            tokens.append(try #require(try store.currentHistoryToken()))
        }
        try store.registerHistoryConsumer("search")
        #expect(try store.execute(.deleteHistory(before: tokens[2])).deletedTransactionCount == 0)
        #expect(try Self.all(stack).count == 4)
        try store.advance("search", to: tokens[0])
        // It has seen the first one alone.
        #expect(try store.execute(.deleteHistory(before: tokens[2])).deletedTransactionCount == 1)
        #expect(try store.historyConsumers() == ["search": tokens[0]])
        #expect(try store.execute(.fetchHistory(after: tokens[0])).transactions.count == 3)
        try store.advance("search", to: tokens[2])
        // Nobody goes back.
        try store.advance("search", to: tokens[1])
        #expect(try store.historyConsumers() == ["search": tokens[2]])
        #expect(try store.execute(.deleteSeenHistory()).deletedTransactionCount == 2)
        #expect(try Self.all(stack).map(\.token) == [tokens[3]])
        let error = storeError { _ = try store.execute(.fetchHistory(after: tokens[0])) }
        #expect(error?.code == .historyTokenExpired && error?.code.rawValue == 134_301)
        #expect(try store.execute(.fetchHistory(after: tokens[2])).transactions.count == 1)
        try store.removeHistoryConsumer("search")
        #expect(try store.execute(.deleteSeenHistory()).deletedTransactionCount == 0)
        #expect(
            storeError { try store.advance("search", to: tokens[3]) }?.code == .invalidRequest)
        // One of a state that this store never had.
        let later = PersistentHistoryToken(store: store.identity.identifier, number: 1 << 40)
        #expect(
            storeError { _ = try store.execute(.fetchHistory(after: later)) }?.code
                == .historyTokenExpired)
    }

    @Test(
        "A token can be kept as JSON, and those of several stores are one",
        arguments: Backend.allCases)
    func coordinated(_ backend: Backend) throws {
        let coordinator = try PersistentStoreCoordinator(Models.shop)
        let stores = try (0..<2).map { _ in try backend.makeStoreWithHistory(coordinator.schema) }
        for store in stores { try coordinator.add(store) }
        try coordinator.add(try backend.makeStore(coordinator.schema))
        let context = ManagedObjectContext(store: coordinator)
        for (index, name) in ["a", "b", "c"].enumerated() {
            let shop = context.make("Shop", ["name": name])
            try context.assign(shop, to: stores[index % 2])
            try context.save()
        }
        let all = try coordinator.execute(.fetchHistory(after: nil)).transactions
        #expect(all.map(\.storeID) == [0, 1, 0].map { stores[$0].identity.identifier })
        let token = try #require(try coordinator.currentPersistentHistoryToken())
        let first = try #require(
            try coordinator.currentPersistentHistoryToken(fromStores: [stores[0]]))
        #expect(first.isCovered(by: token) && !token.isCovered(by: first))
        let second = try #require(
            try coordinator.currentPersistentHistoryToken(fromStores: [stores[1]]))
        #expect(first.merging(second) == token)
        let kept = try JSONDecoder().decode(
            PersistentHistoryToken.self, from: try JSONEncoder().encode(token))
        #expect(kept == token)
        #expect(try coordinator.execute(.fetchHistory(after: kept)).transactions.isEmpty)
        // Of a store that the token does not name everything is new.
        #expect(
            try coordinator.execute(.fetchHistory(after: first)).transactions.map(\.storeID)
                == [stores[1].identity.identifier])
        var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
        request.affectedStores = [stores[0].identity.identifier]
        #expect(try coordinator.execute(request).transactions.count == 2)
        request.affectedStores = [UUID()]
        #expect(storeError { _ = try coordinator.execute(request) }?.code == .invalidRequest)
        for text in ["{\"x\":1}", "[]", "{\"\(UUID().uuidString)\":18446744073709551615}"] {
            #expect(throws: DecodingError.self) {
                _ = try JSONDecoder().decode(PersistentHistoryToken.self, from: Data(text.utf8))
            }
        }
        #expect(
            try coordinator.execute(.deleteHistory(before: token)).deletedTransactionCount == 1)
        // A member of the second store's family merges into a context over both.
        let other = ManagedObjectContext(store: coordinator)
        let held = other.object(with: try #require(all.last?.insertedObjectIDs.first))
        try held.fulfill()
        let again = context.object(with: held.objectID)
        again["name"] = "changed"
        try context.save()
        for transaction in try coordinator.execute(.fetchHistory(after: token)).transactions {
            other.mergeChanges(from: transaction)
        }
        #expect(held.string("name") == "changed")
    }

    @Test("A history can be fetched by date, a transaction at a time", arguments: Backend.allCases)
    func dates(_ backend: Backend) throws {
        let stack = try Self.stack(backend)
        try stack.store { [$0.make("Shop", ["name": "a"])] }
        let first = try #require(try Self.all(stack).first)
        try stack.store { [$0.make("Shop", ["name": "b"])] }
        let later = first.timestamp.addingTimeInterval(3600)
        #expect(try stack.container.execute(.fetchHistory(after: later)).transactions.isEmpty)
        let before = first.timestamp.addingTimeInterval(-1)
        let stream = try stack.container.fetchHistory(.fetchHistory(after: before))
        #expect(try stream.next()?.transactionNumber == first.transactionNumber)
        // It is of the state that it began with.
        try stack.store { [$0.make("Shop", ["name": "c"])] }
        #expect(try stream.next() != nil)
        #expect(try stream.next() == nil)
        #expect(
            try stack.container.execute(.deleteHistory(before: before)).deletedTransactionCount == 0
        )
        #expect(
            try stack.container.execute(.deleteHistory(before: later)).deletedTransactionCount == 3)
        #expect(try Self.all(stack).isEmpty)
        #expect(
            storeError { _ = try stack.container.fetchHistory(.deleteHistory(before: later)) }?.code
                == .invalidRequest)
    }
}
