import CairnLog
import CairnMigration
import CairnModel
import CairnMoving
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

@Suite("Migrations of stores in databases", .enabled(if: PostgresServer.isInstalled))
struct PostgresMigrationTests {
    /// A store on the log and the same one in a database.
    private struct Both {
        let path: String
        let url: String
    }

    private func withBoth(history: Bool = true, _ body: (Both) throws -> Void) throws {
        let server = try PostgresServer.shared()
        let name = "migration-\(UUID().uuidString)"
        let path = FileManager.default.temporaryDirectory.appending(path: name).path
        defer {
            try? FileManager.default.removeItem(atPath: path)
            _ = try? server.run("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE")
        }
        let both = Both(path: path, url: server.url(["cairn_schema": name]))
        var options = LogStoreOptions()
        options.durability = .relaxed
        if history { options.persistentHistoryTracking = true }
        let log = try LogStore.open(at: path, schema: ChangedModel.schema(), options: options)
        try ChangedModel.fill(log)
        try log.copy(toDatabase: both.url)
        try log.close()
        try body(both)
    }

    private func export(_ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws
        -> String
    {
        var bytes: [UInt8] = []
        try body { bytes += Array($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func export(of url: String, _ schema: Schema? = nil) throws -> String {
        let store = try PostgresStore.open(url, schema: schema)
        defer { try? store.close() }
        return try export { try store.export($0) }
    }

    /// What a closure gives, or the error of a store that it throws.
    private func outcome<R>(_ body: () throws -> R) throws -> (result: R?, error: StoreError?) {
        do {
            return (try body(), nil)
        } catch let error as StoreError {
            return (nil, error)
        }
    }

    private func error<R>(_ body: () throws -> R) throws -> StoreError? {
        try outcome(body).error
    }

    /// The history, but for what a migration leaves out of it.
    private func transactions(_ store: any HistoryStore) throws -> [String] {
        var lines: [String] = []
        let cursor = try store.historyCursor(after: store.historyBounds()?.horizon ?? 0)
        while let transaction = try cursor.next() {
            let groups = (transaction.changes?.groups ?? []).map {
                "\($0.type) \($0.entityName) \($0.numbers.runs) \($0.updatedProperties.sorted())"
            }
            lines.append("\(transaction.transactionNumber): \(groups.sorted())")
        }
        return lines
    }

    @Test(
        "A migration comes to what it comes to on the log",
        arguments: ChangedModel.simple + ChangedModel.involved, [true, false])
    func asOnTheLog(_ change: ChangedModel, history: Bool) throws {
        try withBoth(history: history) { both in
            let schema = try change.schema()
            let before = try export(of: both.url)
            let (report, expected) = try outcome { try LogStore.migrate(at: both.path, to: schema) }
            #expect(try LogStore.check(at: both.path).findings.isEmpty)
            let (same, found) = try outcome {
                try PostgresStore.migrate(at: both.url, to: schema)
            }
            #expect(found?.code == expected?.code, "\(found?.fullDescription ?? "")")
            if let expected {
                #expect(found?.message == expected.message)
                #expect(found?.details.map(\.message) == expected.details.map(\.message))
                let (one, other) = (
                    expected.cause as? MigrationDuplicates, found?.cause as? MigrationDuplicates
                )
                #expect(one?.constraints.map(\.objects) == other?.constraints.map(\.objects))
                // It is as it was, and can be written.
                #expect(try export(of: both.url, ChangedModel.schema()) == before)
                return
            }
            #expect(report?.removedObjects == same?.removedObjects)
            #expect(report?.plan.conclusion == same?.plan.conclusion)
            let log = try LogStore.open(at: both.path, schema: schema)
            let store = try PostgresStore.open(both.url, schema: schema)
            #expect(try export { try store.export($0) } == export { try log.export($0) })
            if history { #expect(try transactions(store) == transactions(log)) }
            #expect(
                try CatalogDocument.encode(store.core.catalog)
                    == CatalogDocument.encode(LogStoreContent(log).catalog))
            // Both go on in the same way.
            let entity = try #require(schema.entity(named: "Color"))
            for each in [log, store] as [any PersistentStore] {
                _ = try each.execute(
                    BatchInsertRequest(entityName: entity.name, objects: [["name": "late"]]))
                let fetch = StoreFetch(entity: entity.index)
                #expect(try each.snapshot().fetch(fetch).ids.count == 5)
            }
            try store.close()
            try log.close()
            // And back: what was left is found under its numbers, or gone.
            let refused = try error {
                try LogStore.migrate(at: both.path, to: ChangedModel.schema())
            }
            let refusedToo = try error {
                try PostgresStore.migrate(at: both.url, to: ChangedModel.schema())
            }
            #expect(refused?.code == refusedToo?.code, "\(refusedToo?.fullDescription ?? "")")
            let again = try LogStore.open(at: both.path, schema: nil)
            let lines = try export { try again.export($0) }.split(separator: "\n")
            let others = try export(of: both.url).split(separator: "\n")
            for (line, other) in zip(lines, others) where line != other && !line.contains("late") {
                Issue.record("\(line) is \(other)")
            }
            try again.close()
        }
    }

    @Test("The server does by itself what needs no row looked at", arguments: ChangedModel.simple)
    func plain(_ change: ChangedModel) throws {
        let old = Catalog(new: try ChangedModel.schema())
        let plan = ModelMigrationPlan(from: old.schema, to: try change.schema())
        #expect(PlainChange(plan, old, in: "s", hasHistory: false) != nil)
    }

    @Test("What is more goes through a log", arguments: ChangedModel.involved)
    func involved(_ change: ChangedModel) throws {
        let old = Catalog(new: try ChangedModel.schema())
        let plan = ModelMigrationPlan(from: old.schema, to: try change.schema())
        // What is only added, or goes, needs none after all; whatever has rows written does.
        let isPlain = PlainChange(plan, old, in: "s", hasHistory: false) != nil
        let needsNone = [
            "relationship removed", "relationship kept as pairs removed", "relationship added",
            "members get an order", "members lose their order",
            "entity removed that others lead to",
        ]
        #expect(!isPlain || needsNone.contains(change.name))
    }

    private static var automatic: PostgresOptions {
        var options = PostgresOptions()
        options.shouldMigrateStoreAutomatically = true
        return options
    }

    @Test("A store of another version is migrated when it is opened, if that is wanted")
    func whenOpened() throws {
        try withBoth { both in
            let schema = try ChangedModel.simple[1].schema()
            let before = try error { try PostgresStore.open(both.url, schema: schema) }
            #expect(before?.code == .incompatibleModel)
            let options = Self.automatic
            let store = try PostgresStore.open(both.url, schema: schema, options: options)
            #expect(store.schema.model == schema.model)
            try store.close()
            // Not back, unless somebody asks for it.
            let old = try ChangedModel.schema()
            let refused = try error {
                try PostgresStore.open(both.url, schema: old, options: options)
            }
            #expect(refused?.code == .incompatibleModel)
            try PostgresStore.migrate(at: both.url, to: old)
            try PostgresStore.open(both.url, schema: old).close()
        }
    }

    @Test("A server out of reach is not taken for a database without a store")
    func outOfReach() throws {
        let free = try FreePort.find()
        let away = PostgresLocation.postgres(
            "postgresql://cairn@127.0.0.1:\(free)/postgres?connect_timeout=5")
        let refused = try #require(try error { try away.metadataToMigrate() })
        #expect(refused.code == .openFailed && refused.cause != nil)
        #expect(refused.description.contains("\(free)"), "\(refused)")
        let never = try error {
            try away.migrateThroughLog { _, _ in
                Issue.record("there is nothing to migrate")
                return false
            }
        }
        #expect(never?.code == .openFailed)
        let server = try PostgresServer.shared()
        let empty = PostgresLocation.postgres(
            server.url(["cairn_schema": "nothing-\(UUID().uuidString)"]))
        #expect(try empty.metadataToMigrate() == nil)
        try withBoth { both in
            var location = PostgresLocation.postgres(both.url)
            let metadata = try location.metadataToMigrate()
            #expect(metadata != nil)
            location.options.isReadOnly = true
            let readOnly = try location.metadataToMigrate()
            #expect(readOnly == nil)
        }
    }

    @Test(
        "Who has the store open with the old model is told so",
        arguments: [ChangedModel.simple[0], ChangedModel.involved[0]])
    func stillOpen(_ change: ChangedModel) throws {
        try withBoth { both in
            let old = try PostgresStore.open(both.url, schema: ChangedModel.schema())
            _ = try old.snapshot()
            _ = try old.execute(BatchInsertRequest(entityName: "Color", objects: [["name": "a"]]))
            try old.setHistoryConsumer("reader", seen: 1, mustExist: false)
            let schema = try change.schema()
            try PostgresStore.migrate(at: both.url, to: schema)
            let store = try PostgresStore.open(both.url, schema: schema)
            let (bounds, consumers) = (
                try store.historyBounds(), try store.historyConsumerNumbers()
            )
            let remove = Statement("DELETE FROM \(old.core.layout.sql(.consumers))")
            let attempts: [() throws -> Void] = [
                { _ = try old.snapshot() },
                {
                    _ = try old.execute(
                        BatchInsertRequest(entityName: "Color", objects: [["name": "b"]]))
                },
                {
                    let delete = BatchDeleteRequest(.fetch(StoreFetch(entity: 0)))
                    _ = try old.execute(delete)
                },
                { _ = try old.historyBounds() }, { _ = try old.historyConsumerNumbers() },
                // What only writes.
                { _ = try old.deleteHistory(through: .max) }, { try old.core.carryOut([remove]) },
                {
                    try old.setMetadata(["late": .integer(1)], identifier: nil)
                    try old.writeMetadata()
                },
            ]
            for (index, attempt) in attempts.enumerated() {
                #expect(try error(attempt)?.code == .incompatibleModel, "attempt \(index)")
            }
            try old.close()
            // Nothing was written.
            #expect(try store.historyBounds() == bounds)
            #expect(try store.historyConsumerNumbers() == consumers)
            #expect(try store.metadata().values["late"] == nil)
            try store.close()
            #expect(try !export(of: both.url).contains("\"b\""))
        }
    }

    @Test("Of two who migrate at once one does it, and the other finds it done")
    func together() throws {
        try withBoth { both in
            let schema = try ChangedModel.involved[0].schema()
            let commits = Mutex<[UInt64?]>([])
            let url = both.url
            TestThreads.run(2) { _ in
                do {
                    let report = try PostgresStore.migrate(at: url, to: schema)
                    commits.withLock { $0.append(report.commit) }
                } catch {
                    Issue.record("\(error)")
                }
            }
            let found = commits.withLock { $0 }
            #expect(found.count == 2 && found.filter { $0 != nil }.count == 1)
            try PostgresStore.open(url, schema: schema).close()
        }
    }

    @Test(
        "Readers and writers of the old model meet a migration, and get its error or what was right"
    )
    func meanwhile() throws {
        try withBoth { both in
            let old = try PostgresStore.open(both.url, schema: ChangedModel.schema())
            let product = try #require(old.schema.entity(named: "Product"))
            let schema = try ChangedModel.involved[0].schema()
            let url = both.url
            TestThreads.run(5) { worker in
                do {
                    if worker == 4 {
                        try PostgresStore.migrate(at: url, to: schema)
                        return
                    }
                    while true {
                        if worker % 2 == 0 {
                            let fetch = StoreFetch(entity: product.index)
                            #expect(try old.snapshot().fetch(fetch).ids.count == 40)
                        } else {
                            _ = try old.execute(
                                BatchInsertRequest(entityName: "Gone", objects: [["n": 9]]))
                        }
                    }
                } catch let error as StoreError {
                    #expect(error.code == .incompatibleModel, "\(error.fullDescription)")
                } catch {
                    Issue.record("\(error)")
                }
            }
            try old.close()
            let store = try PostgresStore.open(url, schema: schema)
            let entity = try #require(schema.entity(named: "Product"))
            #expect(
                try store.snapshot().fetch(StoreFetch(entity: entity.index)).ids.count == 40)
            try store.close()
        }
    }

    @Test(
        "A mapping makes the objects anew, and who came of whom keeps its id",
        arguments: [true, false])
    func mapped(_ isFinished: Bool) throws {
        try withBoth { both in
            let before = try export(of: both.url)
            // An attribute of another type needs a mapping.
            let change = try #require(ChangedModel.involved.last)
            let schema = try change.schema()
            let migration = try PostgresStore.beginMigration(at: both.url, to: schema)
            let index = try #require(migration.source.schema.entity(named: "Color")?.index)
            let old = try migration.source.snapshot().fetch(StoreFetch(entity: index)).ids
            let rows: [[String: any Sendable]] = old.dropFirst().map {
                ["name": "new \($0.reference)"]
            }
            _ = try migration.destination.execute(
                BatchInsertRequest(entityName: "Color", objects: rows))
            let entity = try #require(schema.entity(named: "Color")?.index)
            let new = try migration.destination.snapshot().fetch(StoreFetch(entity: entity)).ids
            guard isFinished else {
                migration.cancel()
                #expect(try export(of: both.url, ChangedModel.schema()) == before)
                return
            }
            try migration.finish([
                ObjectSuccession(
                    sourceEntity: index, destinationEntity: entity,
                    sources: old.dropFirst().map { UInt32($0.reference) },
                    destinations: new.map { UInt32($0.reference) })
            ])
            let store = try PostgresStore.open(both.url, schema: schema)
            let found = try store.snapshot().fetch(StoreFetch(entity: entity)).ids
            #expect(Set(found) == Set(old.dropFirst()))
            let product = try #require(schema.entity(named: "Product")?.index)
            #expect(try store.snapshot().fetch(StoreFetch(entity: product)).ids.isEmpty)
            try store.close()
        }
    }

    @Test("What is saved before under the old model is part of the migration")
    func prelude() throws {
        try withBoth { both in
            let schema = try ChangedModel.schema(
                ChangedModel.entities.merging(
                    ["Gone": Self.uniqueGone], uniquingKeysWith: { _, new in new }))
            let row: [String: any Sendable] = ["n": 1]
            let store = try PostgresStore.open(both.url, schema: nil)
            _ = try store.execute(BatchInsertRequest(entityName: "Gone", objects: [row]))
            try store.close()
            let refused = try error { try PostgresStore.migrate(at: both.url, to: schema) }
            #expect(refused?.code == .migrationConstraintViolation)
            let options = Self.deletingLast
            let report = try PostgresStore.migrate(at: both.url, to: schema, options: options)
            #expect(report.foldedObjects == 1)
            let gone = try #require(schema.entity(named: "Gone")?.index)
            let same = try PostgresStore.open(both.url, schema: schema)
            #expect(try same.snapshot().fetch(StoreFetch(entity: gone)).ids.count == 3)
            try same.close()
        }
    }

    private static var uniqueGone: EntityDescription {
        EntityDescription(
            "Gone", attributes: [.init("n", .integer16)], uniquenessConstraints: [["n"]])
    }

    /// The last object of an entity is deleted before.
    private static var deletingLast: PostgresOptions {
        var options = PostgresOptions()
        options.migrationPrelude = { (store, _, _) throws(StoreError) in
            let entity = store.schema.entity(named: "Gone")?.index ?? 0
            var fetch = StoreFetch(entity: entity)
            fetch.includesRows = true
            guard let row = try store.snapshot().fetch(fetch).rows.last else { return nil }
            var request = SaveRequest()
            request.deleted = [.init(id: row.id, entity: entity, version: row.version, base: row)]
            return MigrationPrelude([request], foldedObjects: 1)
        }
        return options
    }

    @Test("A migration that is cancelled leaves everything as it was")
    func cancelled() throws {
        try withBoth { both in
            let before = try export(of: both.url)
            var options = PostgresOptions()
            options.migrationProgress = { _ in false }
            let schema = try ChangedModel.involved[1].schema()
            let found = try error {
                try PostgresStore.migrate(at: both.url, to: schema, options: options)
            }
            #expect(found?.code == .migrationCancelled)
            #expect(try export(of: both.url, ChangedModel.schema()) == before)
        }
    }
}
