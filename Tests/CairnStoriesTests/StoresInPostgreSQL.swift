// The examples of the article of this name, as code that runs: on a server of the tests' own.

import Cairn
import CairnPostgres
import Foundation
import PostgresServers
import Testing

@Entity
final class Waybill: ManagedObject {
    @Attribute(.unique) var code: String = ""
    var weight: Double = 0
    var depot: Depot?
}

@Entity
final class Depot: ManagedObject {
    @Attribute(.unique) var town: String = ""
    @Relationship(inverse: \Waybill.depot) var waybills: Set<Waybill>
}

@Suite("Stores in PostgreSQL", .enabled(if: PostgresServer.isInstalled))
struct StoresInPostgreSQL {
    /// The URL of a store that nobody else has; its schema is removed afterwards.
    private func withURL<R>(
        _ body: nonisolated(nonsending) (String) async throws -> R
    ) async throws -> R {
        let server = try PostgresServer.shared()
        let name = server.newName("waybills")
        defer { _ = try? server.run("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE") }
        return try await body(server.url(["cairn_schema": name]))
    }

    private func open(_ url: String) throws -> PersistentContainer {
        // StoresInPostgreSQL 1 begins
        let container = try PersistentContainer(
            at: .postgres(url), for: Waybill.self, Depot.self)
        // StoresInPostgreSQL 1 ends
        return container
    }

    @Test("Two servers register waybills, and each code is there once")
    func twoServers() async throws {
        try await withURL { url in
            let containers = [try open(url), try open(url)]
            try await withThrowingTaskGroup { group in
                for container in containers {
                    group.addTask {
                        for number in 0..<10 {
                            // StoresInPostgreSQL 2 begins
                            try await container.performBackgroundTask { context in
                                context.mergePolicy = .mergeByPropertyObjectTrump
                                let depot = context.insert(Depot.self)
                                depot.town = "Lisbon"
                                let waybill = context.insert(Waybill.self)
                                (waybill.code, waybill.weight) = ("P\(number)", 1.5)
                                waybill.depot = depot
                                try context.save()
                            }
                            // StoresInPostgreSQL 2 ends
                        }
                    }
                }
                try await group.waitForAll()
            }
            for container in containers {
                let found = try await container.performBackgroundTask { context in
                    let depots = try context.fetch(FetchRequest<Depot>())
                    return (depots.count, depots.first?.waybills.count)
                }
                #expect(found == (1, 10))
            }
        }
    }

    @Test("What another server saves comes to this one's contexts")
    func news() async throws {
        try await withURL { url in
            let (here, there) = (try open(url), try open(url))
            let changes = here.remoteChanges
            let id = try await there.performBackgroundTask { context in
                let waybill = context.insert(Waybill.self)
                (waybill.code, waybill.weight) = ("P1", 2)
                try context.save()
                return waybill.objectID
            }
            for await change in changes where change.isFromAnotherProcess {
                #expect(change.insertedObjectIDs == [id])
                break
            }
        }
    }

    @Test("Many rows at once, and one connection string for three hosts")
    func batch() async throws {
        try await withURL { url in
            let container = try open(url)
            let weights = (0..<5000).map { ("P\($0)", Double($0) / 10) }
            try await container.performBackgroundTask { context in
                // StoresInPostgreSQL 3 begins
                let rows = weights.map { ["code": $0, "weight": $1] as [String: Any] }
                let result = try context.execute(
                    BatchInsertRequest(entityName: "Waybill", objects: rows))
                print(result.insertedCount, "waybills")
                // StoresInPostgreSQL 3 ends
                #expect(result.insertedCount == 5000)
                let heavy = try context.count(
                    for: FetchRequest<Waybill>(#Predicate { $0.weight >= 400 }))
                #expect(heavy == 1000)
            }
        }
    }
}
