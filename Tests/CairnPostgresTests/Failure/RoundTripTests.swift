// How often a request waits for the server.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

@Suite("Round trips", .enabled(if: PostgresServer.isInstalled))
struct RoundTripTests {
    private final class Trips: Sendable {
        private let count = Atomic(0)
        private let transactions = Atomic(0)

        /// The end of what was only read is waited for by nobody.
        func note(_ statements: [String]) {
            if statements != ["ROLLBACK"] { count.add(1, ordering: .relaxed) }
            if statements.contains(where: { $0.hasPrefix("BEGIN") }) {
                transactions.add(1, ordering: .relaxed)
            }
        }

        /// How many transactions were begun.
        var begun: Int { transactions.load(ordering: .relaxed) }

        func of<R>(_ body: () throws -> R) throws -> (Int, R) {
            let before = count.load(ordering: .relaxed)
            let result = try body()
            return (count.load(ordering: .relaxed) - before, result)
        }
    }

    private func withBank(_ body: (Bank, Trips) throws -> Void) throws {
        let trips = Trips()
        try Bank.with(.shared(), { $0.observer = { _, statements in trips.note(statements) } }) {
            bank, _ in
            try bank.open()
            // Numbers are at hand, and statements prepared.
            try bank.move(1, "first", from: Bank.names[0], to: Bank.names[1])
            try bank.write("Rate", (0..<1000).map { ["code": "\($0)", "value": Int64($0)] })
            try body(bank, trips)
        }
    }

    @Test("a small save takes two, one of a thousand changed objects no more than six")
    func saves() throws {
        try withBank { bank, trips in
            // One reads the two accounts.
            let (small, _) = try trips.of {
                try bank.move(1, "second", from: Bank.names[0], to: Bank.names[1])
            }
            #expect(small == 3)
            let entity = try #require(bank.store.schema.entity(named: "Rate"))
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesRows = true
            let rows = try bank.store.snapshot().fetch(fetch).rows
            var request = SaveRequest()
            request.updated = rows.map {
                .init(
                    id: $0.id, entity: entity.index, base: $0,
                    changes: [(column: 1, value: .integer(-1))])
            }
            #expect(request.updated.count == 1000)
            let (large, outcome) = try trips.of { try bank.store.save(request) }
            #expect(large == 2)
            guard case .saved(let result) = outcome else {
                Issue.record("they are not saved")
                return
            }
            #expect(try result.commit == bank.commit)
            // They are not what they were: one more, which gives up, and the rows that there are.
            let (refused, error) = try trips.of { storeError { _ = try bank.store.save(request) } }
            #expect(refused == 2)
            #expect(error?.code == .mergeConflict)
            #expect(error?.conflicts.count == 1000)
            #expect(try bank.rows("Rate").allSatisfy { $0[1] == .integer(-1) })
            let (batch, _) = try trips.of { try bank.setRates("value < 0", to: 7) }
            #expect(batch <= 4)
        }
    }

    @Test("a question takes one with the begin of its state, a state that is kept one more")
    func questions() throws {
        try withBank { bank, trips in
            let fetch = StoreFetch(entity: 0)
            let (newest, _) = try trips.of { try bank.store.newestState().count(fetch) }
            #expect(newest == 1)
            let (kept, _) = try trips.of { try bank.store.snapshot().count(fetch) }
            #expect(kept == 2)
            let (both, _) = try trips.of {
                let state = try bank.store.newestState()
                _ = try state.count(fetch)
                _ = try state.count(fetch)
                return state.commit
            }
            #expect(both == 2)
        }
    }

    /// Accounts that share rates, and a context that knows nothing yet.
    private func withGraph(_ body: (ManagedObjectContext, Trips) throws -> Void) throws {
        try withBank { bank, trips in
            let context = ManagedObjectContext(store: bank.store)
            var rates = FetchRequest(entityName: "Rate")
            rates.fetchLimit = 20
            let shared = try context.fetch(rates)
            for account in try context.fetch(FetchRequest(entityName: "Account")) {
                try account.setValue(Set(shared), forKey: "rates")
            }
            try context.save()
            try body(ManagedObjectContext(store: bank.store), trips)
        }
    }

