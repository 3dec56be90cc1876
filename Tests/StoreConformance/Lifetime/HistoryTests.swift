// What was committed, transaction by transaction.

import CairnModel
import CairnStore
import Foundation
import StoreBackends
import Testing

@Suite("History")
struct HistoryTests {
    /// What a transaction says, by what objects are called where they are there.
    private func text(_ transaction: PersistentHistoryTransaction, _ subject: Subject) throws
        -> String
    {
        let words = try (transaction.changes.map(Array.init) ?? []).map { change in
            let name = try subject.names(of: [change.changedObjectID])
            let properties = change.updatedProperties.map { "\($0.sorted())" } ?? ""
            let tombstone = change.tombstone.map { "\($0["name"]?.plainText ?? "")" } ?? ""
            return "\(change.changeType) \(change.entityName) \(name)\(properties)\(tombstone)"
        }
        return ([transaction.author ?? "-"] + words.sorted()).joined(separator: "; ")
    }

    private func lines(
        _ subject: Subject, after token: PersistentHistoryToken? = nil,
        _ change: (inout PersistentHistoryChangeRequest) -> Void = { _ in }
    ) throws -> [String] {
        var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
        change(&request)
        return try subject.store.execute(request).transactions.map { try text($0, subject) }
    }

    /// Three transactions of two authors, and things that make none.
    private func fill(_ subject: Subject) throws {
        func save(_ author: String?, _ body: (inout Draft) throws -> Void) throws {
            try subject.save { draft in
                draft.request.author = author
                draft.request.contextName = author.map { "\($0)'s" }
                try body(&draft)
            }
        }
        try save("ann") { draft in
            let dot = try draft.insert("Person", ["name": "Dot"])
            try draft.insert("Item", ["code": "a", "owner": dot])
            try draft.insert("Person", ["name": "Eve"])
        }
        _ = try subject.store.obtainPermanentIDs(forEntities: [0])
        try subject.save(subject.draft())
        #expect(storeError { try subject.insert("Item", ["code": "a"]) } != nil)
        let (a, eve) = (try subject.id("Item", "a"), try subject.id("Person", "Eve"))
        try save("bea") { draft in
            try draft.update(a, ["note": "1", "amount": 2])
            try draft.delete(eve)
        }
        var batch = BatchInsertRequest(entityName: "Tool", objects: [["code": "b"], ["code": "c"]])
        batch.author = "ann"
        _ = try subject.store.execute(batch)
    }

    private static let expected = [
        "ann; insert Item a; insert Person ?; insert Person Dot",
        "bea; delete Person ?Eve; update Item a[\"amount\", \"note\"]; update Person Dot[\"total\"]",
        "ann; insert Tool b; insert Tool c",
    ]

