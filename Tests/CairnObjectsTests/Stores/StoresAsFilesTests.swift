// What a container does with its store as a whole: metadata, another place, large values as streams.

import Cairn
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Stores as a whole")
@MainActor
struct StoresAsFilesTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Building",
            attributes: [
                .init("name", .string), .init("plan", .binary), .init("floors", .integer16),
            ], uniquenessConstraints: [["name"]])
    ])

    private func building(_ context: ManagedObjectContext, _ name: String, plan: Data? = nil)
        -> ManagedObject
    {
        let object = context.insert("Building")
        object["name"] = name
        object["plan"] = plan
        return object
    }

    private func collect(_ stream: ValueStream?) async throws -> Data? {
        guard let stream else { return nil }
        var data = Data()
        for try await chunk in stream.inTime() { data.append(chunk) }
        return data
    }

    private let buildings = FetchRequest<ManagedObject>(entityName: "Building")

    // MARK: Metadata

    @Test("Metadata are written with the next save of a context", arguments: Backend.allCases)
    func metadata(backend: Backend) throws {
        let container = PersistentContainer(store: try backend.makeStore(Schema(Self.model)))
        let metadata = try container.metadata()
        #expect(metadata.values.isEmpty && !metadata.type.isEmpty)
        #expect(metadata.identifier == container.store.identity.identifier)
        #expect(metadata.model.entities.map(\.name) == ["Building"])
        try container.setMetadata(["token": .string("a"), "none": .null])
        let context = container.viewContext
        _ = building(context, "A")
        try context.save()
        #expect(try container.metadata().values == ["token": .string("a")])
        let id = container.store.identity.id(1, entity: 0)
        let error = #expect(throws: StoreError.self) {
            try container.setMetadata(["id": .objectID(id)])
        }
        #expect(error?.code == .invalidRequest)
        try container.writeMetadata()
        #expect(try container.metadata()["token"] == .string("a"))
    }

    @Test("Metadata of a file come with the save that they were set before")
    func metadataOfFile() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store")
        do {
            let container = try PersistentContainer(at: path, model: Self.model)
            _ = building(container.viewContext, "A")
            try container.viewContext.save()
            try container.setMetadata(["token": .string("a")])
            #expect(try container.metadata()["token"] == .string("a"))
            // Not valid: nothing is written.
            let second = building(container.viewContext, "A")
            #expect(throws: StoreError.self) { try container.viewContext.save() }
            second["name"] = "B"
            try container.viewContext.save()
            try container.store.close()
        }
        #expect(
            try PersistentContainer.metadata(forPersistentStoreAt: path)["token"] == .string("a"))
        try PersistentContainer.setMetadata(["n": .integer(1)], forPersistentStoreAt: path)
        let metadata = try PersistentContainer.metadata(forPersistentStoreAt: path)
        #expect(metadata.values == ["n": .integer(1)])
        #expect(metadata.type == StoreMetadata.logStoreType)
    }

    // MARK: Moving

    @Test("A store saved as another has the same objects under ids of its own; both go on")
    func moved() throws {
        let directory = try TemporaryDirectory()
        let draft = try PersistentContainer(inMemory: Self.model)
        let first = building(draft.viewContext, "A")
        try draft.viewContext.save()
        let unsaved = building(draft.viewContext, "B")
        let shop = try draft.copyPersistentStore(to: directory.path("shop"))
        #expect(shop.store.identity.identifier != draft.store.identity.identifier)
        let id = try #require(shop.objectID(movedFrom: first.objectID))
        #expect(shop.objectID(movedFrom: unsaved.objectID) == nil)
        let moved = try shop.viewContext.existingObject(with: id)
        #expect(moved["name"] as? String == "A")
        #expect(try shop.viewContext.count(for: buildings) == 1)
        try draft.viewContext.save()
        moved["name"] = "C"
        try shop.viewContext.save()
        #expect(first["name"] as? String == "A")
        #expect(try draft.viewContext.count(for: buildings) == 2)
        let error = #expect(throws: StoreError.self) {
            _ = try draft.copyPersistentStore(to: directory.path("shop"))
        }
        #expect(error?.code == .invalidRequest)
    }

    // MARK: Streams

    @Test("A value is read as a stream, and the object stays a fault", arguments: Backend.allCases)
    func streams(backend: Backend) async throws {
        let container = PersistentContainer(store: try backend.makeStore(Schema(Self.model)))
        let context = container.viewContext
        let plan = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 >> 3) })
        let object = building(context, "A", plan: plan)
        // New: from memory.
        #expect(try await collect(object.valueStream(forKey: "plan")) == plan)
        try context.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.isFault)
        let stream = try object.valueStream(forKey: "plan", chunkBytes: 1000)
        #expect(stream?.count == 100_000)
        #expect(object.isFault)
        #expect(try await collect(object.valueStream(forKey: "name")) == Data("A".utf8))
        // Changed and not saved: from memory, while the stream from before has what was stored.
        object["plan"] = Data([1, 2, 3])
        #expect(try await collect(object.valueStream(forKey: "plan")) == Data([1, 2, 3]))
        #expect(try await collect(stream) == plan)
        object["plan"] = nil
        #expect(try object.valueStream(forKey: "plan") == nil)
        try context.save()
        #expect(try object.valueStream(forKey: "plan") == nil)
        #expect(try await collect(stream) == plan)
        let error = #expect(throws: StoreError.self) {
            _ = try object.valueStream(forKey: "floors")
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("A pinned context reads values of its state", arguments: Backend.allCases)
    func generations(backend: Backend) async throws {
        let container = PersistentContainer(store: try backend.makeStore(Schema(Self.model)))
        let context = container.viewContext
        let object = building(context, "A", plan: Data(repeating: 1, count: 9000))
        try context.save()
        try context.setQueryGeneration(from: .current)
        #expect(try context.count(for: buildings) == 1)
        let id = object.objectID
        try await container.performBackgroundTask { other in
            let same = try other.existingObject(with: id)
            same["plan"] = Data(repeating: 2, count: 9000)
            try other.save()
        }
        #expect(
            try await collect(object.valueStream(forKey: "plan")) == Data(repeating: 1, count: 9000)
        )
        try context.setQueryGeneration(from: nil)
        #expect(
            try await collect(object.valueStream(forKey: "plan")) == Data(repeating: 2, count: 9000)
        )
    }
}
