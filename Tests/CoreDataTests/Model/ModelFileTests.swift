// Models of files and bundles.

import CoreData
import Testing

@Suite("Models of files")
struct ModelFileTests {
    /// A folder of its own for a test.
    final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        /// Writes versions of a model that has one entity, each with an attribute more.
        func write(_ name: String, versions: [String], current: String) throws {
            let model = url.appendingPathComponent("\(name).xcdatamodeld")
            for (count, version) in versions.enumerated() {
                let attributes = (0...count).map {
                    "<attribute name=\"a\($0)\" optional=\"YES\" attributeType=\"String\"/>"
                }
                let folder = model.appendingPathComponent("\(version).xcdatamodel")
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true)
                let xml = """
                    <?xml version="1.0" encoding="UTF-8"?>
                    <model userDefinedModelVersionIdentifier="\(version)">
                    <entity name="\(name)Thing">\(attributes.joined())</entity></model>
                    """
                try Data(xml.utf8).write(to: folder.appendingPathComponent("contents"))
            }
            let list = """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
                <string>\(current).xcdatamodel</string></dict></plist>
                """
            try Data(list.utf8).write(to: model.appendingPathComponent(".xccurrentversion"))
        }
    }

    @Test("where a compiled model is named its source is read")
    func source() throws {
        let folder = try Folder()
        try folder.write("Shop", versions: ["Shop", "Shop 2"], current: "Shop 2")
        let compiled = folder.url.appendingPathComponent("Shop.momd")
        let model = try #require(NSManagedObjectModel(contentsOf: compiled))
        #expect(model.versionIdentifiers == ["Shop 2"])
        #expect(model.entities[0].properties.map(\.name) == ["a0", "a1"])
        let first = compiled.appendingPathComponent("Shop.mom")
        #expect(
            NSManagedObjectModel(contentsOf: first)?.entities[0].properties.map(\.name) == ["a0"])
        let sums = try NSManagedObjectModel.checksumsForVersionedModel(at: compiled)
        #expect(sums["Shop 2"] == model.versionChecksum)
        #expect(Set(sums.keys) == ["Shop", "Shop 2"])
    }

    @Test(
        "what a model says for Spotlight is kept, and read where it is an expression",
        arguments: [("", "nil"), ("a0", "a0"), ("uppercase:(", "nil")])
    func spotlight(_ text: String, _ expected: String) throws {
        let folder = try Folder()
        let version = folder.url.appendingPathComponent("Spot.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model userDefinedModelVersionIdentifier="">
            <entity name="SpotThing" coreSpotlightDisplayNameExpression="\(text)">
            <attribute name="a0" optional="YES" attributeType="String"/></entity></model>
            """
        try Data(xml.utf8).write(to: version.appendingPathComponent("contents"))
        let model = try #require(NSManagedObjectModel(contentsOf: version))
        let entity = model.entities[0]
        #expect(entity.coreSpotlightDisplayNameExpression.description == expected)
        entity.coreSpotlightDisplayNameExpression = NSExpression(format: "lowercase(a0)")
        #expect(entity.coreSpotlightDisplayNameExpression == NSExpression(format: "lowercase(a0)"))
        entity.coreSpotlightDisplayNameExpression = NSExpression(forConstantValue: nil)
        #expect(entity.coreSpotlightDisplayNameExpression.constantValue == nil)
    }

    @Test("a model that is not there is nil")
    func missing() throws {
        let folder = try Folder()
        #expect(
            NSManagedObjectModel(contentsOf: folder.url.appendingPathComponent("No.momd")) == nil)
        let broken = folder.url.appendingPathComponent("Broken.mom")
        try Data("no archive".utf8).write(to: broken)
        #expect(NSManagedObjectModel(contentsOf: broken) == nil)
        #expect(throws: (any Error).self) {
            try NSManagedObjectModel.checksumsForVersionedModel(at: broken)
        }
    }

    @Test("a bundle has the sources of compiled models")
    func bundle() throws {
        let folder = try Folder()
        try folder.write("Shop", versions: ["Shop", "Shop 2"], current: "Shop 2")
        try folder.write("Staff", versions: ["Staff"], current: "Staff")
        let bundle = try #require(Bundle(url: folder.url))
        let url = try #require(bundle.url(forResource: "Shop", withExtension: "momd"))
        #expect(url.lastPathComponent == "Shop.xcdatamodeld")
        #expect(bundle.path(forResource: "Shop", ofType: "momd") == url.path)
        #expect(bundle.url(forResource: "None", withExtension: "momd") == nil)
        #expect(bundle.url(forResource: "None", withExtension: "txt") == nil)
        let version = try #require(
            bundle.url(forResource: "Shop", withExtension: "mom", subdirectory: "Shop.momd"))
        #expect(NSManagedObjectModel(contentsOf: version)?.entities[0].properties.count == 1)
        let versions = bundle.urls(forResourcesWithExtension: "mom", subdirectory: "Shop.momd")
        #expect(
            versions?.map { $0.deletingPathExtension().lastPathComponent } == ["Shop 2", "Shop"])
        #expect(bundle.urls(forResourcesWithExtension: "momd", subdirectory: nil)?.count == 2)

        let merged = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
        #expect(Set(merged.entitiesByName.keys) == ["ShopThing", "StaffThing"])
        // An old store, whose entities are of versions that are not the current ones.
        let old = try #require(
            NSManagedObjectModel(
                contentsOf: folder.url.appendingPathComponent("Shop.momd/Shop.mom")))
        let metadata = [NSStoreModelVersionHashesKey: old.entityVersionHashesByName]
        let found = try #require(
            NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata))
        #expect(found.entities == old.entities)
        #expect(!merged.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(
            NSManagedObjectModel.mergedModel(
                from: [bundle],
                forStoreMetadata: [NSStoreModelVersionHashesKey: ["Other": Data([1])]]) == nil)
    }

    @Test("references name a version and its checksum")
    func references() throws {
        let folder = try Folder()
        try folder.write("Shop", versions: ["Shop", "Shop 2"], current: "Shop 2")
        let bundle = try #require(Bundle(url: folder.url))
        let file = folder.url.appendingPathComponent("Shop.momd/Shop.mom")
        let model = try #require(NSManagedObjectModel(contentsOf: file))
        let sum = model.versionChecksum
        for reference in [
            NSManagedObjectModelReference(model: model, versionChecksum: sum),
            NSManagedObjectModelReference(fileURL: file, versionChecksum: sum),
            NSManagedObjectModelReference(
                entityVersionHashes: model.entityVersionHashesByName, in: bundle,
                versionChecksum: sum),
            NSManagedObjectModelReference(name: "Shop", in: bundle, versionChecksum: sum),
        ] {
            #expect(reference.versionChecksum == sum)
            #expect(reference.resolvedModel == model)
        }
    }

    @Test("models are merged, and what contradicts is refused")
    func merging() async throws {
        let one = ModelInCodeTests.library()
        one.entities[0].userInfo = ["number": 1]
        let other = NSManagedObjectModel()
        let shelf = NSEntityDescription()
        shelf.name = "Shelf"
        other.entities = [shelf]
        let merged = try #require(NSManagedObjectModel(byMerging: [one, other]))
        #expect(merged.entities.map(\.name) == ["Author", "Book", "Shelf"])
        #expect(merged.entities[0].userInfo?["number"] as? Int == 1)
        #expect(
            merged.entitiesByName["Book"]?.relationshipsByName["author"]?.destinationEntity
                === merged.entitiesByName["Author"])
        // The models are what they were.
        #expect(other.entities[0].managedObjectModel === other)
        await #expect(processExitsWith: .failure) {
            let other = ModelInCodeTests.library()
            other.entities[0].isAbstract = true
            _ = NSManagedObjectModel(byMerging: [ModelInCodeTests.library(), other])
        }
    }
}
