// The classes of models in the tree.

import CairnTestSupport
import Testing

@Suite("Classes of models")
struct ModelClassesTests {
    private static let model = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Tag" representedClassName="Tag" codeGenerationType="class">
                <attribute name="name" optional="YES" attributeType="String"/>
                <attribute name="rank" attributeType="Integer 16" defaultValueString="0" usesScalarValueType="YES"/>
                <attribute name="weight" optional="YES" attributeType="Double"/>
                <attribute name="default" optional="YES" attributeType="Date"/>
                <relationship name="notes" optional="YES" toMany="YES" ordered="YES" destinationEntity="Note" inverseName="tag" inverseEntity="Note"/>
            </entity>
            <entity name="Label" representedClassName="Label" parentEntity="Tag" codeGenerationType="class"/>
            <entity name="Note" representedClassName=".Note" codeGenerationType="category">
                <relationship name="tag" optional="YES" maxCount="1" destinationEntity="Tag" inverseName="notes" inverseEntity="Tag"/>
            </entity>
            <entity name="Draft" representedClassName="Draft"/>
            <entity name="Page" representedClassName="CDPage"/>
            <entity name="Plain" representedClassName="NSManagedObject"/>
        </model>
        """
    private static let sources = """
        import CoreData
        class Note: NSManagedObject {}
        @objc(CDPage) class Page: NSManagedObject {}
        """

    private func tree() throws -> PortedTree {
        try PortedTree([
            "App/Shop.xcdatamodeld/Shop.xcdatamodel/contents": Self.model,
            "App/Note.swift": Self.sources,
        ])
    }

    @Test("Xcode's classes are written beside the model, once")
    func generated() throws {
        let tree = try tree()
        let run = tree.run("--force")
        #expect(run.code == 0)
        #expect(
            try tree.names.filter { $0.hasPrefix("App/") && $0.hasSuffix(".swift") } == [
                "App/Label+CoreDataClass.swift", "App/Label+CoreDataProperties.swift",
                "App/Note+CoreDataProperties.swift", "App/Note.swift",
                "App/Tag+CoreDataClass.swift", "App/Tag+CoreDataProperties.swift",
            ])
        #expect(
            try tree.text("App/Tag+CoreDataProperties.swift") == """
                // Written by cairn-port from Shop.xcdatamodeld: run it again after a change of the model.
                #if !canImport(ObjectiveC)
                import CoreData
                import Foundation

                extension Tag {
                    @nonobjc public class func fetchRequest() -> NSFetchRequest<Tag> {
                        return NSFetchRequest<Tag>(entityName: "Tag")
                    }

                    @CoreData.NSManaged public var name: String?
                    @CoreData.NSManaged public var rank: Int16
                    @CoreData.NSManaged public var weight: NSNumber?
                    @CoreData.NSManaged public var `default`: Date?
                    @CoreData.NSManaged public var notes: NSOrderedSet?
                }

                // MARK: Generated accessors for notes
                extension Tag {
                    @CoreData.NSManagedAccessor public func insertIntoNotes(_ value: Note, at idx: Int)
                    @CoreData.NSManagedAccessor public func removeFromNotes(at idx: Int)
                    @CoreData.NSManagedAccessor public func insertIntoNotes(_ values: [Note], at indexes: NSIndexSet)
                    @CoreData.NSManagedAccessor public func removeFromNotes(at indexes: NSIndexSet)
                    @CoreData.NSManagedAccessor public func replaceNotes(at idx: Int, with value: Note)
                    @CoreData.NSManagedAccessor public func replaceNotes(at indexes: NSIndexSet, with values: [Note])
                    @CoreData.NSManagedAccessor public func addToNotes(_ value: Note)
                    @CoreData.NSManagedAccessor public func removeFromNotes(_ value: Note)
                    @CoreData.NSManagedAccessor public func addToNotes(_ values: NSOrderedSet)
                    @CoreData.NSManagedAccessor public func removeFromNotes(_ values: NSOrderedSet)
                }

                extension Tag: Identifiable {
                }
                #endif

                """)
        let label = try tree.text("App/Label+CoreDataClass.swift")
        #expect(label.contains("public class Label: Tag {\n}"))
        #expect(!(try tree.text("App/Label+CoreDataProperties.swift").contains("Identifiable")))
        let names = try tree.names
        let again = tree.run("--force")
        #expect(again.output.contains("changed: 0 lines in 0 files; left"))
        #expect(try tree.names == names)
        #expect(again.subjects == run.subjects)
    }

    @Test("for Linux alone they have no #if, and go where they are asked to")
    func elsewhere() throws {
        let tree = try tree()
        tree.run("--force", "--linux-only", "--generated-classes", tree.folder.path("Generated"))
        let text = try tree.text("Generated/Tag+CoreDataClass.swift")
        #expect(!text.contains("#if"))
        #expect(text.contains("public class Tag: NSManagedObject {"))
    }

    @Test("missing classes are named, also those that are called otherwise in Swift")
    func missing() throws {
        let run = try tree().run("--force")
        let lines = run.output.split(separator: "\n")
        #expect(
            run.subjects == [
                "App/Shop.xcdatamodeld: the class Draft of the entity Draft",
                "App/Shop.xcdatamodeld: the class CDPage of the entity Page",
            ])
        #expect(lines.contains { $0.contains("CDPage") && $0.contains("Swift name is Page") })
        #expect(
            lines.contains { $0.contains("the class Draft") && $0.contains("do not declare it") })
    }

    @Test("a file of somebody else in the way of a class stays")
    func inTheWay() throws {
        let tree = try tree()
        try tree.write("App/Tag+CoreDataClass.swift", "// mine\n")
        let run = tree.run("--force")
        #expect(run.output.contains("App/Tag+CoreDataClass.swift: an existing file"))
        #expect(try tree.text("App/Tag+CoreDataClass.swift") == "// mine\n")
    }

    @Test("a model that is none is named with its line, and the sources are ported")
    func brokenModel() throws {
        let tree = try tree()
        try tree.write(
            "App/Shop.xcdatamodeld/Shop.xcdatamodel/contents",
            "<model>\n<entity name=\"A\">\n<attribute attributeType=\"String\"/>\n</entity>\n</model>"
        )
        let run = tree.run("--force")
        #expect(run.code == 4)
        #expect(run.output.contains("App/Shop.xcdatamodeld/Shop.xcdatamodel/contents:3: "))
        #expect(try tree.text("App/Note.swift").contains("#if canImport(ObjectiveC)"))
    }
}