    /// Reads a text of each member.
    private func read(_ key: String, of relationship: String, _ objects: [ManagedObject])
        -> [String]
    {
        objects.flatMap { object in
            (object.value(forKey: relationship) as? Set<ManagedObject> ?? []).compactMap {
                $0.value(forKey: key) as? String
            }
        }
    }

    @Test(
        "a fetch with two relationships that are read ahead takes three, wherever they lead",
        arguments: [["from", "to"], ["sent", "rates"], ["received", "sent"]])
    func prefetching(_ keyPaths: [String]) throws {
        try withGraph { context, trips in
            let isToMany = keyPaths != ["from", "to"]
            var request = FetchRequest(entityName: isToMany ? "Account" : "Entry")
            request.relationshipKeyPathsForPrefetching = keyPaths
            let (count, objects) = try trips.of { try context.fetch(request) }
            #expect(objects.count == (isToMany ? Bank.names.count : 1))
            #expect(count == 3)
            let (none, texts) = try trips.of {
                keyPaths.flatMap { path in
                    isToMany
                        ? read(path == "rates" ? "code" : "key", of: path, objects)
                        : objects.compactMap { $0.value(forKeyPath: path + ".name") as? String }
                }
            }
            #expect(none == 0)
            #expect(texts.count == (keyPaths.contains("rates") ? 1 + 8 * 20 : 2))
        }
    }

    @Test("a fault takes one and no transaction, as does whoever has a key")
    func faults() throws {
        try withGraph { context, trips in
            let entry = try #require(try context.fetch(FetchRequest(entityName: "Entry")).first)
            let begun = trips.begun
            let (fault, name) = try trips.of { entry.value(forKeyPath: "from.name") as? String }
            #expect(name == Bank.names[0])
            #expect(fault == 1)
            var request = FetchRequest(entityName: "Account")
            request.predicate = .compare("name", .equal, .string(Bank.names[5]))
            let (key, found) = try trips.of { try context.fetch(request) }
            #expect(found.map { $0.value(forKey: "name") as? String } == [Bank.names[5]])
            request.predicate = .compare("name", .equal, .string("nobody"))
            let (other, none) = try trips.of { try context.fetch(request) }
            #expect(none.isEmpty)
            #expect((key, other) == (1, 1))
            #expect(trips.begun == begun)
        }
    }

    @Test("a batch of faults takes one, of whatever entities they are")
    func batches() throws {
        try withGraph { context, trips in
            let ids = try ["Rate", "Account", "Entry"].flatMap {
                try context.fetchObjectIDs(FetchRequest(entityName: $0))
            }
            let faults =
                ids.prefix(1000).map { context.object(with: $0) }
                + ids.suffix(9).map { context.object(with: $0) }
            let (count, _) = try trips.of { try context.fulfill(faults.suffix(1000)) }
            #expect(count == 1)
            #expect(faults.suffix(1000).allSatisfy { !$0.isFault })
        }
    }

    @Test("members take one with all their values", arguments: ["sent", "rates"])
    func members(_ relationship: String) throws {
        try withGraph { context, trips in
            var request = FetchRequest(entityName: "Account")
            request.predicate = .compare("name", .equal, .string(Bank.names[0]))
            let account = try #require(try context.fetch(request).first)
            let begun = trips.begun
            let key = relationship == "sent" ? "key" : "code"
            let (count, texts) = try trips.of { read(key, of: relationship, [account]) }
            #expect(Set(texts).count == (relationship == "sent" ? 1 : 20))
            #expect(count == 1)
            #expect(trips.begun == begun)
        }
    }

    @Test(
        "a lost connection or a commit costs nothing in settings: those are sent once for each connection"
    )
    func settings() throws {
        let trips = Trips()
        try Bank.with(.shared(), { $0.observer = { _, statements in trips.note(statements) } }) {
            bank, _ in
            let fetch = StoreFetch(entity: 0)
            _ = try bank.store.newestState().count(fetch)
            for _ in 0..<3 {
                let (trip, _) = try trips.of { try bank.store.newestState().count(fetch) }
                #expect(trip == 1)
            }
        }
    }
}
