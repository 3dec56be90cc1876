// Spellings of public code bases that once did not compile, or failed.

import CoreData
import Testing

@Suite("What public code does with objects and stores")
struct PortedSourceTests {
    @Test("a class makes objects by its own type, also in extensions and generic functions")
    func ownType() throws {
        let context = try Notes.context()
        context.performAndWait {
            let notes = [
                Note.made(in: context), Note.inserted(in: context), make(in: context) as Note,
            ]
            #expect(notes.allSatisfy { $0.entity.name == "Note" && $0.isInserted })
        }
    }

    @Test("a request becomes one with results of another type, and is a copy")
    func requests() {
        let request = NSFetchRequest<Note>(entityName: "Note")
        request.fetchLimit = 3
        let other = NSFetchRequest<NSFetchRequestResult>(request)
        other.fetchLimit = 5
        #expect(other.entityName == "Note")
        #expect(request.fetchLimit == 3)
    }

    @Test("contexts and coordinators are made without arguments")
    func plain() {
        #expect(NSManagedObjectContext().concurrencyType == .confinementConcurrencyType)
        #expect(NSPersistentStoreCoordinator().managedObjectModel.entities.isEmpty)
    }

    @Test("a uniqueness constraint of no properties is none")
    func emptyConstraint() throws {
        let model = Notes.model()
        for entity in model.entities { entity.uniquenessConstraints = [[]] }
        _ = try Stack.inMemory(model)
    }

    @Test("properties in a public extension; a decimal number of a whole one")
    func publicExtension() throws {
        let entity = Notes.entity("Wage", Wage.self)
        entity.properties = [Notes.attribute("amount", .integer64AttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let context = try Stack.inMemory(model).viewContext
        let wage = Wage(context: context)
        wage.setValue(7, forKey: "amount")
        #expect(wage.amount == 7)
    }

    @Test("a default of a transformable attribute is an object")
    func transformableDefault() throws {
        ValueTransformer.setValueTransformer(Shouting(), forName: .init("Shouting"))
        let entity = Notes.entity("Cry", NSManagedObject.self)
        let word = Notes.attribute("word", .transformableAttributeType)
        word.valueTransformerName = "Shouting"
        word.defaultValue = "hello" as NSString
        entity.properties = [word]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let context = try Stack.inMemory(model).viewContext
        let cry = NSEntityDescription.insertNewObject(forEntityName: "Cry", into: context)
        #expect(cry.value(forKey: "word") as? String == "hello")
    }

    @Test("a coordinator opens stores of a model that the classes do not fit; a container does not")
    func olderModel() throws {
        let entity = Notes.entity("Wage", Wage.self)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(throws: (any Error).self) { try Stack.inMemory(model) }
    }

    private func make<T: NSManagedObject>(in context: NSManagedObjectContext) -> T {
        T(context: context)
    }
}

/// Wages, in whole numbers.
public class Wage: NSManagedObject {}

public extension Wage {
    @CoreData.NSManaged var amount: NSDecimalNumber
}

extension Note {
    class func made(in context: NSManagedObjectContext) -> Self { self.init(context: context) }
    static func inserted(in context: NSManagedObjectContext) -> Self { Self(context: context) }
}

/// Stores texts in capitals that are small again when they are read.
final class Shouting: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? String)?.uppercased().data(using: .utf8)
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).flatMap { String(data: $0, encoding: .utf8) }?.lowercased()
    }
}
