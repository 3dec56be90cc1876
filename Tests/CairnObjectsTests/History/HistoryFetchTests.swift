// Predicates on transactions and changes of the history.

import CairnModel
import CairnObjects
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("Fetching from the history by predicate")
struct HistoryFetchTests {
    private struct Scene {
        let stack: Stack
        var ids: [ObjectID] = []
        let transactions: [PersistentHistoryTransaction]

        /// Three transactions: "anna" makes five products and a shop, "bo" changes three and deletes one, nobody makes a tag.
        init(_ backend: Backend) throws {
            stack = Stack(store: try backend.makeStoreWithHistory(try Schema(Models.shop)))
            let context = stack.context()
            context.transactionAuthor = "anna"
            context.name = "main"
            let products = (0..<5).map { context.make("Product", ["name": "\($0)"]) }
            context.make("Shop", ["name": "s"])
            try context.save()
            ids = products.map(\.objectID)
            context.transactionAuthor = "bo"
            context.name = "sync"
            for product in products[1...3] { product["note"] = "x" }
            context.delete(products[4])
            try context.save()
            context.transactionAuthor = nil
            context.make("Tag", ["label": "t"])
            try context.save()
            transactions = try stack.container.execute(.fetchHistory(after: nil)).transactions
            try #require(transactions.count == 3)
        }

        /// The places of the transactions that a condition gives.
        func places(_ format: String, _ arguments: (any PredicateArgument)?...) throws -> [Int] {
            let fetch = PersistentHistoryTransaction.fetchRequest(
                where: try PredicateNode(
                    format: format,
                    arguments: arguments.map { $0?._predicateArgument ?? .value(.null) }))
            return try found(.fetchHistory(withFetch: fetch))
        }

        func found(_ request: PersistentHistoryChangeRequest) throws -> [Int] {
            let numbers = transactions.map(\.transactionNumber)
            return try stack.container.execute(request).transactions.map { transaction in
                try #require(numbers.firstIndex(of: transaction.transactionNumber))
            }
        }

        /// The changes that a condition gives, as text.
        func changes(
            _ format: String, _ arguments: (any PredicateArgument)?...,
            change: (inout PersistentHistoryFetchRequest) -> Void = { _ in }
        ) throws -> [String] {
            var fetch = PersistentHistoryChange.fetchRequest(
                where: try PredicateNode(
                    format: format,
                    arguments: arguments.map { $0?._predicateArgument ?? .value(.null) }))
            change(&fetch)
            var request = PersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
            request.resultType = .changesOnly
            let numbers = transactions.map(\.transactionNumber)
            return try stack.container.execute(request).changes.map { change in
                let place = numbers.firstIndex(of: change.transactionNumber) ?? -1
                return "\(place).\(change.changeID) \(change.changeType) \(change.entityName)"
            }
        }
    }

