// What is told of values that are written some bytes at a time.

import Cairn
import CairnTestSupport
import Foundation
import Observation
import StoreBackends
import Synchronization
import Testing

@Suite("Changes of values written as streams")
struct ValueWriterChangesTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription("Building", attributes: [.init("name", .string), .init("plan", .binary)])
    ])

    private static let large = patternedBytes(2_500_000)

    private static func write(_ object: ManagedObject) throws {
        let writer = try object.valueWriter(forKey: "plan")
        try writer.write(large)
        try writer.finish()
    }

    @Test(
        "The value of before the current event is the one that was written",
        arguments: Backend.allCases)
    func events(_ backend: Backend) throws {
        let context = ManagedObjectContext(store: try backend.makeStore(Schema(Self.model)))
        let object = context.make("Building", ["name": "A", "plan": Data([1])])
        try context.save()
        try Self.write(object)
        #expect(object.changedValuesForCurrentEvent()["plan"] as? Data == Data([1]))
        context.processPendingChanges()
        object["plan"] = Data([2])
        #expect(object.changedValuesForCurrentEvent()["plan"] as? Data == Self.large)
    }

    @Test("A save without changes writes metadata that wait", arguments: Backend.allCases)
    func metadata(_ backend: Backend) throws {
        let store = try backend.makeStore(Schema(Self.model))
        let keeper = try #require(store as? any MetadataStore)
        let context = ManagedObjectContext(store: store)
        try keeper.setMetadata(["a": .integer(1)])
        try ManagedObjectContext(parent: context).save()
        #expect(keeper.hasMetadataToWrite == (backend != .dictionary))
        try context.save()
        #expect(!keeper.hasMetadataToWrite)
        #expect(try keeper.metadata()["a"] == .integer(1))
    }

    @Test("Nor does one of nothing but transient edits leave them", arguments: Backend.allCases)
    func transient(_ backend: Backend) throws {
        let store = try backend.makeStore(Schema(Models.values))
        let keeper = try #require(store as? any MetadataStore)
        let context = ManagedObjectContext(store: store)
        let thing = context.make("Thing", ["size": 1, "code": "ab"])
        try context.save()
        try keeper.setMetadata(["a": .integer(1)])
        thing["cache"] = "other"
        #expect(context.hasChanges)
        try context.save()
        #expect(!keeper.hasMetadataToWrite && !context.hasChanges)
    }

    @Test("A value for an object that has gone meanwhile is refused", arguments: Backend.allCases)
    func gone(_ backend: Backend) throws {
        let store = try backend.makeStore(Schema(Self.model))
        let context = ManagedObjectContext(store: store)
        let object = context.make("Building", ["name": "A"])
        try context.save()
        let writer = try object.valueWriter(forKey: "plan")
        try writer.write(Self.large)
        let other = ManagedObjectContext(store: store)
        other.delete(other.object(with: object.objectID))
        try other.save()
        context.refresh(object, mergeChanges: false)
        #expect(object.string("name") == nil && object.isDeleted)
        let error = storeError { try writer.finish() }
        #expect(error?.code == .objectNotFound && error?.context.objectID == object.objectID)
    }

    @MainActor
    @Test("Reading a stream is observed as reading the value")
    func observed() throws {
        let container = try PersistentContainer(inMemory: Self.model)
        let object = container.viewContext.make("Building", ["name": "A", "plan": Data([1])])
        try container.viewContext.save()
        let changes = Atomic(0)
        withObservationTracking {
            _ = try? object.valueStream(forKey: "plan")
        } onChange: {
            changes.add(1, ordering: .relaxed)
        }
        object["name"] = "B"
        #expect(changes.load(ordering: .relaxed) == 0)
        try Self.write(object)
        #expect(changes.load(ordering: .relaxed) == 1)
    }
}
