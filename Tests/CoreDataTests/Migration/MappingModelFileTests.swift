// Mapping models from Xcode among the resources of a program.

import CairnTestSupport
import CoreData
import Foundation
import Testing

@Suite("Mapping models of files")
struct MappingModelFileTests {
    /// A bundle with two versions of a model, and the mapping model between them.
    private struct Resources {
        let folder: TemporaryDirectory
        let bundle: Bundle

        init() throws {
            folder = try TemporaryDirectory()
            for (version, attribute) in [("Shop", "name"), ("Shop 2", "title")] {
                try Self.write(
                    """
                    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                        <entity name="Thing" representedClassName="NSManagedObject">
                            <attribute name="\(attribute)" optional="YES" attributeType="String"/>
                        </entity>
                    </model>
                    """,
                    to: folder.url("Shop.xcdatamodeld/\(version).xcdatamodel/contents"))
            }
            let mapping = MappingText([
                .init(
                    from: "Thing", to: "Thing",
                    [.attribute("title", .function("uppercase:", [.source("name")]))])
            ])
            try Self.write(mapping.xml, to: folder.url("Titles.xcmappingmodel/xcmapping.xml"))
            bundle = try #require(Bundle(url: folder.url))
        }

        private static func write(_ text: String, to url: URL) throws {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }

        func model(_ version: String) throws -> NSManagedObjectModel {
            try #require(
                NSManagedObjectModel(
                    contentsOf: folder.url("Shop.xcdatamodeld/\(version).xcdatamodel")))
        }
    }

    @Test("the mapping model between two versions is found, and no other way round")
    func found() throws {
        let resources = try Resources()
        let (first, second) = (try resources.model("Shop"), try resources.model("Shop 2"))
        let mapping = try #require(
            NSMappingModel(
                from: [resources.bundle], forSourceModel: first, destinationModel: second))
        #expect(mapping.entityMappings.map(\.name) == ["ThingToThing"])
        let title = mapping.entityMappingsByName["ThingToThing"]?.attributeMappings?.first
        #expect(title?.name == "title")
        #expect(title?.valueExpression == NSExpression(format: "uppercase:($source.name)"))
        let file = resources.folder.url("Titles.xcmappingmodel")
        #expect(mapping == NSMappingModel(contentsOf: file))
        #expect(
            NSMappingModel(
                from: [resources.bundle], forSourceModel: second, destinationModel: first) == nil)
        #expect(
            NSMappingModel(
                from: [resources.bundle], forSourceModel: first, destinationModel: first) == nil)
    }

    @Test("a store is migrated by the file, and a compiled one stands for its source")
    func migrated() throws {
        let resources = try Resources()
        let (first, second) = (try resources.model("Shop"), try resources.model("Shop 2"))
        let url = resources.folder.url("Shop.sqlite")
        let container = try Stack.onDisk(first, at: url)
        let thing = NSEntityDescription.insertNewObject(
            forEntityName: "Thing", into: container.viewContext)
        thing.setValue("spoon", forKey: "name")
        try container.viewContext.save()
        try container.persistentStoreCoordinator.remove(
            container.persistentStoreCoordinator.persistentStores[0])
        let mapping = try #require(
            NSMappingModel(contentsOf: resources.folder.url("Titles.cdm")))
        let new = resources.folder.url("New.sqlite")
        try NSMigrationManager(sourceModel: first, destinationModel: second).migrateStore(
            from: url, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
        let migrated = try Stack.onDisk(second, at: new)
        #expect(try migrated.viewContext.texts("title", of: "Thing") == ["SPOON"])
        #expect(NSMappingModel(contentsOf: nil) == nil)
        #expect(NSMappingModel(contentsOf: resources.folder.url("Missing.cdm")) == nil)
    }
}
