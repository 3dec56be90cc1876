// What metadata say of the version of the model.

import Cairn
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
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
        var strict = LogStoreOptions()
        strict.shouldMigrateStoreAutomatically = false
        let error = #expect(throws: StoreError.self) {
            _ = try PersistentContainer(at: path, model: changed, options: strict)
        }
        #expect(error?.code == .incompatibleModel)
    }

    @Test(
        "B148: who opens a store with another model is told what differs, by code 134100 and in words"
    )
    func words() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store")
        let model = Self.model()
        try PersistentContainer(at: path, model: model).store.close()
        // An equal model, in another order, opens it.
        var same = model
        same.entities.reverse()
        try PersistentContainer(at: path, model: same).store.close()
        let metadata = try PersistentContainer.metadata(forPersistentStoreAt: path)
        try same.checkConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        let other = Self.model(.integer32)
        let error = #expect(throws: StoreError.self) {
            try other.checkConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        #expect(error?.code == .incompatibleModel && error?.code.rawValue == 134_100)
        #expect(
            error?.message
                == "the store has another version of the model: Building.floors: attribute changed from integer16 to integer32"
        )
        let mismatch = try #require(error?.cause as? ModelMismatch)
        #expect(mismatch.storeHashes == model.entityVersionHashesByName)
        #expect(mismatch.modelHashes == other.entityVersionHashesByName)
        #expect(mismatch.entities == ["Building", "House"])
        #expect(mismatch.plan?.inferability == .yes)
        // The same is the cause when the store is opened, and is not to follow.
        var options = LogStoreOptions()
        options.shouldMigrateStoreAutomatically = false
        let opening = #expect(throws: StoreError.self) {
            _ = try PersistentContainer(at: path, model: other, options: options)
        }
        #expect(opening?.code == .incompatibleModel)
        #expect((opening?.cause as? ModelMismatch)?.changes == mismatch.changes)
        try other.checkConfiguration(
            withName: "Streets", compatibleWithStoreMetadata: metadata)
        let houses = #expect(throws: StoreError.self) {
            try other.checkConfiguration(withName: "Houses", compatibleWithStoreMetadata: metadata)
        }
        // What differs is what House inherits.
        #expect((houses?.cause as? ModelMismatch)?.changes == mismatch.changes)
        let none = #expect(throws: StoreError.self) {
            try other.checkConfiguration(withName: "Nothing", compatibleWithStoreMetadata: metadata)
        }
        #expect(none?.code == .invalidRequest)
    }

    @Test(
        "B149: a change in a subentity changes only its own version hash, and the store is another's all the same"
    )
    func subentity() throws {
        let model = Self.model()
        var changed = model
        changed.entities[1].attributes[0].isOptional = false
        changed.entities[1].attributes[0].defaultValue = .integer(1)
        let (old, new) = (model.entityVersionHashesByName, changed.entityVersionHashesByName)
        #expect(old.keys.filter { old[$0] != new[$0] } == ["House"])
        let metadata = StoreMetadata(type: "x", identifier: UUID(), model: model)
        #expect(!changed.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test("What can be inferred gives a plan, and what cannot an error that names each change")
    func inferring() throws {
        let model = Self.model()
        var wide = model
        wide.entities[0].attributes[1].type = .integer32
        #expect(try ModelMigrationPlan.inferred(from: model, to: wide).changes.count == 1)
        var other = model
        other.entities[0].attributes[1].type = .string
        let error = #expect(throws: StoreError.self) {
            _ = try ModelMigrationPlan.inferred(from: model, to: other)
        }
        #expect(error?.code.rawValue == 134_190)
        #expect(error?.details.map(\.context.key) == ["floors"])
        #expect(error?.details.map(\.context.entity) == ["Building"])
        other.entities[0].superentityName = "Nobody"
        let wrong = #expect(throws: StoreError.self) {
            _ = try ModelMigrationPlan.inferred(from: model, to: other)
        }
        #expect(wrong?.code == .invalidRequest && wrong?.cause is ModelError)
    }

    @Test(
        "The version that a store was made with is found among those of a model, and put together from several"
    )
    func source() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.url("Shop.xcdatamodeld")
        for (name, entity) in [("Shop", "A"), ("Shop 2", "B")] {
            let inner = folder.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
            try Data("<model><entity name=\"\(entity)\"/></model>".utf8)
                .write(to: inner.appendingPathComponent("contents"))
        }
        let versions = try ModelVersions(contentsOf: folder)
        let old = try versions.read("Shop").model
        func metadata(_ model: ManagedObjectModel) -> StoreMetadata {
            StoreMetadata(type: "x", identifier: UUID(), model: model)
        }
        #expect(try versions.readVersion(forStoreMetadata: metadata(old)).model == old)
        let error = #expect(throws: StoreError.self) {
            _ = try versions.readVersion(forStoreMetadata: metadata(Self.model()))
        }
        #expect(error?.code.rawValue == 134_130 && error?.message.contains("Shop, Shop 2") == true)
        let both = try ManagedObjectModel(merging: [old, versions.read("Shop 2").model])
        #expect(
            try ManagedObjectModel(
                merging: [versions.read("Shop 2").model, old], forStoreMetadata: metadata(both))?
                .entities.count == 2)
    }
}
