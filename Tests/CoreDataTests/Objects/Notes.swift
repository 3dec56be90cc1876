// Classes as Xcode generates them, and their model.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CoreData

class Note: NSManagedObject {
    /// The hooks that have run, in order.
    var hooks: [String] = []

    override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue("new", forKey: "state")
        hooks.append("awakeFromInsert")
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        hooks.append("awakeFromFetch")
    }

    override func willSave() {
        super.willSave()
        hooks.append("willSave")
    }

    override func didSave() {
        super.didSave()
        hooks.append("didSave")
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        hooks.append("prepareForDeletion")
    }

    override func willTurnIntoFault() {
        super.willTurnIntoFault()
        hooks.append("willTurnIntoFault")
    }

    override func didTurnIntoFault() {
        super.didTurnIntoFault()
        hooks.append("didTurnIntoFault")
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        hooks.append("awake \(flags.rawValue)")
    }

    /// An accessor of its own.
    var subtitle: String? {
        get {
            willAccessValue(forKey: "subtitle")
            defer { didAccessValue(forKey: "subtitle") }
            return primitiveValue(forKey: "subtitle") as? String
        }
        set {
            willChangeValue(forKey: "subtitle")
            setPrimitiveValue(newValue, forKey: "subtitle")
            didChangeValue(forKey: "subtitle")
        }
    }
}

enum Mood: Int16 {
    case calm, tense
}

extension Note {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Note> {
        NSFetchRequest<Note>(entityName: "Note")
    }

    @CoreData.NSManaged public var title: String?
    @CoreData.NSManaged public var body: String
    @CoreData.NSManaged public var state: String!
    @CoreData.NSManaged public fileprivate(set) var stars: Int16
    @CoreData.NSManaged var views: Int32
    @CoreData.NSManaged var size: Int64
    @CoreData.NSManaged var count: Int
    @CoreData.NSManaged var isDone: Bool
    @CoreData.NSManaged var weight: Double
    @CoreData.NSManaged var ratio: Float
    @CoreData.NSManaged var price: NSDecimalNumber?
    @CoreData.NSManaged var cost: Decimal
    @CoreData.NSManaged var created: Date?
    @CoreData.NSManaged var changed: NSDate?
    @CoreData.NSManaged var picture: Data?
    @CoreData.NSManaged var identifier: UUID?
    @CoreData.NSManaged var link: URL?
    @CoreData.NSManaged var rank: NSNumber?
    @CoreData.NSManaged var mood: Mood
    @CoreData.NSManaged dynamic var `default`: String?
    @CoreData.NSManaged fileprivate var primitiveTitle: String?
    @CoreData.NSManaged var tags: NSSet?
    @CoreData.NSManaged var labels: Set<Tag>
    @CoreData.NSManaged var pages: NSOrderedSet?
    @CoreData.NSManaged var parent: Note?
    @CoreData.NSManaged var children: Set<Note>?

    func rate(_ stars: Int16) { self.stars = stars }

    var quietTitle: String? {
        get { primitiveTitle }
        set { primitiveTitle = newValue }
    }
}

// MARK: Generated accessors for tags and pages

extension Note {
    @CoreData.NSManagedAccessor public func addToTags(_ value: Tag)
    @CoreData.NSManagedAccessor public func removeFromTags(_ value: Tag)
    @CoreData.NSManagedAccessor public func addToTags(_ values: NSSet)
    @CoreData.NSManagedAccessor public func removeFromTags(_ values: NSSet)

    @CoreData.NSManagedAccessor public func insertIntoPages(_ value: Page, at idx: Int)
    @CoreData.NSManagedAccessor public func removeFromPages(at idx: Int)
    @CoreData.NSManagedAccessor public func insertIntoPages(
        _ values: [Page], at indexes: NSIndexSet)
    @CoreData.NSManagedAccessor public func removeFromPages(at indexes: NSIndexSet)
    @CoreData.NSManagedAccessor public func replacePages(at idx: Int, with value: Page)
    @CoreData.NSManagedAccessor public func replacePages(
        at indexes: NSIndexSet, with values: [Page])
    @CoreData.NSManagedAccessor public func addToPages(_ value: Page)
    @CoreData.NSManagedAccessor public func removeFromPages(_ value: Page)
    @CoreData.NSManagedAccessor public func addToPages(_ values: NSOrderedSet)
    @CoreData.NSManagedAccessor public func removeFromPages(_ values: NSOrderedSet)

    @CoreData.NSManagedAccessor func addToLabels(_ values: Set<Tag>)
    @CoreData.NSManagedAccessor func removeLabelsObject(_ value: Tag)
}

public class Tag: NSManagedObject {
    @CoreData.NSManaged var name: String?
    @CoreData.NSManaged var notes: NSSet?
    @CoreData.NSManaged var labelled: Set<Note>
}

public class Page: NSManagedObject {
    @CoreData.NSManaged var number: Int32
    @CoreData.NSManaged var note: Note?
}

/// The model, made in code.
enum Notes {
    static func model() -> NSManagedObjectModel {
        let note = entity("Note", Note.self)
        let tag = entity("Tag", Tag.self)
        let page = entity("Page", Page.self)
        note.properties = [
            attribute("title", .stringAttributeType), attribute("subtitle", .stringAttributeType),
            attribute("body", .stringAttributeType), attribute("state", .stringAttributeType),
            attribute("stars", .integer16AttributeType),
            attribute("views", .integer32AttributeType),
            attribute("size", .integer64AttributeType), attribute("count", .integer64AttributeType),
            attribute("isDone", .booleanAttributeType), attribute("weight", .doubleAttributeType),
            attribute("ratio", .floatAttributeType), attribute("price", .decimalAttributeType),
            attribute("cost", .decimalAttributeType), attribute("created", .dateAttributeType),
            attribute("changed", .dateAttributeType),
            attribute("picture", .binaryDataAttributeType),
            attribute("identifier", .UUIDAttributeType), attribute("link", .URIAttributeType),
            attribute("rank", .integer32AttributeType), attribute("mood", .integer16AttributeType),
            attribute("default", .stringAttributeType),
        ]
        tag.properties = [attribute("name", .stringAttributeType)]
        page.properties = [attribute("number", .integer32AttributeType)]
        relate(note, "tags", .many, tag, "notes", .many)
        relate(note, "labels", .many, tag, "labelled", .many)
        relate(note, "pages", .ordered, page, "note", .one)
        relate(note, "parent", .one, note, "children", .many)
        let model = NSManagedObjectModel()
        model.entities = [note, tag, page]
        return model
    }

    static func context() throws -> NSManagedObjectContext {
        try Stack.inMemory(model()).newBackgroundContext()
    }

    static func entity(_ name: String, _ type: AnyClass) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(type)
        return entity
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    enum Count {
        case one, many, ordered
    }

    static func relate(
        _ one: NSEntityDescription, _ name: String, _ count: Count, _ other: NSEntityDescription,
        _ otherName: String, _ otherCount: Count
    ) {
        let there = relationship(name, count, other)
        let back = relationship(otherName, otherCount, one)
        there.inverseRelationship = back
        back.inverseRelationship = there
        one.properties.append(there)
        other.properties.append(back)
    }

    private static func relationship(
        _ name: String, _ count: Count, _ destination: NSEntityDescription
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.isOptional = true
        relationship.minCount = 0
        relationship.maxCount = count == .one ? 1 : 0
        relationship.isOrdered = count == .ordered
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }
}
