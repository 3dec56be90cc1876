// Large values that are written some bytes at a time, through objects.

import Cairn
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Values written as streams")
@MainActor
struct ValueWriterTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Building",
            attributes: [
                .init("name", .string), .init("plan", .binary, optional: false),
                .init("seal", .binary), .init("floors", .integer16),
            ], uniquenessConstraints: [["name"], ["seal"]])
    ])

    /// Larger than what is put together in memory.
    private nonisolated static let large = 2_500_000

    private static func container(_ backend: Backend) throws -> PersistentContainer {
        PersistentContainer(store: try backend.makeStore(Schema(model)))
    }

    private static func building(_ context: ManagedObjectContext, _ name: String) -> ManagedObject {
        let object = context.insert("Building")
        object["name"] = name
        return object
    }

    private static func write(
        _ data: Data, to object: ManagedObject, _ key: String = "plan", chunk: Int = 400_000
    ) throws {
        let writer = try object.valueWriter(forKey: key)
        var rest = data
        while !rest.isEmpty {
            try writer.write(rest.prefix(chunk))
            rest = rest.dropFirst(chunk)
        }
        #expect(writer.count == UInt64(data.count))
        try writer.finish()
    }

    private static func stored(_ container: PersistentContainer, _ id: ObjectID) async throws
        -> Data?
    {
        try await container.performBackgroundTask { context in
            let object = try context.existingObject(with: id)
            var data = Data()
            try object.valueStream(forKey: "plan")?.forEachChunk {
                data.append($0)
                return true
            }
            #expect(object["plan"] as? Data == data)
            return data
        }
    }

    @Test(
        "An object has the value at once, and the store with the save", arguments: Backend.allCases,
        [0, 1, 100_000, 1 << 20, large])
    func written(backend: Backend, size: Int) async throws {
        let container = try Self.container(backend)
        let context = container.viewContext
        let object = Self.building(context, "A")
        let plan = patternedBytes(size)
        try Self.write(plan, to: object)
        #expect(object.hasChanges && object.isInserted)
        #expect(object["plan"] as? Data == plan)
        #expect(object.primitiveValue(forKey: "plan") as? Data == plan)
        let stream = try #require(try object.valueStream(forKey: "plan", chunkBytes: 300_000))
        #expect(stream.count == UInt64(size))
        var streamed = Data()
        for try await chunk in stream.inTime() { streamed.append(chunk) }
        #expect(streamed == plan)
        #expect(object.snapshot()["plan"] as? Data == plan)
        try context.save()
        #expect(!context.hasChanges && !object.objectID.isTemporary)
        #expect(try await Self.stored(container, object.objectID) == plan)
        #expect(object["name"] as? String == "A")
        #expect(object["plan"] as? Data == plan)
        // What is stored is replaced, and what was read of it stays.
        let other = patternedBytes(size / 2 + 1, seed: 5)
        try Self.write(other, to: object)
        #expect(object.isUpdated)
        #expect(object.committedValues(forKeys: ["plan"])["plan"] as? Data == plan)
        #expect(object.changedValues()["plan"] as? Data == other)
        try context.save()
        #expect(try await Self.stored(container, object.objectID) == other)
        #expect(try object.valueStream(forKey: "plan")?.count == UInt64(other.count))
    }

    @Test(
        "Many new objects are saved together, some with large values", arguments: Backend.allCases)
    func many(backend: Backend) async throws {
        let container = try Self.container(backend)
        let context = container.viewContext
        var objects: [ManagedObject] = []
        for number in 0..<40 {
            let object = Self.building(context, "B\(number)")
            objects.append(object)
            if number % 20 == 7 {
                try Self.write(patternedBytes(Self.large, seed: number), to: object)
            } else {
                object["plan"] = Data([UInt8(number)])
            }
        }
        try context.save()
        for (number, object) in objects.enumerated() {
            let expected =
                number % 20 == 7 ? patternedBytes(Self.large, seed: number) : Data([UInt8(number)])
            #expect(try await Self.stored(container, object.objectID) == expected)
            #expect(object["name"] as? String == "B\(number)")
        }
    }

    @Test(
        "What is rolled back, set otherwise or given up is not saved", arguments: Backend.allCases)
    func forgotten(backend: Backend) async throws {
        let container = try Self.container(backend)
        let context = container.viewContext
        let object = Self.building(context, "A")
        object["plan"] = Data([1])
        try context.save()
        let large = patternedBytes(Self.large)
        try Self.write(large, to: object)
        context.rollback()
        #expect(object["plan"] as? Data == Data([1]) && !context.hasChanges)
        try Self.write(large, to: object)
        object["plan"] = Data([2])
        try context.save()
        #expect(try await Self.stored(container, object.objectID) == Data([2]))
        let writer = try object.valueWriter(forKey: "plan")
        try writer.write(large)
        writer.cancel()
        for step in [{ try writer.write(large) }, { try writer.finish() }] {
            let error = #expect(throws: StoreError.self) { try step() }
            #expect(error?.code == .invalidRequest)
        }
        // Let go without a word.
        try object.valueWriter(forKey: "plan").write(large)
        #expect(!context.hasChanges && object["plan"] as? Data == Data([2]))
        let finished = try object.valueWriter(forKey: "plan")
        try finished.write(large)
        try finished.finish()
        finished.cancel()
        #expect(throws: StoreError.self) { try finished.write(large) }
        #expect(throws: StoreError.self) { try finished.finish() }
        context.delete(object)
        try context.save()
        #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Building")) == 0)
    }

    @Test("A step of undo takes the value back, and redo brings it", arguments: Backend.allCases)
    func undone(backend: Backend) async throws {
        let container = try Self.container(backend)
        let context = container.viewContext
        context.undoHistory = UndoHistory()
        let object = Self.building(context, "A")
        object["plan"] = Data([1])
        try context.save()
        let large = patternedBytes(Self.large)
        try Self.write(large, to: object)
        context.processPendingChanges()
        context.undo()
        #expect(object["plan"] as? Data == Data([1]))
        context.redo()
        #expect(object["plan"] as? Data == large)
        try context.save()
        #expect(try await Self.stored(container, object.objectID) == large)
        // What was saved can be taken back, and saved again.
        context.undo()
        #expect(object["plan"] as? Data == Data([1]))
        try context.save()
        context.redo()
        #expect(object["plan"] as? Data == large)
        try context.save()
        #expect(try await Self.stored(container, object.objectID) == large)
    }

    @Test("A child hands the value to its parent, which saves it", arguments: Backend.allCases)
    func children(backend: Backend) async throws {
        let container = try Self.container(backend)
        let context = container.viewContext
        let child = ManagedObjectContext(parent: context)
        let object = Self.building(child, "A")
        let large = patternedBytes(Self.large)
        try Self.write(large, to: object)
        try child.save()
        #expect(object["plan"] as? Data == large)
        let shown = try context.existingObject(with: object.objectID)
        #expect(shown["plan"] as? Data == large)
        // A second child reads what its parent has not saved.
        let sibling = ManagedObjectContext(parent: context)
        #expect(try sibling.existingObject(with: object.objectID)["plan"] as? Data == large)
        try context.save()
        #expect(try await Self.stored(container, shown.objectID) == large)
        #expect(object["plan"] as? Data == large)
        let other = patternedBytes(Self.large, seed: 3)
        try Self.write(other, to: object)
        try child.save()
        try context.save()
        #expect(try await Self.stored(container, shown.objectID) == other)
    }

    @Test(
        "A policy that merges a new object into a stored one takes the value along",
        arguments: Backend.allCases)
    func merged(backend: Backend) async throws {
        let container = try Self.container(backend)
        let context = container.viewContext
        let first = Self.building(context, "A")
        first["plan"] = Data([1])
        try context.save()
        let second = Self.building(context, "A")
        let large = patternedBytes(Self.large)
        try Self.write(large, to: second)
        #expect(throws: StoreError.self) { try context.save() }
        #expect(second["plan"] as? Data == large)
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        #expect(try await Self.stored(container, first.objectID) == large)
        #expect(first["plan"] as? Data == large)
        context.mergePolicy = .mergeByPropertyStoreTrump
        let third = Self.building(context, "A")
        try Self.write(patternedBytes(Self.large, seed: 1), to: third)
        try context.save()
        #expect(try await Self.stored(container, first.objectID) == large)
    }

    @Test("A sequence of chunks becomes the value, unless it fails", arguments: Backend.allCases)
    func sequences(backend: Backend) async throws {
        struct Broken: Error {}
        let container = try Self.container(backend)
        let context = container.viewContext
        let object = Self.building(context, "A")
        let large = patternedBytes(Self.large)
        func chunks(_ error: (any Error)? = nil) -> AsyncThrowingStream<Data, any Error> {
            AsyncThrowingStream { continuation in
                for start in stride(from: 0, to: large.count, by: 333_333) {
                    continuation.yield(large[start..<min(start + 333_333, large.count)])
                }
                continuation.finish(throwing: error)
            }
        }
        try await object.setValue(contentsOf: chunks(), forKey: "plan")
        try context.save()
        #expect(try await Self.stored(container, object.objectID) == large)
        // A stream that was read is one that can be written.
        let second = Self.building(context, "B")
        let stream = try #require(try object.valueStream(forKey: "plan"))
        try await second.setValue(contentsOf: stream, forKey: "plan")
        try context.save()
        #expect(try await Self.stored(container, second.objectID) == large)
        await #expect(throws: Broken.self) {
            try await second.setValue(contentsOf: chunks(Broken()), forKey: "plan")
        }
        #expect(!context.hasChanges && second["plan"] as? Data == large)
    }

    @Test(
        "Only binary attributes are written so; unique ones in memory", arguments: Backend.allCases)
    func refused(backend: Backend) throws {
        let context = try Self.container(backend).viewContext
        let object = Self.building(context, "A")
        for key in ["name", "floors", "nothing"] {
            let error = #expect(throws: StoreError.self) { _ = try object.valueWriter(forKey: key) }
            #expect(error?.code == .invalidRequest)
        }
        object["plan"] = Data()
        let seal = patternedBytes(Self.large)
        try Self.write(seal, to: object, "seal")
        try context.save()
        let second = Self.building(context, "B")
        second["plan"] = Data()
        try Self.write(seal, to: second, "seal")
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.code == .constraintConflict)
    }

    @Test("What is given up leaves no space in the folder, and what is saved is there once")
    func space() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store")
        let large = patternedBytes(4 * Self.large)
        func size() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: path + "/" + name)
                return sum + (attributes[.size] as? Int ?? 0)
            }
        }
        do {
            let container = try PersistentContainer(at: path, model: Self.model)
            let context = container.viewContext
            let object = Self.building(context, "A")
            for _ in 0..<3 {
                try Self.write(large, to: object)
                object["plan"] = Data()
            }
            try context.save()
            try Self.write(large, to: object)
            context.rollback()
            try container.store.close()
        }
        #expect(try size() < Self.large)
        let container = try PersistentContainer(at: path, model: Self.model)
        let object = Self.building(container.viewContext, "B")
        try Self.write(large, to: object)
        try container.viewContext.save()
        try container.store.close()
        #expect(try size() < large.count + Self.large)
    }
}
