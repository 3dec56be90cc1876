// Books and their authors, as stores of a test have them.

import CoreData

/// A store in memory of books and authors.
///
/// An author has a mandatory `name`, a `code` that is unique, and `books`; a book has a `title`, a number of `pages`, and an `author`.
struct Shelf {
    let container: NSPersistentContainer
    var coordinator: NSPersistentStoreCoordinator { container.persistentStoreCoordinator }

    init() throws { container = try Stack.inMemory(Self.model()) }

    private static func model() -> NSManagedObjectModel {
        func attribute(
            _ name: String, _ type: NSAttributeType, optional: Bool = false
        ) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = optional
            return attribute
        }
        let (author, book) = (NSEntityDescription(), NSEntityDescription())
        author.name = "Author"
        book.name = "Book"
        let (books, writer) = (NSRelationshipDescription(), NSRelationshipDescription())
        books.name = "books"
        books.destinationEntity = book
        books.deleteRule = .nullifyDeleteRule
        writer.name = "author"
        writer.destinationEntity = author
        writer.maxCount = 1
        writer.deleteRule = .nullifyDeleteRule
        books.inverseRelationship = writer
        writer.inverseRelationship = books
        let pages = attribute("pages", .integer64AttributeType)
        pages.defaultValue = 0
        author.properties = [
            attribute("name", .stringAttributeType),
            attribute("code", .stringAttributeType, optional: true), books,
        ]
        author.uniquenessConstraints = [["code"]]
        book.properties = [attribute("title", .stringAttributeType), pages, writer]
        let model = NSManagedObjectModel()
        model.entities = [author, book]
        return model
    }

    /// A new context on the store.
    func context(
        _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
    ) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: type)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// A new author.
    @discardableResult
    func author(
        _ name: String?, code: String? = nil, in context: NSManagedObjectContext
    ) -> NSManagedObject {
        let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        author.setValue(name, forKey: "name")
        author.setValue(code, forKey: "code")
        return author
    }

    /// A new book.
    @discardableResult
    func book(
        _ title: String, pages: Int, in context: NSManagedObjectContext,
        by author: NSManagedObject? = nil
    ) -> NSManagedObject {
        let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        book.setValue(title, forKey: "title")
        book.setValue(pages, forKey: "pages")
        book.setValue(author, forKey: "author")
        return book
    }

    /// All objects of an entity.
    func all(_ name: String, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
    }

    /// Has somebody else change all objects of an entity.
    func change(_ name: String, _ key: String, to value: Any?) throws {
        let other = context()
        try other.performAndWait {
            for object in try all(name, in: other) { object.setValue(value, forKey: key) }
            try other.save()
        }
    }
}
