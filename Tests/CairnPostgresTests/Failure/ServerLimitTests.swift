// Servers that take no more, allow no more, or want otherwise.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Servers at their limits", .enabled(if: PostgresServer.isInstalled))
struct ServerLimitTests {
    @Test("a full disk is an error of its own, writes nothing, and is over when there is room")
    func fullDisk() throws {
        // A server of its own: one that cannot write what it has of a disk that is gone lets nobody in any more.
        var settings = PostgresServer.Settings()
        settings.isDurable = false
        let server = try PostgresServer(settings)
        guard let disk = try SmallDisk(megabytes: 24, for: server) else {
            printLine("a small disk cannot be mounted here: the test of a full one is skipped")
            return
        }
        defer {
            try? server.stop(immediately: true)
            withExtendedLifetime(disk) {}
        }
        let database = server.newName("small")
        let space = server.newName("small_space")
        try server.run("CREATE TABLESPACE \(space) LOCATION '\(disk.path)'")
        try server.run("CREATE DATABASE \(database) TABLESPACE \(space)")
        let bank = try Bank(server.url(database: database))
        try bank.open()
        try server.run("CREATE TABLE filler (t text)", database: database)
        // As much as there is room for, piece by piece.
        let piece =
            "INSERT INTO filler SELECT repeat(md5(random()::text), 60) FROM generate_series(1, 64)"
        while (try? server.run(piece, database: database)) != nil {}
        var written = 0
        let error = storeError {
            for number in 0..<10_000 {
                try bank.write("Rate", [["code": "\(number)", "value": Int64(number)]])
                written += 1
            }
        }
        #expect(error?.code == .noSpace)
        #expect(try bank.count("Rate") == written)
        try server.run("DROP TABLE filler", database: database)
        try bank.write("Rate", [["code": "room", "value": Int64(1)]])
        #expect(try bank.count("Rate") == written + 1)
        #expect(try bank.audit().isEmpty)
        try bank.store.close()
    }

    @Test("who finds no room at the server waits for it, and says so after a while")
    func fullHouse() throws {
        var settings = PostgresServer.Settings()
        settings.isDurable = false
        settings.configuration = [
            "max_connections": "5", "superuser_reserved_connections": "0", "max_wal_senders": "0",
        ]
        let server = try PostgresServer(settings)
        let bank = try Bank(server.url()) { $0.timeout = 4 }
        try bank.open()
        // All places but that of the bank.
        var guests: [PostgresConnection] = []
        while let guest = try? server.connect() { guests.append(guest) }
        try bank.write("Rate", [["code": "a", "value": Int64(1)]])
        let state = try bank.store.snapshot()
        let error = storeError { try bank.write("Rate", [["code": "b", "value": Int64(1)]]) }
        #expect(error?.code == .openFailed)
        #expect(error?.message.contains("53300") == true)
        #expect(try state.count(StoreFetch(entity: 2)) == 1)
        let threads = TestThreads()
        threads.start {
            do {
                try bank.write("Rate", [["code": "c", "value": Int64(1)]])
            } catch {
                Issue.record("\(error)")
            }
        }
        guests = []
        threads.join()
        withExtendedLifetime(state) {}
        #expect(try bank.rows("Rate").contains { $0[0] == .string("c") })
    }

    @Test("two who write under serialisable isolation come to the same as any others")
    func serialisable() throws {
        let server = try PostgresServer.shared()
        let database = try server.newDatabase()
        try server.run(
            "ALTER DATABASE \(database) SET default_transaction_isolation = 'serializable'")
        defer { _ = try? server.run("DROP DATABASE \(database) WITH (FORCE)") }
        let banks = try (0..<2).map { _ in try Bank(server.url(database: database)) }
        try banks[0].open()
        try banks[0].write("Rate", (0..<5).map { ["code": "r\($0)", "value": Int64(0)] })
        let rounds = Campaign.count(15, whole: 500)
        TestThreads.run(2) { writer in
            do {
                for number in 0..<rounds {
                    try banks[writer].move(
                        1, "\(writer) \(number)", from: Bank.names[0], to: Bank.names[1])
                    if number % 5 == 0 { try banks[writer].setRates(to: Int64(number)) }
                }
            } catch {
                Issue.record("\(error)")
            }
        }
        #expect(try banks[0].audit().count == 2 * rounds)
        for bank in banks { try bank.store.close() }
    }

    @Test("a wrong password stands in no text")
    func password() throws {
        var settings = PostgresServer.Settings()
        settings.isDurable = false
        settings.password = "richtig"
        let server = try PostgresServer(settings)
        let error = storeError { _ = try Bank(server.url(password: "streng-geheim")) }
        #expect(error?.code == .openFailed)
        guard let error else { return }
        for text in [
            "\(error)", error.fullDescription, "\(error.userInfo)",
            "\(String(describing: error.cause))",
        ] { #expect(!text.contains("geheim")) }
    }

    @Test("a store of a newer version is not touched")
    func newer() throws {
        let server = try PostgresServer.shared()
        try Bank.with(server) { bank, _ in
            try bank.open()
            let space = bank.store.core.layout.space
            try server.run("UPDATE \"\(space)\".cairn_store SET version = version + 1")
            let url = server.url(["cairn_schema": space])
            let error = storeError { _ = try Bank(url) }
            #expect(error?.code == .openFailed)
            #expect(error?.message.contains("newer version") == true)
        }
    }
}
