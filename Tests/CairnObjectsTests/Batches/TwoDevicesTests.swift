// Two devices that write without knowing of one another, and then bring each other what they have.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Two devices")
struct TwoDevicesTests {
    private static let model: ManagedObjectModel = {
        func entity(_ name: String) -> EntityDescription {
            EntityDescription(
                name,
                attributes: [
                    AttributeDescription("globalID", .string),
                    AttributeDescription("text", .string),
                ], uniquenessConstraints: [["globalID"]])
        }
        return ManagedObjectModel(entities: [entity("Note"), entity("Tag")])
    }()

    /// Brings all objects of one device to another; what is there already gets the values that come.
    private func bring(_ entity: String, from: Stack, to: Stack) throws -> BatchInsertResult {
        let rows = try from.context().all(entity, sortedBy: "globalID").map { object in
            ["globalID": object.string("globalID") ?? "", "text": object.string("text") ?? ""]
                as [String: Any]
        }
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = .mergeByPropertyObjectTrump
        return try to.store.execute(request)
    }

    @Test(
        "B179: the same object inserted on two devices with the same global identifier is one object after merging; with different entities they stay two",
        arguments: Backend.allCases)
    func merging(_ backend: Backend) throws {
        let (first, second) = try (Stack(Self.model, backend), Stack(Self.model, backend))
        let kept = try first.store { context in
            [
                context.make("Note", ["globalID": "A", "text": "from the first"]),
                context.make("Note", ["globalID": "X", "text": "a note"]),
            ]
        }
        _ = try second.store { context in
            [
                context.make("Note", ["globalID": "A", "text": "from the second"]),
                context.make("Tag", ["globalID": "X", "text": "a tag"]),
            ]
        }
        for entity in ["Note", "Tag"] {
            _ = try bring(entity, from: second, to: first)
            _ = try bring(entity, from: first, to: second)
        }
        for (device, stack) in [first, second].enumerated() {
            let context = stack.context()
            let notes = try context.all("Note", sortedBy: "globalID")
            #expect(notes.map { $0.string("globalID") } == ["A", "X"])
            #expect(notes.map { $0.string("text") } == ["from the second", "a note"])
            let tags = try context.all("Tag", sortedBy: "globalID")
            #expect(tags.map { $0.string("text") } == ["a tag"])
            // Whoever was there first is who it was.
            if device == 0 { #expect(notes.map(\.objectID) == kept) }
        }
        // Again nothing happens.
        #expect(try bring("Note", from: first, to: second).unchangedCount == 2)
    }
}
