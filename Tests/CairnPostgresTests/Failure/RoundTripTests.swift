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

        /// The end of what was only read is waited for by nobody.
        func note(_ statements: [String]) {
            if statements != ["ROLLBACK"] { count.add(1, ordering: .relaxed) }
        }

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
            let (large, _) = try trips.of { try bank.store.save(request) }
            #expect(large <= 6)
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

    @Test("a fetch with two relationships that are read ahead takes three")
    func prefetching() throws {
        try withBank { bank, trips in
            let context = ManagedObjectContext(store: bank.store)
            var request = FetchRequest(entityName: "Entry")
            request.relationshipKeyPathsForPrefetching = ["from", "to"]
            let (count, entries) = try trips.of { try context.fetch(request) }
            #expect(entries.count == 1)
            #expect(count <= 3)
            let (none, _) = try trips.of { entries.map { $0.value(forKeyPath: "from.name") } }
            #expect(none == 0)
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
