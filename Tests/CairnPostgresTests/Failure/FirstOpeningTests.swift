// Who makes a store, who finds one, and what another process does to it meanwhile.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

@Suite("Stores that several make or open", .enabled(if: PostgresServer.isInstalled))
struct FirstOpeningTests {
    /// Two versions of a program.
    private static func schema(_ version: Int) throws -> Schema {
        try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "Thing",
                    attributes: [.init("name", .string)]
                        + (version == 0 ? [] : [.init("it's", .integer64)]),
                    relationships: version == 0 ? [] : [.init("next", to: "Thing")]),
                EntityDescription(
                    version == 0 ? "Cup" : "Spoon", attributes: [.init("name", .string)]),
            ]))
    }

    @Test("of two versions that make a store at once one finds the other's, and none a mixture")
    func simultaneous() throws {
        let server = try PostgresServer.shared()
        for _ in 0..<Campaign.count(4, whole: 200) {
            let name = server.newName("made")
            defer { _ = try? server.run("DROP SCHEMA \"\(name)\" CASCADE") }
            let opened = Mutex<[Int]>([])
            TestThreads.run(6) { thread in
                do {
                    let store = try PostgresStore.open(
                        server.url(["cairn_schema": name]), schema: Self.schema(thread % 2))
                    // It has the tables that it says it has.
                    for entity in store.schema.entities {
                        #expect(try store.snapshot().count(StoreFetch(entity: entity.index)) == 0)
                    }
                    opened.withLock { $0.append(thread % 2) }
                    try store.close()
                } catch let error as StoreError {
                    #expect(error.code == .incompatibleModel, "\(error)")
                } catch {
                    Issue.record("\(error)")
                }
            }
            let versions = opened.withLock { $0 }
            #expect(versions.count == 3)
            #expect(Set(versions).count == 1)
        }
    }

    @Test("a store whose maker was stopped behind its tables is finished by whoever comes")
    func unfinished() throws {
        let server = try PostgresServer.shared()
        for next in 0..<2 {
            let name = server.newName("begun")
            defer { _ = try? server.run("DROP SCHEMA \"\(name)\" CASCADE") }
            let url = server.url(["cairn_schema": name])
            // What the maker wrote second is not there.
            try PostgresStore.open(url, schema: Self.schema(1)).close()
            let part = try PartialStore(
                EncodedCatalog(Catalog(new: Self.schema(1))), identifier: UUID())
            defer { part.close() }
            let model = String(decoding: try CatalogDocument.encode(part.catalog), as: UTF8.self)
            let connection = try server.connect()
            for table in ["store", "entities", "numbers"] {
                try connection.run("DELETE FROM \(name.quoted).cairn_\(table)", [], .once)
            }
            try connection.run(
                "COMMENT ON TABLE \(name.quoted).cairn_store IS \(model.literal)", [], .once)
            let error = storeError {
                try PostgresStore.open(url, schema: Self.schema(next)).close()
            }
            #expect(error?.code == (next == 0 ? .incompatibleModel : nil))
            let store = try PostgresStore.open(url, schema: Self.schema(1))
            #expect(try store.snapshot().count(StoreFetch(entity: 0)) == 0)
            _ = try store.obtainPermanentIDs(forEntities: [0, 1])
            try store.close()
        }
    }

    @Test("a schema with other tables of the same names is none of a store")
    func otherTables() throws {
        let server = try PostgresServer.shared()
        let name = server.newName("other")
        defer { _ = try? server.run("DROP SCHEMA \"\(name)\" CASCADE") }
        try server.run("CREATE SCHEMA \(name)")
        let table = TableLayout(try Self.schema(0), in: name).tables[0].name
        try server.run("CREATE TABLE \(name).\"\(table)\" (a int8)")
        let error = storeError {
            try PostgresStore.open(
                server.url(["cairn_schema": name]), schema: Self.schema(0)
            ).close()
        }
        #expect(error?.message.contains("cairn_schema") == true)
    }

    @Test("a history that another process begins or ends is begun and ended by all")
    func history() throws {
        let server = try PostgresServer.shared()
        try Bank.with(server) { bank, watcher in
            let url = server.url(["cairn_schema": bank.store.core.layout.space])
            try bank.open()
            let begun = try Bank(url) { $0.persistentHistoryTracking = true }
            #expect(begun.store.historyTracking == .on)
            try bank.move(1, "a", from: Bank.names[0], to: Bank.names[1])
            #expect(bank.store.historyTracking == .keptOn)
            let bounds = try #require(try begun.store.historyBounds())
            #expect(bounds.last == bounds.horizon + 1)
            let cursor = try begun.store.historyCursor(after: bounds.horizon)
            #expect(try cursor.next()?.changes?.groups.isEmpty == false)
            let ended = try Bank(url) { $0.persistentHistoryTracking = false }
            #expect(ended.store.historyTracking == .off)
            try begun.move(1, "b", from: Bank.names[0], to: Bank.names[1])
            #expect(begun.store.historyTracking == .off)
            #expect(try begun.store.historyBounds() == nil)
            #expect(try watcher.audit() == ["a", "b"])
            for other in [begun, ended] { try other.store.close() }
        }
    }

    @Test("tokens do not pile up, and old ones go when a store is opened")
    func tokens() throws {
        let server = try PostgresServer.shared()
        try Bank.with(server) { bank, _ in
            let tokens = "\"\(bank.store.core.layout.space)\".cairn_tokens"
            for number in 0..<10 {
                try bank.write("Rate", [["code": "\(number)", "value": Int64(number)]])
            }
            #expect(try server.run("SELECT count(*) FROM \(tokens)") == "1\n")
            try server.run("UPDATE \(tokens) SET made = made - interval '25 hours'")
            let other = try Bank(server.url(["cairn_schema": bank.store.core.layout.space]))
            #expect(try server.run("SELECT count(*) FROM \(tokens)") == "0\n")
            try other.store.close()
            try bank.write("Rate", [["code": "a", "value": Int64(1)]])
        }
    }
}
