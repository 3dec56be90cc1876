// A small model in code, as programs without Xcode have it, in three versions.

import CoreData

/// The versions of a model of notes.
enum NotesModel {
    /// Notes with a title and the name of an author; people.
    static func first() -> NSManagedObjectModel {
        let note = entity("Note", [attribute("title", .stringAttributeType), author])
        return model([note, entity("Person", [attribute("name", .stringAttributeType)])])
    }

    /// Notes can be pinned as well, and `title` is called `headline`.
    static func second() -> NSManagedObjectModel {
        let headline = attribute("headline", .stringAttributeType)
        headline.renamingIdentifier = "title"
        let pinned = attribute("isPinned", .booleanAttributeType)
        pinned.defaultValue = false
        pinned.isOptional = false
        let note = entity("Note", [headline, pinned, author])
        return model([note, entity("Person", [attribute("name", .stringAttributeType)])])
    }

    /// Notes are written by people.
    static func third() -> NSManagedObjectModel {
        let note = entity("Note", [attribute("headline", .stringAttributeType)])
        let person = entity("Person", [attribute("name", .stringAttributeType)])
        let writer = relationship("writer", to: person, isToMany: false)
        let notes = relationship("notes", to: note, isToMany: true)
        writer.inverseRelationship = notes
        notes.inverseRelationship = writer
        note.properties.append(writer)
        person.properties.append(notes)
        return model([note, person])
    }

    private static var author: NSAttributeDescription {
        attribute("author", .stringAttributeType)
    }

    static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    static func entity(_ name: String, _ properties: [NSPropertyDescription])
        -> NSEntityDescription
    {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "NSManagedObject"
        entity.properties = properties
        return entity
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    static func relationship(_ name: String, to entity: NSEntityDescription, isToMany: Bool)
        -> NSRelationshipDescription
    {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.isOptional = true
        relationship.maxCount = isToMany ? 0 : 1
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }
}

extension NSManagedObjectContext {
    /// Inserts a note.
    @discardableResult
    func insertNote(_ title: String, by author: String? = nil) -> NSManagedObject {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: self)
        note.setValue(title, forKey: "title")
        note.setValue(author, forKey: "author")
        return note
    }

    /// The values of a property of all objects of an entity, sorted.
    func texts(_ key: String, of entity: String) throws -> [String] {
        try fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
            .compactMap { $0.value(forKey: key) as? String }.sorted()
    }
}
