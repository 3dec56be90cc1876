// What requests are asked about: books, their authors and shelves.

import CoreData

/// A library in memory.
enum Library {
    static let model: NSManagedObjectModel = {
        func attribute(
            _ name: String, _ type: NSAttributeType, _ defaultValue: Any? = nil
        ) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.defaultValue = defaultValue
            return attribute
        }
        func relationship(_ name: String, toMany: Bool) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.minCount = 0
            relationship.maxCount = toMany ? 0 : 1
            relationship.deleteRule = .nullifyDeleteRule
            return relationship
        }
        func entity(_ name: String, _ type: AnyClass) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.managedObjectClassName = NSStringFromClass(type)
            return entity
        }
        let author = entity("Author", LibraryAuthor.self)
        let book = entity("Book", LibraryBook.self)
        let comic = entity("Comic", Comic.self)
        let books = relationship("books", toMany: true)
        let writer = relationship("author", toMany: false)
        books.destinationEntity = book
        writer.destinationEntity = author
        books.inverseRelationship = writer
        writer.inverseRelationship = books
        author.properties = [attribute("name", .stringAttributeType), books]
        author.uniquenessConstraints = [["name"]]
        book.properties = [
            attribute("title", .stringAttributeType), attribute("year", .integer32AttributeType, 0),
            attribute("price", .doubleAttributeType, 0.0),
            attribute("cost", .decimalAttributeType),
            attribute("isLent", .booleanAttributeType, false),
            attribute("added", .dateAttributeType), attribute("code", .UUIDAttributeType), writer,
        ]
        comic.properties = [attribute("series", .stringAttributeType)]
        book.subentities = [comic]
        let model = NSManagedObjectModel()
        model.entities = [author, book, comic]
        return model
    }()

    /// A container with three authors and some books.
    static func make() throws -> NSManagedObjectContext {
        let container = try Stack.inMemory(model)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for (name, titles) in [
                ("Ann", ["Ash", "Birch"]), ("Bea", ["Cedar"]), ("Cid", []),
            ] as [(String, [String])] {
                let author = LibraryAuthor(context: context)
                author.name = name
                for title in titles {
                    let book = LibraryBook(context: context)
                    book.title = title
                    book.year = Int32(1990 + title.count)
                    book.price = Double(title.count) / 2
                    book.author = author
                }
            }
            let comic = Comic(context: context)
            comic.title = "Dogwood"
            comic.year = 2020
            comic.series = "Trees"
            try context.save()
        }
        return context
    }
}

final class LibraryAuthor: NSManagedObject {
    @CoreData.NSManaged var name: String?
    @CoreData.NSManaged var books: Set<LibraryBook>
}

class LibraryBook: NSManagedObject {
    @CoreData.NSManaged var title: String?
    @CoreData.NSManaged var year: Int32
    @CoreData.NSManaged var price: Double
    @CoreData.NSManaged var cost: NSDecimalNumber?
    @CoreData.NSManaged var isLent: Bool
    @CoreData.NSManaged var added: Date?
    @CoreData.NSManaged var code: UUID?
    @CoreData.NSManaged var author: LibraryAuthor?

    /// The author as one reads them who writes accessors.
    var writer: LibraryAuthor? {
        willAccessValue(forKey: "author")
        defer { didAccessValue(forKey: "author") }
        return primitiveValue(forKey: "author") as? LibraryAuthor
    }
    /// No property of the model.
    var label: String { "\(title ?? "") \(year)" }

    class func fetchRequest() -> NSFetchRequest<LibraryBook> {
        NSFetchRequest<LibraryBook>(entityName: "Book")
    }
}

final class Comic: LibraryBook {
    @CoreData.NSManaged var series: String?
}