    @Test(
        "Each commit that changed objects is a transaction, with its author and its changes",
        arguments: Backend.everyStore)
    func transactions(_ backend: Backend) throws {
        try backend.withSubject(history: true) { subject in
            #expect(subject.store.historyTracking == .on)
            try fill(subject)
            #expect(try lines(subject) == Self.expected)
            let all = try subject.store.execute(.fetchHistory(after: nil)).transactions
            #expect(all.map(\.transactionNumber) == all.map(\.transactionNumber).sorted())
            #expect(all.allSatisfy { $0.storeID == subject.store.identity.identifier })
            #expect(all.map(\.contextName) == ["ann's", "bea's", nil])
            let changes = try #require(all.first?.changes)
            #expect(Set(changes.map(\.changeID)).count == 3)
            #expect(
                changes.map(\.transactionNumber)
                    == [UInt64](repeating: all[0].transactionNumber, count: 3))
        }
    }

    @Test("Who gets a member or loses one has changed", arguments: Backend.everyStore)
    func owners(_ backend: Backend) throws {
        try backend.withSubject(history: true) { subject in
            let route = try subject.insert("Route", ["name": "r"])
            for name in ["one", "two"] {
                try subject.insert("Stop", ["name": name, "route": route])
            }
            let (old, new) = (
                try subject.insert("Item", ["code": "old"]),
                try subject.insert("Item", ["code": "new"])
            )
            try subject.insert("Item", ["code": "part", "whole": old])
            let start = try #require(try subject.store.currentHistoryToken())
            try subject.batchDelete("Stop", "name == 'one'")
            try subject.batchUpdate("Item", "code == 'part'", ["whole": .value(.objectID(new))])
            #expect(
                try lines(subject, after: start) == [
                    "-; delete Stop ?; update Route r[\"stops\"]",
                    "-; update Item new[\"parts\"]; update Item old[\"parts\"]; update Item part[\"whole\"]",
                ])
        }
    }

    @Test("A token leads to what follows it, and survives as text", arguments: Backend.everyStore)
    func tokens(_ backend: Backend) throws {
        try backend.withSubject(history: true) { subject in
            let start = try #require(try subject.store.currentHistoryToken())
            try fill(subject)
            #expect(try lines(subject, after: start) == Self.expected)
            let all = try subject.store.execute(.fetchHistory(after: nil)).transactions
            for (place, transaction) in all.enumerated() {
                let rest = Array(Self.expected.dropFirst(place + 1))
                #expect(try lines(subject, after: transaction.token) == rest)
                let copy = try JSONDecoder().decode(
                    PersistentHistoryToken.self, from: JSONEncoder().encode(transaction.token))
                #expect(copy == transaction.token)
                #expect(try lines(subject, after: copy) == rest)
                let after = try subject.store.execute(.fetchHistory(after: transaction))
                    .transactions
                #expect(after.count == rest.count)
            }
            let end = try #require(try subject.store.currentHistoryToken())
            #expect(try lines(subject, after: end).isEmpty)
            #expect(try lines(subject) { $0.fetchLimit = 2 } == Array(Self.expected.prefix(2)))
        }
    }

    @Test(
        "A request chooses by author, context, entity, type, object and property",
        arguments: Backend.everyStore)
    func filters(_ backend: Backend) throws {
        try backend.withSubject(history: true) { subject in
            try fill(subject)
            #expect(try lines(subject) { $0.authors = ["bea"] } == [Self.expected[1]])
            #expect(try lines(subject) { $0.excludedAuthors = ["ann"] } == [Self.expected[1]])
            #expect(try lines(subject) { $0.contextNames = ["ann's"] } == [Self.expected[0]])
            #expect(try lines(subject) { $0.entityName = "Tool" } == [Self.expected[2]])
            #expect(
                try lines(subject) { $0.changeTypes = [.delete] } == ["bea; delete Person ?Eve"])
            let a = try subject.id("Item", "a")
            #expect(
                try lines(subject) { $0.changedObjectIDs = [a] }
                    == ["ann; insert Item a", "bea; update Item a[\"amount\", \"note\"]"])
            #expect(
                try lines(subject) { $0.updatedProperties = ["note"] }
                    == ["bea; update Item a[\"amount\", \"note\"]"])
            var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
            request.resultType = .count
            #expect(try subject.store.execute(request).count == 8)
            request.resultType = .changesOnly
            #expect(try subject.store.execute(request).changes.count == 8)
            request.resultType = .transactionsOnly
            let plain = try subject.store.execute(request).transactions
            #expect(plain.count == 3 && plain.allSatisfy { $0.changes == nil })
        }
    }

    @Test(
        "What is deleted is gone, and a token from before has expired",
        arguments: Backend.everyStore)
    func deletion(_ backend: Backend) throws {
        try backend.withSubject(history: true) { subject in
            let start = try #require(try subject.store.currentHistoryToken())
            try fill(subject)
            let all = try subject.store.execute(.fetchHistory(after: nil)).transactions
            let result = try subject.store.execute(.deleteHistory(before: all[1].token))
            #expect(result.deletedTransactionCount == 1)
            #expect(try lines(subject) == Array(Self.expected.dropFirst()))
            #expect(
                storeError { _ = try lines(subject, after: start) }?.code == .historyTokenExpired)
            #expect(try lines(subject, after: all[1].token) == [Self.expected[2]])
            let bounds = try #require(try subject.store.historyBounds())
            #expect(try bounds.last == subject.store.snapshot().commit)
            #expect(bounds.horizon < all[1].transactionNumber)
            #expect(try subject.content().count == 4)
        }
    }

    @Test(
        "Nothing is deleted that a registered consumer has not seen", arguments: Backend.everyStore)
    func consumers(_ backend: Backend) throws {
        try backend.withSubject(history: true) { subject in
            let store = subject.store
            try store.registerHistoryConsumer("search")
            try fill(subject)
            let all = try store.execute(.fetchHistory(after: nil)).transactions
            #expect(try store.execute(.deleteSeenHistory()).deletedTransactionCount == 0)
            try store.advance("search", to: all[0].token)
            #expect(try store.historyConsumers() == ["search": all[0].token])
            let token = try #require(try store.currentHistoryToken())
            _ = try store.execute(.deleteHistory(before: token))
            #expect(try lines(subject) == Array(Self.expected.dropFirst()))
            // Nobody goes back, and nobody has seen what is still to come.
            try store.advance("search", to: all[1].token)
            try store.advance("search", to: all[0].token)
            #expect(try store.historyConsumers() == ["search": all[1].token])
            #expect(storeError { try store.advance("nobody", to: token) }?.code == .invalidRequest)
            #expect(try store.execute(.deleteSeenHistory()).deletedTransactionCount == 1)
            try store.removeHistoryConsumer("search")
            #expect(try store.historyConsumers().isEmpty)
        }
    }

    @Test("A store without a history says so", arguments: Backend.everyStore)
    func off(_ backend: Backend) throws {
        try backend.withSubject { subject in
            let store = subject.store
            #expect(store.historyTracking == .off)
            let (bounds, token) = (try store.historyBounds(), try store.currentHistoryToken())
            #expect(bounds == nil && token == nil)
            for error in [
                storeError { _ = try store.fetchHistory(.fetchHistory(after: nil)) },
                storeError { try store.registerHistoryConsumer("a") },
            ] {
                #expect(error?.code == .invalidRequest)
            }
        }
    }

    @Test("It is there after opening again, and goes on", arguments: Backend.lastingStores)
    func reopened(_ backend: Backend) throws {
        try backend.withPlace(SampleModel.schema) { place in
            var subject = Subject(store: try place.open(tracksHistory: true))
            try fill(subject)
            let token = try #require(try subject.store.currentHistoryToken())
            try subject.store.registerHistoryConsumer("search")
            try subject.store.close()
            subject = Subject(store: try place.open(tracksHistory: true))
            #expect(try lines(subject) == Self.expected)
            try subject.insert("Item", ["code": "x"])
            #expect(try lines(subject, after: token) == ["-; insert Item x"])
            #expect(try subject.store.historyConsumers().keys.sorted() == ["search"])
        }
    }
}
