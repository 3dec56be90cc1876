// What becomes of an object: how it is made, which hooks run, what validates it.

import CoreData
import Testing

/// Compiles only if the members that objects inherit are visible to those who import CoreData alone.
@inlinable
public func isOver(_ object: NSManagedObject) -> Bool { object.isDeleted && !object.isInserted }

@Suite("The life of managed objects")
struct ObjectLifeTests {
    @Test("hooks run as Core Data's do")
    func hooks() throws {
        let context = try Notes.context()
        try context.performAndWait {
            let note = Note(context: context)
            #expect(note.hooks == ["awakeFromInsert"])
            #expect(note.isInserted)
            #expect(note.state == "new")
            note.hooks = []
            try context.save()
            #expect(note.hooks == ["willSave", "didSave"])
            #expect(!note.isInserted)
            note.hooks = []
            context.refresh(note, mergeChanges: false)
            #expect(note.isFault)
            #expect(note.faultingState != 0)
            #expect(note.hooks == ["willTurnIntoFault", "didTurnIntoFault"])
            note.hooks = []
            #expect(note.title == nil)
            #expect(note.faultingState == 0)
            #expect(note.hooks == ["awakeFromFetch"])
            note.hooks = []
            note.title = "changed"
            context.refresh(note, mergeChanges: true)
            #expect(note.hooks.contains("awake \(NSSnapshotEventType.refresh.rawValue)"))
            note.hooks = []
            context.delete(note)
            #expect(note.isDeleted)
            #expect(isOver(note))
            #expect(note.hooks == ["prepareForDeletion"])
        }
    }

    @Test("loops with a pool compile, and give what their closures give")
    func pool() throws {
        let context = try Notes.context()
        try context.performAndWait {
            for _ in 1...3 {
                try autoreleasepool {
                    let note = Note(context: context)
                    note.title = "in a loop"
                    try context.save()
                    context.reset()
                }
            }
            let count = try autoreleasepool { try context.count(for: Note.fetchRequest()) }
            #expect(count == 3)
            #expect(autoreleasepool { 7 } == 7)
        }
    }

    @Test("an object made without a context is inserted later")
    func detached() throws {
        let container = try Stack.inMemory(Notes.model())
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let entity = try #require(container.managedObjectModel.entitiesByName["Note"])
            let note = Note(entity: entity, insertInto: nil)
            #expect(note.managedObjectContext == nil)
            #expect(note.hooks == [])
            note.title = "detached"
            note.setValue(3, forKey: "stars")
            #expect(note.title == "detached")
            #expect(note.stars == 3)
            #expect(!context.hasChanges)
            context.insert(note)
            #expect(note.managedObjectContext === context)
            #expect(note.hooks == ["awakeFromInsert"])
            #expect(note.title == "detached")
            try context.save()
            #expect(try context.count(for: Note.fetchRequest()) == 1)
            #expect(!note.objectID.isTemporaryID)
        }
    }

    @Test("an object knows entity, id and context by Core Data's types")
    func identity() throws {
        let container = try Stack.inMemory(Notes.model())
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let note = try #require(
                NSEntityDescription.insertNewObject(forEntityName: "Note", into: context) as? Note)
            let entity: NSEntityDescription = note.entity
            let id: NSManagedObjectID = note.objectID
            #expect(entity === container.managedObjectModel.entitiesByName["Note"])
            #expect(id.isTemporaryID)
            #expect(id.entity === entity)
            #expect(context.registeredObject(for: id) === note)
            #expect(note.isEqual(note))
            #expect(!note.isEqual(Note(context: context)))
            #expect(note.isKind(of: NSManagedObject.self))
            #expect(!note.isKind(of: Tag.self))
            #expect(note.isMember(of: Note.self))
            #expect(Note.isSubclass(of: NSManagedObject.self))
            #expect(!Note.isSubclass(of: Tag.self))
            #expect(Note.description() == NSStringFromClass(Note.self))
            #expect("\(note)".contains("entity: Note"))
            context.refresh(note, mergeChanges: true)
        }
    }

    @Test("an object keeps the members that were read, with what the program has made of them")
    func keptMembers() throws {
        let context = try Notes.context()
        try context.performAndWait {
            let parent = Note(context: context)
            Note(context: context).parent = parent
            try context.save()
            weak var kept: Note?
            do {
                let child = try #require(parent.children?.first)
                child.hooks = ["seen"]
                kept = child
            }
            #expect(parent.children?.first?.hooks == ["seen"])
            context.refresh(parent, mergeChanges: false)
            #expect(kept == nil)
        }
    }

    @Test("objects that keep each other go with their context")
    func circle() throws {
        weak var kept: Note?
        weak var known: NSManagedObjectContext?
        do {
            let context = try Notes.context()
            known = context
            try context.performAndWait {
                let (one, other) = (Note(context: context), Note(context: context))
                one.parent = other
                other.parent = one
                try context.save()
                #expect(one.children == [other] && other.children == [one])
                kept = one
            }
            #expect(kept != nil)
        }
        #expect(known == nil)
        #expect(kept == nil)
    }

    @Test("a class validates its objects, and values one by one")
    func validation() throws {
        let context = try Stack.inMemory(Checked.model()).newBackgroundContext()
        try context.performAndWait {
            let object = Checked(context: context)
            object.name = "  spaced "
            try context.save()
            #expect(object.name == "spaced")
            object.name = "forbidden"
            #expect(throws: (any Error).self) { try context.save() }
            var value: AnyObject? = "forbidden" as AnyObject
            #expect(throws: Checked.Forbidden.self) {
                try object.validateValue(&value, forKey: "name")
            }
            object.name = "allowed"
            object.age = -1
            #expect(throws: (any Error).self) { try context.save() }
            #expect(throws: Checked.Forbidden.self) { try object.validateForUpdate() }
            object.age = 1
            try context.save()
        }
    }

    @Test("members of the base class can be overridden")
    func overriding() throws {
        let context = try Stack.inMemory(Checked.model()).newBackgroundContext()
        context.performAndWait {
            let object = Checked(context: context)
            object.setValue("x", forKey: "name")
            #expect(object.value(forKey: "name") as? String == "X")
            #expect(object.value(forKey: "unknown") as? String == "unknown?")
            #expect(object.description == "checked")
            #expect("\(object)" == "checked")
            #expect(object.wasMade)
        }
    }
}

/// A class that has more of its own.
class Checked: NSManagedObject {
    struct Forbidden: Error {}

    @CoreData.NSManaged var name: String?
    @CoreData.NSManaged var age: Int64
    let wasMade: Bool

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        wasMade = true
        super.init(entity: entity, insertInto: context)
    }

    required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {
        wasMade = true
        super.init(entity: entity, insertInto: context)
    }

    override func validateValue(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        try super.validateValue(value, forKey: key)
        guard key == "name", let name = value.pointee as? String else { return }
        if name == "forbidden" { throw Forbidden() }
        let trimmed = name.trimmingCharacters(in: .whitespaces)
        if trimmed != name { value.pointee = trimmed as AnyObject }
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        if age < 0 { throw Forbidden() }
    }

    override func value(forKey key: String) -> Any? {
        let value = super.value(forKey: key)
        return key == "name" ? (value as? String)?.uppercased() : value
    }

    override func value(forUndefinedKey key: String) -> Any? { "\(key)?" }

    override var description: String { "checked" }

    static func model() -> NSManagedObjectModel {
        let entity = Notes.entity("Checked", Checked.self)
        entity.properties = [
            Notes.attribute("name", .stringAttributeType),
            Notes.attribute("age", .integer64AttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }
}