    @Test(
        "A token in a condition stands for what came before it in each store that it names",
        arguments: Backend.allCases)
    func tokens(_ backend: Backend) throws {
        let scene = try Scene(backend)
        let all = scene.transactions
        func places(_ format: String, _ token: PersistentHistoryToken) throws -> [Int] {
            let fetch = try PersistentHistoryTransaction.fetchRequest(where: format, token)
            return try scene.found(.fetchHistory(withFetch: fetch))
        }
        #expect(try places("token > %@", all[0].token) == [1, 2])
        #expect(try places("token >= %@", all[1].token) == [1, 2])
        #expect(try places("%@ < token", all[1].token) == [2])
        #expect(try places("token <= %@", all[1].token) == [0, 1])
        #expect(try places("token == %@", all[1].token) == [1])
        #expect(try places("token != %@", all[1].token) == [0, 2])
        #expect(try places("author == 'bo' AND NOT token <= %@", all[0].token) == [1])
        let changes = try PersistentHistoryChange.fetchRequest(
            where: "transaction.token > %@", all[1].token)
        #expect(try scene.found(.fetchHistory(withFetch: changes)) == [2])
        // Of a store that it does not name everything is new.
        let stranger = try Scene(backend).transactions[2].token
        #expect(try places("token > %@", stranger) == [0, 1, 2])
        #expect(try places("token <= %@", stranger).isEmpty)
        let both = stranger.merging(all[1].token)
        #expect(try places("token > %@", both) == [2])
        #expect(try places("token <= %@", both) == [0, 1])
        for format in ["author == %@", "token IN {%@}", "token BETWEEN {1, %@}"] {
            let error = #expect(throws: PredicateFormatError.self) {
                _ = try places(format, all[0].token)
            }
            #expect(
                error?.message.contains("a token can only be compared with the key token") == true,
                "\(format)")
        }
    }

    @Test("B134: transactions by author, context name and all else", arguments: Backend.allCases)
    func transactions(_ backend: Backend) throws {
        let scene = try Scene(backend)
        let all = scene.transactions
        #expect(try scene.places("author == 'anna'") == [0])
        #expect(
            try scene.found(
                .fetchHistory(withFetch: .init(.transactions, predicate: .constant(false)))
            ).isEmpty)
        let byFormat = try PersistentHistoryTransaction.fetchRequest(
            where: "author == %@ AND timestamp >= %@", "bo", all[0].timestamp)
        #expect(try scene.found(.fetchHistory(withFetch: byFormat)) == [1])
        #expect(try scene.places("author == 'nobody'").isEmpty)
        #expect(try scene.places("author == nil") == [2])
        #expect(try scene.places("author != 'anna'") == [1, 2])
        #expect(try scene.places("contextName == %@", "sync") == [1, 2])
        #expect(try scene.places("author IN {'anna', 'bo'} AND contextName BEGINSWITH 's'") == [1])
        #expect(
            try scene.places("processID == %ld", Int(ProcessInfo.processInfo.processIdentifier))
                == [0, 1, 2])
        #expect(try scene.places("storeID == %@", scene.stack.store.identity.identifier).count == 3)
        #expect(try scene.places("storeID == %@", UUID()).isEmpty)
        #expect(try scene.places("bundleID == nil").count == all.count { $0.bundleID == nil })
        #expect(try scene.places("timestamp >= %@", all[1].timestamp).contains(1))
        #expect(try scene.places("timestamp < %@", all[0].timestamp).isEmpty)
        let number = Int(all[1].transactionNumber)
        #expect(try scene.places("transactionNumber > %ld", number) == [2])
        #expect(try scene.places("token <= %ld", number) == [0, 1])
        // With all their changes, and beside what else the request says.
        var request = PersistentHistoryChangeRequest.fetchHistory(after: all[0])
        request.fetchRequest = PersistentHistoryTransaction.fetchRequest(
            where: try PredicateNode(format: "author == 'bo' OR author == 'anna'"))
        #expect(try scene.found(request) == [1])
        #expect(try scene.stack.container.execute(request).transactions[0].changes?.count == 4)
        request.fetchRequest?.nullSemantics = .sql
        request.fetchRequest?.predicate = try PredicateNode(format: "author != 'bo'")
        #expect(try scene.found(request).isEmpty)
    }

    @Test("B136: changes by type, entity and object", arguments: Backend.allCases)
    func changes(_ backend: Backend) throws {
        let scene = try Scene(backend)
        #expect(try scene.changes("changeType == 2") == ["1.4 delete Product"])
        let others = try scene.changes("changedEntity == 'Shop' OR entityName == 'Tag'")
        #expect(others.map { String($0.drop { $0 != " " }) } == [" insert Shop", " insert Tag"])
        let one = scene.ids[2]
        let ofOne = try scene.changes("changedObjectID == %@", one)
        #expect(ofOne.count == 2 && ofOne.allSatisfy { $0.hasSuffix("Product") })
        #expect(try scene.changes("changedObjectID IN %@", [one, scene.ids[4]]).count == 4)
        #expect(try scene.changes("transaction.author == 'bo'").count == 4)
        #expect(
            try scene.changes("transaction.author == 'anna' AND changedEntity == 'Product'").count
                == 5)
        #expect(
            try scene.changes(
                "transactionNumber == %ld AND changeID > 2",
                Int(scene.transactions[1].transactionNumber)
            ).map { $0.prefix(3) } == ["1.3", "1.4"])
        #expect(try scene.changes("changeID == 9").isEmpty)
    }

    @Test(
        "Transactions come with the changes that match, which keep their places, and without any not at all",
        arguments: Backend.allCases)
    func narrowed(_ backend: Backend) throws {
        let scene = try Scene(backend)
        var request = PersistentHistoryChangeRequest.fetchHistory(
            withFetch: PersistentHistoryChange.fetchRequest(
                where: try PredicateNode(format: "changeType == 1 AND changeID != 2")))
        let found = try scene.stack.container.execute(request).transactions
        #expect(found.count == 1 && found[0].author == "bo")
        let changes = Array(try #require(found[0].changes))
        #expect(changes.map(\.changeID) == [1, 3])
        #expect(changes.map(\.changedObjectID) == [scene.ids[1], scene.ids[3]])
        #expect(changes[0].updatedProperties == ["note"])
        request.resultType = .count
        #expect(try scene.stack.container.execute(request).count == 2)
        request.resultType = .objectIDs
        #expect(
            try scene.stack.container.execute(request).objectIDs == [scene.ids[1], scene.ids[3]])
        // So they do where objects are named in the request itself.
        var named = PersistentHistoryChangeRequest.fetchHistory(after: nil)
        named.changedObjectIDs = [scene.ids[1], scene.ids[3]]
        named.changeTypes = [.update]
        named.resultType = .changesOnly
        #expect(try scene.stack.container.execute(named).changes.map(\.changeID) == [1, 3])
        // Both at once.
        named.fetchRequest = PersistentHistoryChange.fetchRequest(
            where: try PredicateNode(format: "changeID > 1"))
        #expect(try scene.stack.container.execute(named).changes.map(\.changeID) == [3])
        request.resultType = .transactionsOnly
        let alone = try scene.stack.container.execute(request).transactions
        #expect(alone.count == 1 && alone[0].changes == nil)
    }

    @Test(
        "Of many, the first in an order are found, whenever they are read",
        arguments: Backend.allCases)
    func firstOfMany(_ backend: Backend) throws {
        let scene = try Scene(backend)
        let context = scene.stack.context()
        for number in 0..<80 {
            context.transactionAuthor = number == 20 || number == 21 ? "z" : "y"
            context.make("Tag", ["label": "\(number)"])
            try context.save()
        }
        let all = try scene.stack.container.execute(.fetchHistory(after: nil)).transactions
        var fetch = PersistentHistoryTransaction.fetchRequest
        fetch.sortDescriptors = [SortKey("author", ascending: false)]
        fetch.fetchLimit = 2
        let first = try scene.stack.container.execute(.fetchHistory(withFetch: fetch)).transactions
        #expect(
            first.map(\.transactionNumber)
                == all.filter { $0.author == "z" }.map(\.transactionNumber))
        #expect(first.count == 2)
    }

    @Test("Limits and orders", arguments: Backend.allCases)
    func limits(_ backend: Backend) throws {
        let scene = try Scene(backend)
        var fetch = PersistentHistoryTransaction.fetchRequest
        fetch.fetchLimit = 2
        #expect(try scene.found(.fetchHistory(withFetch: fetch)) == [0, 1])
        fetch.sortDescriptors = [SortKey("transactionNumber", ascending: false)]
        #expect(try scene.found(.fetchHistory(withFetch: fetch)) == [2, 1])
        fetch.fetchLimit = 0
        fetch.sortDescriptors = [SortKey("author", ascending: false)]
        #expect(try scene.found(.fetchHistory(withFetch: fetch)) == [1, 0, 2])
        let all = try scene.changes("TRUEPREDICATE")
        #expect(all.count == 11)
        #expect(try scene.changes("TRUEPREDICATE") { $0.fetchLimit = 7 } == Array(all.prefix(7)))
        #expect(try scene.changes("TRUEPREDICATE") { $0.fetchLimit = 6 } == Array(all.prefix(6)))
        let sorted = try scene.changes("changedEntity == 'Product'") {
            $0.sortDescriptors = [
                SortKey("changeType", ascending: false), SortKey("transaction.author"),
                SortKey("changeID", ascending: false),
            ]
            $0.fetchLimit = 5
        }
        #expect(sorted.map { $0.prefix(3) }.prefix(4) == ["1.4", "1.3", "1.2", "1.1"])
        #expect(sorted.count == 5 && sorted[4].hasPrefix("0."))
        // What is sorted cannot come one after the other.
        let stream = try scene.stack.container.fetchHistory(.fetchHistory(withFetch: fetch))
        #expect(storeError { _ = try stream.next() }?.code == .invalidRequest)
        var ofChanges = PersistentHistoryChange.fetchRequest
        ofChanges.sortDescriptors = [SortKey("changeID")]
        let error = storeError {
            _ = try scene.stack.container.execute(.fetchHistory(withFetch: ofChanges))
        }
        #expect(error?.code == .invalidRequest && error?.context.key == "changeID")
    }

    @Test("A key that there is not is an error that names it")
    func unknownKeys() throws {
        let scene = try Scene(.log)
        func key(_ fetch: PersistentHistoryFetchRequest) -> String? {
            let error = storeError {
                _ = try scene.stack.container.execute(.fetchHistory(withFetch: fetch))
            }
            #expect(error?.code == .invalidRequest)
            let streamed = storeError {
                _ = try scene.stack.container.fetchHistory(.fetchHistory(withFetch: fetch))
            }
            #expect(streamed?.code == .invalidRequest)
            return error?.context.key
        }
        let writer = PredicateNode.compare("writer", .equal, .string("a"))
        #expect(key(PersistentHistoryTransaction.fetchRequest(where: writer)) == "writer")
        #expect(key(PersistentHistoryChange.fetchRequest(where: writer)) == "writer")
        let author = PredicateNode.compare("author", .equal, .string("a"))
        #expect(key(PersistentHistoryChange.fetchRequest(where: author)) == "author")
        let number = PredicateNode.compare("timestamp", .equal, .string("a"))
        #expect(key(PersistentHistoryTransaction.fetchRequest(where: number)) == "timestamp")
        var sorted = PersistentHistoryTransaction.fetchRequest
        sorted.sortDescriptors = [SortKey("changeID")]
        #expect(key(sorted) == "changeID")
    }

    @Test("Several stores: conditions, limits and orders are those of all of them")
    func severalStores() throws {
        let stores = try (0..<2).map { _ in
            try Backend.log.makeStoreWithHistory(try Schema(Models.shop))
        }
        for (index, store) in stores.enumerated() {
            let context = ManagedObjectContext(store: store)
            for number in 0..<3 {
                context.transactionAuthor = "\(index) \(number)"
                for _ in 0...number { context.make("Tag") }
                try context.save()
            }
        }
        let streams = {
            (request: PersistentHistoryChangeRequest) throws -> PersistentHistoryStream in
            PersistentHistoryStream(try stores.map { try $0.fetchHistory(request) }, request)
        }
        var fetch = PersistentHistoryTransaction.fetchRequest(
            where: try PredicateNode(format: "NOT author ENDSWITH '1'"))
        fetch.sortDescriptors = [SortKey("author", ascending: false)]
        fetch.fetchLimit = 3
        let sorted = try streams(.fetchHistory(withFetch: fetch)).result().transactions
        #expect(sorted.map(\.author) == ["1 2", "1 0", "0 2"])
        var changes = PersistentHistoryChange.fetchRequest
        changes.fetchLimit = 8
        var request = PersistentHistoryChangeRequest.fetchHistory(withFetch: changes)
        request.resultType = .count
        #expect(try streams(request).result().count == 8)
    }
}
