// What metadata say of the version of the model.

import Cairn
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@Suite("Version hashes in metadata")
@MainActor
struct MetadataHashesTests {
    private static func model(_ floors: AttributeType = .integer16) -> ManagedObjectModel {
        var house = EntityDescription("House", attributes: [.init("rooms", .integer16)])
        house.superentityName = "Building"
        var model = ManagedObjectModel(entities: [
            EntityDescription(
                "Building", attributes: [.init("name", .string), .init("floors", floors)],
                uniquenessConstraints: [["name"]]),
            house, EntityDescription("Street", attributes: [.init("name", .string)]),
        ])
        model.versionIdentifiers = ["1"]
        model.configurations = ["Streets": ["Street"], "Houses": ["House", "Street"]]
        return model
    }

    @Test("A store has the hashes of its model, open and not", arguments: Backend.allCases)
    func hashes(backend: Backend) throws {
        let model = Self.model()
        let container = PersistentContainer(store: try backend.makeStore(Schema(model)))
        try container.setMetadata(
            ["token": .string("a"), StoreMetadata.Key.type: .string("mine")])
        let metadata = try container.metadata()
        #expect(metadata.modelVersionHashes == model.entityVersionHashesByName)
        #expect(metadata.modelVersionHashes.count == 3)
        let all = metadata.dictionary
        #expect(
            Set(all.keys) == [
                "token", "NSStoreType", "NSStoreUUID", "NSStoreModelVersionHashes",
                "NSStoreModelVersionIdentifiers", "NSStoreModelVersionChecksumKey",
            ])
        #expect(all["token"] as? String == "a")
        #expect(all["NSStoreType"] as? String == metadata.type)
        #expect(all["NSStoreUUID"] as? String == metadata.identifier.uuidString)
        #expect(
            all["NSStoreModelVersionHashes"] as? [String: Data]
                == model.entityVersionHashesByName)
        #expect(all["NSStoreModelVersionIdentifiers"] as? [String] == ["1"])
        #expect(all["NSStoreModelVersionChecksumKey"] as? String == model.versionChecksum)
    }

    @Test("A model knows the stores that it can open by their metadata")
    func compatible() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store")
        let model = Self.model()
        try PersistentContainer(at: path, model: model).store.close()
        let metadata = try PersistentContainer.metadata(forPersistentStoreAt: path)
        #expect(metadata.modelVersionHashes == model.entityVersionHashesByName)
        func isCompatible(_ model: ManagedObjectModel, _ name: String? = nil) -> Bool {
            model.isConfiguration(withName: name, compatibleWithStoreMetadata: metadata)
        }
        #expect(isCompatible(model))
        var other = model
        other.entities.reverse()
        other.entities[0].attributes[0].defaultValue = .string("x")
        #expect(isCompatible(other))
        // B149: an entity that inherits differs if what it inherits does.
        let changed = Self.model(.integer32)
        #expect(!isCompatible(changed))
        #expect(isCompatible(changed, "Streets") && !isCompatible(changed, "Houses"))
        #expect(isCompatible(model, "Houses") && !isCompatible(model, "Nothing"))
        other.entities.removeAll { $0.name == "Street" }
        #expect(!isCompatible(other))
        let error = #expect(throws: StoreError.self) {
            _ = try PersistentContainer(at: path, model: changed)
        }
        #expect(error?.code == .incompatibleModel)
    }
}
