// One model of several, and the version that a store was made with.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Merging models and finding versions")
struct ModelMergingTests {
    private static func entity(_ name: String, _ attributes: String..., under parent: String? = nil)
        -> EntityDescription
    {
        var entity = EntityDescription(name, attributes: attributes.map { .init($0, .string) })
        entity.superentityName = parent
        return entity
    }

    @Test("Merged models have what all of them have, once")
    func merged() throws {
        var one = ManagedObjectModel(entities: [Self.entity("A", "x"), Self.entity("B")])
        one.configurations = ["Both": ["A"], "One": ["B"]]
        one.versionIdentifiers = ["1"]
        var two = ManagedObjectModel(entities: [Self.entity("A", "x"), Self.entity("C")])
        two.configurations = ["Both": ["A", "C"]]
        two.versionIdentifiers = ["1", "2"]
        let merged = try ManagedObjectModel(merging: [one, two])
        #expect(merged.entities.map(\.name) == ["A", "B", "C"])
        #expect(merged.configurations == ["Both": ["A", "C"], "One": ["B"]])
        #expect(merged.versionIdentifiers == ["1", "2"])
        #expect(try ManagedObjectModel(merging: []) == ManagedObjectModel())
        two.entities[0].attributes = []
        let error = #expect(throws: ModelError.self) {
            _ = try ManagedObjectModel(merging: [one, two])
        }
        #expect(error?.code == .duplicateName && error?.element == "A")
    }

    @Test("A model is put together from entities of several versions by their hashes")
    func byHashes() throws {
        let old = ManagedObjectModel(entities: [
            Self.entity("A", "x"), Self.entity("B", under: "A"), Self.entity("C", "y"),
        ])
        var new = old
        new.entities[0].attributes.append(.init("z", .string))
        var mixed = old
        mixed.entities[2] = Self.entity("C", "y", "w")
        let other = ManagedObjectModel(entities: [mixed.entities[2]])
        let hashes = mixed.entityVersionHashesByName
        let found = try #require(
            ManagedObjectModel(merging: [new, other, old], forEntityVersionHashes: hashes))
        #expect(Set(found.entities.map(\.name)) == ["A", "B", "C"])
        #expect(found.entityVersionHashesByName == hashes)
        // B is another one under another A.
        #expect(ManagedObjectModel(merging: [new, other], forEntityVersionHashes: hashes) == nil)
        #expect(ManagedObjectModel(merging: [], forEntityVersionHashes: hashes) == nil)
    }

    @Test("The version with given hashes is found, also beside one that cannot be read")
    func versions() throws {
        try withTemporaryDirectory { folder in
            let path = folder.url("Shop.xcdatamodeld")
            func write(_ name: String, _ text: Data) throws {
                let inner = path.appendingPathComponent("\(name).xcdatamodel")
                try FileManager.default.createDirectory(
                    at: inner, withIntermediateDirectories: true)
                try text.write(to: inner.appendingPathComponent("contents"))
            }
            try write("Shop", ModelText.file("<entity name=\"A\"/>"))
            try write("Shop 2", ModelText.file("<entity name=\"B\"/>"))
            let versions = try ModelVersions(contentsOfFile: path.path)
            for name in ["Shop", "Shop 2"] {
                let model = try versions.read(name).model
                let found = try versions.readVersion(
                    withEntityVersionHashes: model.entityVersionHashesByName)
                #expect(found?.model == model)
            }
            #expect(try versions.readVersion(withEntityVersionHashes: [:]) == nil)
            try write("Shop 3", Data("<model".utf8))
            let more = try ModelVersions(contentsOfFile: path.path)
            let hashes = try more.read("Shop 2").model.entityVersionHashesByName
            #expect(
                try more.readVersion(withEntityVersionHashes: hashes)?.model.entities.count == 1)
            #expect(throws: ModelError.self) {
                _ = try more.readVersion(withEntityVersionHashes: [:])
            }
        }
    }
}
