// A connection that is cut at each message of a migration, in both directions, as when the program dies there: the store is what
// it was, or migrated as a whole, and whoever migrates is told which of them.

import CairnLog
import CairnModel
import CairnMoving
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Migrations that are cut off", .enabled(if: PostgresServer.isInstalled))
struct CutMigrationTests {
    /// By the server alone, and through a log.
    @Test(
        "A store is migrated as a whole or not at all, wherever its connection is cut",
        arguments: [ChangedModel.simple[1], ChangedModel.involved[0]])
    func cut(_ change: ChangedModel) throws {
        let server = try PostgresServer.shared()
        let proxy = try CuttingProxy(to: server.port)
        var random = RandomSource("cuts of a migration: \(change.name)")
        let path = FileManager.default.temporaryDirectory
            .appending(path: "cut-migration-\(UUID().uuidString)").path
        let name = server.newName("cut-migration")
        defer {
            try? FileManager.default.removeItem(atPath: path)
            _ = try? server.run("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE")
        }
        let url = server.url(["cairn_schema": name, "sslmode": "disable", "gssencmode": "disable"])
        let cutURL = url.replacing(":\(server.port)/", with: ":\(proxy.port)/")
        let schema = try change.schema()
        var options = LogStoreOptions()
        options.durability = .relaxed
        options.persistentHistoryTracking = true
        let log = try LogStore.open(at: path, schema: ChangedModel.schema(), options: options)
        defer { try? log.close() }
        try ChangedModel.fill(log)

        func make() throws {
            try server.run("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE")
            try log.copy(toDatabase: url)
        }
        /// The text of the store as it is, and whether it is migrated.
        func look() throws -> (text: String, isMigrated: Bool) {
            let store = try PostgresStore.open(url, schema: nil)
            defer { try? store.close() }
            var bytes: [UInt8] = []
            try store.export { bytes += Array($0) }
            return (
                String(decoding: bytes, as: UTF8.self), store.schema.model == schema.model
            )
        }

        try make()
        let before = try look().text
        proxy.arm(nil)
        try PostgresStore.migrate(at: cutURL, to: schema)
        let counts = [CuttingProxy.Direction.toServer, .toClient].map { ($0, proxy.count($0)) }
        let after = try look().text
        #expect(before != after)
        try make()
        var (cuts, migrated) = (0, 0)
        for (direction, count) in counts {
            let step = Campaign.step(13)
            // The answer to the commit is among the last ones.
            let messages =
                Array(
                    stride(from: Int.random(in: 0..<step, using: &random), to: count - 3, by: step))
                + (max(0, count - 3)..<count)
            for message in messages {
                let bytes = Int.random(in: 0...4, using: &random)
                proxy.arm(.init(direction, message: message, bytes: bytes, .ends))
                let error = storeError { try PostgresStore.migrate(at: cutURL, to: schema) }
                if proxy.hasCut { cuts += 1 }
                let place = "seed \(random.seed): \(direction) \(message) of \(count)"
                let found = try look()
                #expect(found.text == (found.isMigrated ? after : before), "\(place)")
                #expect(found.isMigrated == (error == nil), "\(place)")
                #expect(error?.code != .commitUnknown, "\(place)")
                if found.isMigrated {
                    if proxy.hasCut { migrated += 1 }
                    try make()
                }
            }
        }
        #expect(migrated > 0 && cuts > migrated)
        Campaign.report("cuts of a migration, \(change.name)", cuts)
    }
}
