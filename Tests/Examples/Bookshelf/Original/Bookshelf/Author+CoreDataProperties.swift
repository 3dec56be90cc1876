import CoreData
import Foundation

extension Author {

    /// All authors.
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Author> {
        return NSFetchRequest<Author>(entityName: "Author")
    }

    /// By which an author is known.
    @NSManaged public var name: String?
    /// What the author has written.
    @NSManaged public var books: NSSet?

}

// MARK: Generated accessors for books
extension Author {

    /// Adds a book.
    @objc(addBooksObject:)
    @NSManaged public func addToBooks(_ value: Book)

    /// Takes a book away.
    @objc(removeBooksObject:)
    @NSManaged public func removeFromBooks(_ value: Book)

    /// Adds books.
    @objc(addBooks:)
    @NSManaged public func addToBooks(_ values: NSSet)

    /// Takes books away.
    @objc(removeBooks:)
    @NSManaged public func removeFromBooks(_ values: NSSet)

}
