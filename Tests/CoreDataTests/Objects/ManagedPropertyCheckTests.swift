// Classes that do not declare what the model has.

import CairnTestSupport
import CoreData
import Testing

@Suite("Classes compared with a model")
struct ManagedPropertyCheckTests {
    @Test("everything that does not fit is said when a store is opened")
    func misfits() throws {
        let message = try #require(throws: (any Error).self) {
            try Stack.inMemory(Misfit.model())
        }
        let text = "\(message as NSError) \(message.localizedDescription)"
        for sentence in [
            "Misfit.titel: the entity Misfit has no property titel; it has: title, stars, one, many, list",
            "Misfit.stars: the attribute of the entity Misfit is of type integer16, which a Optional<String> cannot hold",
            "Misfit.one: the relationship of the entity Misfit leads to objects of the class Other, which are no Note",
            "Misfit.many: the relationship of the entity Misfit is to-many: its type is NSSet?, or Set<Other>, not Other",
            "Misfit.list: the relationship of the entity Misfit is ordered: its type is NSOrderedSet?, or [Other], not NSSet",
            "Misfit.addToNone: the entity Misfit has no relationship none; it has: one, many, list",
            "Misfit.addToOne: the relationship one of the entity Misfit is to-one",
            "Misfit.insertIntoMany: the relationship many of the entity Misfit is not ordered",
        ] {
            #expect(text.contains(sentence), "\(text)")
        }
        #expect(!text.contains("Misfit.title:"))
    }

    @Test("classes that a model does not name are none of its business")
    func others() throws {
        _ = try Stack.inMemory(Notes.model())
        let model = Notes.model()
        for entity in model.entities { entity.managedObjectClassName = nil }
        _ = try Stack.inMemory(model)
    }

    @Test("classes are those of the current version of a model")
    func versions() throws {
        try withTemporaryDirectory { folder in
            let models = folder.url("Grown.xcdatamodeld")
            for (version, attributes) in [("Grown", ["title"]), ("Grown 2", ["title", "extra"])] {
                let place = models.appendingPathComponent("\(version).xcdatamodel")
                try FileManager.default.createDirectory(
                    at: place, withIntermediateDirectories: true)
                let lines = attributes.map {
                    "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>"
                }
                try """
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Grown" representedClassName="Grown">\(lines.joined())</entity></model>
                """.write(
                    to: place.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
            }
            func open(_ version: String, current: String) throws {
                try """
                <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
                <key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string></dict></plist>
                """.write(
                    to: models.appendingPathComponent(".xccurrentversion"), atomically: true,
                    encoding: .utf8)
                let url = models.appendingPathComponent("\(version).xcdatamodel")
                _ = try Stack.inMemory(try #require(NSManagedObjectModel(contentsOf: url)))
            }
            try open("Grown", current: "Grown 2")
            try open("Grown 2", current: "Grown 2")
            #expect(throws: (any Error).self) { try open("Grown", current: "Grown") }
        }
    }

    @Test("a property that the entity does not have ends the program")
    func unchecked() async {
        await #expect(processExitsWith: .failure) {
            let context = try Notes.context()
            context.performAndWait {
                _ = Note(context: context).value(forKey: "nothing")
            }
        }
    }
}

class Other: NSManagedObject {}

final class Grown: NSManagedObject {
    @CoreData.NSManaged var title: String?
    @CoreData.NSManaged var extra: String?
}

class Misfit: NSManagedObject {
    @CoreData.NSManaged var title: String?
    @CoreData.NSManaged var titel: String?
    @CoreData.NSManaged var stars: String?
    @CoreData.NSManaged var one: Note?
    @CoreData.NSManaged var many: Other?
    @CoreData.NSManaged var list: NSSet?

    @CoreData.NSManagedAccessor func addToNone(_ value: Other)
    @CoreData.NSManagedAccessor func addToOne(_ value: Other)
    @CoreData.NSManagedAccessor func insertIntoMany(_ value: Other, at idx: Int)

    static func model() -> NSManagedObjectModel {
        let misfit = Notes.entity("Misfit", Misfit.self)
        let other = Notes.entity("Other", Other.self)
        misfit.properties = [
            Notes.attribute("title", .stringAttributeType),
            Notes.attribute("stars", .integer16AttributeType),
        ]
        Notes.relate(misfit, "one", .one, other, "a", .one)
        Notes.relate(misfit, "many", .many, other, "b", .one)
        Notes.relate(misfit, "list", .ordered, other, "c", .one)
        let model = NSManagedObjectModel()
        model.entities = [misfit, other]
        return model
    }
}
