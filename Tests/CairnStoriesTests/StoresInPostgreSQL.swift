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

/// Towns as texts, which become depots.
private enum WaybillsV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentEntity.Type] { [Parcel.self] }

    @Entity final class Parcel: ManagedObject {
        @Attribute(.unique) var code: String = ""
        var town: String?
    }
}

private enum WaybillsV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentEntity.Type] { [Parcel.self, Hub.self] }

    @Entity final class Parcel: ManagedObject {
        @Attribute(.unique) var code: String = ""
        var town: String?
        @Relationship(inverse: \Hub.parcels) var hub: Hub?
    }
    @Entity final class Hub: ManagedObject {
        @Attribute(.unique) var town: String = ""
        var parcels: Set<Parcel>
    }
}

private enum WaybillsV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentEntity.Type] { [Parcel.self, Hub.self] }

    @Entity final class Parcel: ManagedObject {
        @Attribute(.unique) var code: String = ""
        @Relationship(inverse: \Hub.parcels) var hub: Hub?
    }
    @Entity final class Hub: ManagedObject {
        @Attribute(.unique) var town: String = ""
        var parcels: Set<Parcel>
    }
}

/// A plan whose code after its first stage may fail.
private protocol WaybillsPlan: SchemaMigrationPlan {
    static var fails: Bool { get }
}

extension WaybillsPlan {
    static var schemas: [any VersionedSchema.Type] {
        [WaybillsV1.self, WaybillsV2.self, WaybillsV3.self]
    }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: WaybillsV1.self, toVersion: WaybillsV2.self, willMigrate: nil,
                didMigrate: { context in
                    for parcel in try context.fetch(FetchRequest<WaybillsV2.Parcel>()) {
                        guard let town = parcel.town else { continue }
                        let request = try FetchRequest<WaybillsV2.Hub>(
                            #Predicate { $0.town == town })
                        let hub =
                            try context.fetch(request).first ?? context.insert(WaybillsV2.Hub.self)
                        hub.town = town
                        parcel.hub = hub
                        try context.save()
                    }
                    if fails { throw CocoaError(.userCancelled) }
                }),
            .lightweight(fromVersion: WaybillsV2.self, toVersion: WaybillsV3.self),
        ]
    }
}

private enum ShopPlan: WaybillsPlan { static let fails = false }
private enum FailingPlan: WaybillsPlan { static let fails = true }

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

    @Test("A store goes through the stages of a plan at once, or stays what it was")
    func stages() async throws {
        try await withURL { url in
            let old = try PersistentContainer(at: .postgres(url), for: WaybillsV1.Parcel.self)
            let ids = try await old.performBackgroundTask { context in
                let parcels = (0..<20).map { number in
                    let parcel = context.insert(WaybillsV1.Parcel.self)
                    parcel.code = "P\(number)"
                    parcel.town = number == 0 ? nil : "T\(number % 3)"
                    return parcel
                }
                try context.save()
                return parcels.map(\.objectID)
            }
            try old.store.close()
            #expect(throws: StoreError.self) {
                try PersistentContainer(at: .postgres(url), migrationPlan: FailingPlan.self)
            }
            // As it was: nothing of a stage is there.
            let same = try PersistentContainer(at: .postgres(url), for: WaybillsV1.Parcel.self)
            let towns = try await same.performBackgroundTask { context in
                try context.fetch(FetchRequest<WaybillsV1.Parcel>()).compactMap(\.town)
            }
            #expect(towns.count == 19)
            try same.store.close()
            for _ in 0..<2 {
                // StoresInPostgreSQL 4 begins
                let container = try PersistentContainer(
                    at: .postgres(url), migrationPlan: ShopPlan.self)
                // StoresInPostgreSQL 4 ends
                try await container.performBackgroundTask { context in
                    let hubs = try context.fetch(FetchRequest<WaybillsV3.Hub>())
                    #expect(hubs.map(\.town).sorted() == ["T0", "T1", "T2"])
                    #expect(hubs.map(\.parcels.count).reduce(0, +) == 19)
                    let parcel = try #require(
                        try context.existingObject(with: ids[4]) as? WaybillsV3.Parcel)
                    #expect((parcel.code, parcel.hub?.town) == ("P4", "T1"))
                }
                try container.store.close()
            }
        }
    }
}
