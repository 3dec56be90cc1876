// Many who are in each other's way.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

@Suite("Many in each other's way", .enabled(if: PostgresServer.isInstalled))
struct ContentionTests {
    @Test("batches by a condition come through beside steady saves")
    func starvation() throws {
        try Bank.with(.shared(), { $0.attempts = 8 }) { bank, watcher in
            try bank.open()
            try bank.write("Rate", (0..<20).map { ["code": "\($0)", "value": Int64(0)] })
            let isOver = Atomic(false)
            let threads = TestThreads()
            let saves = Atomic(0)
            for writer in 0..<3 {
                threads.start {
                    var number = 0
                    while !isOver.load(ordering: .relaxed) {
                        number += 1
                        do {
                            // New objects, some of which the condition finds: the batches have to take all of them.
                            try bank.write(
                                "Rate", [["code": "\(writer) \(number % 50)", "value": Int64(-1)]])
                            saves.add(1, ordering: .relaxed)
                        } catch {
                            Issue.record("\(error)")
                            return
                        }
                    }
                }
            }
            let batches = Campaign.count(10, whole: 500)
            do {
                for number in 1...batches {
                    try watcher.setRates("value >= -1", to: Int64(number))
                }
            } catch {
                Issue.record("\(error)")
            }
            isOver.store(true, ordering: .relaxed)
            threads.join()
            // Nothing that was there was passed over.
            for values in try watcher.rows("Rate") {
                #expect(
                    values[1] == .integer(Int64(batches)) || values[1] == .integer(-1))
            }
            Campaign.report("saves beside \(batches) batches", saves.load(ordering: .relaxed))
        }
    }

    @Test(
        "snapshots that are held leave connections for whoever writes, and say so when there are too many"
    )
    func snapshots() throws {
        try Bank.with(
            .shared(),
            {
                $0.connections = 4
                $0.timeout = 1
            }
        ) { bank, _ in
            try bank.open()
            var held: [any StoreSnapshot] = []
            for _ in 0..<3 { held.append(try bank.store.snapshot()) }
            let error = storeError { held.append(try bank.store.snapshot()) }
            #expect(error?.code == .storeInUse)
            #expect(error?.message.contains("3 are open") == true)
            // Who waits for a snapshot is not in the way.
            try bank.write("Rate", [["code": "a", "value": Int64(1)]])
            try bank.setRates(to: 2)
            #expect(try held[0].count(StoreFetch(entity: 2)) == 0)
            held.removeLast()
            #expect(try bank.rows("Rate") == [[.string("a"), .integer(2)]])
        }
    }

    @Test("a snapshot that lay unused for too long says so, and a new one is to be had")
    func expired() throws {
        let server = try PostgresServer.shared()
        try Bank.with(server, { $0.snapshotTimeout = 0.2 }) { bank, _ in
            try bank.open()
            let state = try bank.store.snapshot()
            // Looking would be using it.
            let idle = """
                SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' \
                AND query LIKE '%\(bank.store.core.layout.space)%'
                """
            try inTime(for: "a snapshot to expire", within: 300) {
                while try server.run(idle) != "0\n" { Thread.sleep(forTimeInterval: 0.02) }
            }
            for _ in 0..<2 {
                let error = storeError { _ = try bank.rows("Account", state) }
                #expect(error?.code == .snapshotExpired)
                #expect(error?.message.contains("snapshotTimeout") == true)
            }
            #expect(try bank.count("Account") == Bank.names.count)
        }
    }

    @Test("a server that starts again ends snapshots, and is found again by all others")
    func restart() throws {
        var settings = PostgresServer.Settings()
        settings.isDurable = false
        let server = try PostgresServer(settings)
        let bank = try Bank(server.url())
        try bank.open()
        let state = try bank.store.snapshot()
        try server.restart(immediately: true)
        #expect(storeError { _ = try bank.rows("Account", state) }?.code == .snapshotExpired)
        #expect(try bank.store.metadata().values.isEmpty)
        #expect(try bank.rows("Account").count == Bank.names.count)
        try server.restart(immediately: true)
        try bank.move(1, "a", from: Bank.names[0], to: Bank.names[1])
        try server.stop(immediately: true)
        let threads = TestThreads()
        threads.start {
            do {
                try bank.move(1, "b", from: Bank.names[0], to: Bank.names[1])
            } catch {
                Issue.record("\(error)")
            }
        }
        try server.start()
        threads.join()
        #expect(try bank.audit() == ["a", "b"])
        try bank.store.close()
    }

    @Test("of many who write metadata at once each writes all of its own")
    func metadata() throws {
        try Bank.with(.shared()) { bank, watcher in
            TestThreads.run(4) { writer in
                do {
                    for number in 0..<10 {
                        let store = writer % 2 == 0 ? bank.store : watcher.store
                        let value = Value.string("\(writer) \(number)")
                        try store.setMetadata(["a": value, "b": value], identifier: nil)
                        try store.writeMetadata()
                    }
                } catch {
                    Issue.record("\(error)")
                }
            }
            let values = try watcher.store.metadata().values
            #expect(values.count == 2)
            #expect(values["a"] == values["b"])
        }
    }
}
