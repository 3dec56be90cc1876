// Three servers, of which the first dies while many write: clients go on by themselves with the one that takes over.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

@Suite("Three servers, and one dies", .enabled(if: PostgresServer.isInstalled))
struct FailOverTests {
    /// What the clients know for certain.
    private struct Known {
        /// Entries whose save has returned.
        var saved: Set<String> = []
        /// Entries that the error does not know of.
        var open: Set<String> = []
        /// By code: the highest value whose batch has returned.
        var rates: [String: Int64] = [:]
        /// How many writes have returned.
        var count = 0
    }

    @Test("all clients go on; what was told is there, and nothing is there by half")
    func failOver() throws {
        let cluster = try PostgresCluster()
        let url = cluster.url(["cairn_schema": "bank"])
        let first = try Bank(url)
        try first.open()
        let known = Mutex(Known())
        let isOver = Atomic(false)
        let random = RandomSource("a fail-over")
        let threads = TestThreads()
        for client in 0..<8 {
            threads.start {
                do {
                    // As a process of its own: it has its own connections.
                    let bank = try Bank(url) { $0.timeout = 120 }
                    var random = RandomSource(seed: random.seed &+ UInt64(client))
                    var number = 0
                    while !isOver.load(ordering: .relaxed) {
                        number += 1
                        try Self.step(bank, client, number, known, &random)
                    }
                    try bank.store.close()
                } catch {
                    Issue.record("client \(client): \(error)")
                }
            }
        }
        func wait(for count: Int) {
            inTime(for: "clients to write", within: 600) {
                while known.withLock({ $0.count }) < count {
                    Thread.sleep(forTimeInterval: 0.005)
                }
            }
        }
        let share = Campaign.count(40, whole: 5000)
        wait(for: share)
        let next = try cluster.failOver()
        let before = known.withLock { $0.count }
        wait(for: before + share)
        isOver.store(true, ordering: .relaxed)
        threads.join()
        try first.store.close()

        let bank = try Bank(next.url(["cairn_schema": "bank"]))
        let keys = try bank.audit()
        let end = known.withLock { $0 }
        #expect(
            end.saved.isSubset(of: keys), "\(end.saved.subtracting(keys)) were told and are lost")
        #expect(keys.subtracting(end.saved).isSubset(of: end.open))
        for values in try bank.rows("Rate") {
            guard case .integer(let value) = values[1] else { continue }
            #expect(value >= end.rates[values[0].words] ?? .min)
        }
        #expect(try bank.commit >= UInt64(end.count))
        Campaign.report("writes over a fail-over, \(end.open.count) of them not known", end.count)
        try bank.store.close()
    }

    /// A transfer or an upsert.
    private static func step(
        _ bank: Bank, _ client: Int, _ number: Int, _ known: borrowing Mutex<Known>,
        _ random: inout RandomSource
    ) throws {
        if random.oneIn(3) {
            // One code of each client has rising values, the others are everybody's.
            let own = "own \(client)"
            let rows: [[String: Any]] =
                [["code": own, "value": Int64(number)]]
                + (0..<3).map { _ in
                    [
                        "code": "shared \(Int.random(in: 0..<6, using: &random))",
                        "value": Int64(-1),
                    ]
                }
            do {
                try bank.write("Rate", rows)
                known.withLock {
                    $0.rates[own] = Int64(number)
                    $0.count += 1
                }
            } catch let error as StoreError where error.code == .commitUnknown {
                // It is there or not: a later one says more.
            }
            return
        }
        let key = "\(client) \(number)"
        let from = Int.random(in: 0..<8, using: &random)
        let to = (from + Int.random(in: 1..<8, using: &random)) % 8
        do {
            try bank.move(
                Int64.random(in: 1...9, using: &random), key, from: Bank.names[from],
                to: Bank.names[to])
            known.withLock {
                $0.saved.insert(key)
                $0.count += 1
            }
        } catch let error as StoreError where error.code == .commitUnknown {
            known.withLock { _ = $0.open.insert(key) }
        }
    }

    @Test(
        "a standby that stops where it is holds nobody up; if both do, what became of a commit is not known, and is later"
    )
    func frozenStandbys() throws {
        let cluster = try PostgresCluster()
        let bank = try Bank(cluster.url(["cairn_schema": "bank"])) { $0.timeout = 3 }
        try bank.open()
        try cluster.standbys[0].freeze()
        try bank.move(1, "one standby", from: Bank.names[0], to: Bank.names[1])
        try cluster.standbys[1].freeze()
        let error = storeError {
            try bank.move(1, "none", from: Bank.names[0], to: Bank.names[1])
        }
        #expect(error?.code == .commitUnknown)
        for standby in cluster.standbys { try standby.thaw() }
        try bank.move(1, "both", from: Bank.names[0], to: Bank.names[1])
        let keys = try bank.audit()
        #expect(keys.isSuperset(of: ["one standby", "both"]))
        #expect(keys.subtracting(["one standby", "none", "both"]).isEmpty)
        try bank.store.close()
    }
}
