// An older version of an app does not lead a store back to its model.

import Cairn
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Versions that a store has left")
struct LedBackTests {
    private static func model(_ attributes: String...) -> ManagedObjectModel {
        ManagedObjectModel(entities: [
            EntityDescription(
                "User",
                attributes: [AttributeDescription("name", .string)]
                    + attributes.map { AttributeDescription($0, .integer32) })
        ])
    }

    private static let models = [model(), model("age"), model("age", "size")]

    private static func ages(_ path: String, _ model: ManagedObjectModel) throws -> [Int?] {
        let container = try PersistentContainer(at: path, model: model)
        defer { try? container.store.close() }
        return try Stack(store: container.store).context().all("User").map { $0.int("age") }
    }

    private static func make(_ path: String, age: Int) throws {
        try PersistentContainer(at: path, model: models[0]).store.close()
        let container = try PersistentContainer(at: path, model: models[1])
        try Stack(store: container.store).store { [$0.make("User", ["name": "Ann", "age": age])] }
        try container.store.close()
    }

    @Test("A container with an older model is refused, and the store keeps what it has (134100)")
    func olderApp() throws {
        try withTemporaryDirectory { folder in
            let path = folder.path("users.cairn")
            try Self.make(path, age: 42)
            for _ in 0..<2 {
                let error = storeError {
                    _ = try PersistentContainer(at: path, model: Self.models[0])
                }
                #expect(error?.code == .incompatibleModel && error?.code.rawValue == 134_100)
                #expect(error?.message.contains("User") == true, "\(String(describing: error))")
                #expect(error?.cause is ModelMismatch)
                // Compaction and a reopened store know it as well.
                let store = try LogStore.open(at: path)
                _ = try store.compact()
                try store.close()
            }
            #expect(try Self.ages(path, Self.models[1]) == [42])
            #expect(try Self.ages(path, Self.models[2]) == [42])
            #expect(throws: StoreError.self) { try Self.ages(path, Self.models[1]) }
        }
    }

    @Test("Who asks for it leads the store back, and from there it is led on again")
    func onRequest() throws {
        try withTemporaryDirectory { folder in
            let path = folder.path("users.cairn")
            try Self.make(path, age: 42)
            #expect(try Self.ages(path, Self.models[2]) == [42])
            try LogStore.migrate(at: path, to: Schema(Self.models[1]))
            #expect(try Self.ages(path, Self.models[1]) == [42])
            #expect(throws: StoreError.self) { try Self.ages(path, Self.models[0]) }
            try LogStore.migrate(at: path, to: Schema(Self.models[0]))
            let store = try LogStore.open(at: path)
            #expect(store.engine.registry.read { $0.catalog.next.leftVersions }.isEmpty)
            try store.close()
            #expect(try Self.ages(path, Self.models[2]) == [nil])
            #expect(throws: StoreError.self) { try Self.ages(path, Self.models[0]) }
        }
    }
}
