// The classes that models name as texts.

import CoreData
import Testing

private final class HiddenGadget: NSManagedObject {}
final class UniqueGadget: NSManagedObject {}
final class RenamedGadget: NSManagedObject {}
final class TwiceGadget: NSManagedObject {}
final class UnclaimedGadget: NSManagedObject {}
class GadgetBase: NSManagedObject {}
final class GadgetChild: GadgetBase {}

@Suite("Classes of entities")
struct EntityClassTests {
    enum Inner {
        final class TwiceGadget: NSManagedObject {}
        final class NestedGadget: NSManagedObject {}
        final class AmbiguousGadget: NSManagedObject {}
    }

    enum Other {
        final class AmbiguousGadget: NSManagedObject {}
    }

    private func made(_ name: String?) throws -> NSManagedObject {
        let model = NSManagedObjectModel()
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.managedObjectClassName = name
        model.entities = [entity]
        let container = try Stack.inMemory(model)
        return NSEntityDescription.insertNewObject(
            forEntityName: "Thing", into: container.viewContext)
    }

    @Test("are found without a module, with a module and with the module of the product")
    func names() throws {
        #expect(try made("UniqueGadget") is UniqueGadget)
        #expect(try made(".UniqueGadget") is UniqueGadget)
        #expect(try made("CoreDataTests.UniqueGadget") is UniqueGadget)
        #expect(try made(NSStringFromClass(UniqueGadget.self)) is UniqueGadget)
        #expect(try made(String(describing: UniqueGadget.self)) is UniqueGadget)
    }

    @Test("of the product's module have their full names, as in a compiled model")
    func fullNames() throws {
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.managedObjectClassName = ".UniqueGadget"
        let full = NSStringFromClass(UniqueGadget.self)
        #expect(entity.managedObjectClassName == full)
        #expect(NSClassFromString(entity.managedObjectClassName) == UniqueGadget.self)
        let missing = NSEntityDescription()
        missing.name = "Other"
        missing.managedObjectClassName = ".NoSuchGadget"
        let model = NSManagedObjectModel()
        model.entities = [entity, missing]
        _ = try Stack.inMemory(model)
        #expect(entity.managedObjectClassName == full)
        #expect(missing.managedObjectClassName == ".NoSuchGadget")
    }

    @Test("are found where Foundation does not look")
    func hidden() throws {
        #expect(try made("HiddenGadget") is HiddenGadget)
        #expect(try made("NestedGadget") is Inner.NestedGadget)
        #expect(try made(NSStringFromClass(Inner.NestedGadget.self)) is Inner.NestedGadget)
        #expect(try made(NSStringFromClass(Inner.TwiceGadget.self)) is Inner.TwiceGadget)
        // The one that is in no other type.
        #expect(try made("TwiceGadget") is TwiceGadget)
    }

    @Test("that are not there, or several, are NSManagedObject")
    func missing() throws {
        #expect(type(of: try made(nil)) == NSManagedObject.self)
        #expect(type(of: try made("NSManagedObject")) == NSManagedObject.self)
        #expect(type(of: try made("NoSuchGadget")) == NSManagedObject.self)
        #expect(type(of: try made("OtherModule.UniqueGadget")) == NSManagedObject.self)
        #expect(type(of: try made("AmbiguousGadget")) == NSManagedObject.self)
        // No class of objects.
        #expect(type(of: try made("NSArray")) == NSManagedObject.self)
    }

    @Test("can be said by the program")
    func said() throws {
        NSEntityDescription.setClass(RenamedGadget.self, forClassName: "GadgetOfOldName")
        #expect(try made("GadgetOfOldName") is RenamedGadget)
    }

    @Test("of subentities need not be subclasses, and an entity without one has the base class")
    func inheritance() throws {
        let base = NSEntityDescription()
        base.name = "Base"
        base.managedObjectClassName = "GadgetBase"
        let child = NSEntityDescription()
        child.name = "Child"
        child.managedObjectClassName = "GadgetChild"
        let plain = NSEntityDescription()
        plain.name = "Plain"
        base.subentities = [child, plain]
        let model = NSManagedObjectModel()
        model.entities = [base, child, plain]
        let context = try Stack.inMemory(model).viewContext
        func type(_ name: String) -> NSManagedObject.Type {
            Swift.type(of: NSEntityDescription.insertNewObject(forEntityName: name, into: context))
        }
        #expect(type("Base") == GadgetBase.self)
        #expect(type("Child") == GadgetChild.self)
        #expect(type("Plain") == NSManagedObject.self)
        #expect(GadgetChild.entity() === child)
    }

    @Test("of no entity have one without a name, and a request for it fails")
    func unclaimed() throws {
        #expect(UnclaimedGadget.entity().name == nil)
        let request = NSFetchRequest<UnclaimedGadget>()
        request.entity = UnclaimedGadget.entity()
        let context = try Notes.context()
        #expect(throws: (any Error).self) {
            try context.performAndWait { try context.fetch(request) }
        }
    }
}
