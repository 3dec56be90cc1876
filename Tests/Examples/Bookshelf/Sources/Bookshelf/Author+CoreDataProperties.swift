import CoreData
import Foundation

extension Author {

    /// All authors.
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Author> {
        return NSFetchRequest<Author>(entityName: "Author")
    }

    /// By which an author is known.
    @CoreData.NSManaged public var name: String?
    /// What the author has written.
    @CoreData.NSManaged public var books: NSSet?

}

// MARK: Generated accessors for books
extension Author {

    /// Adds a book.
    @CoreData.NSManagedAccessor public func addToBooks(_ value: Book)

    /// Takes a book away.
    @CoreData.NSManagedAccessor public func removeFromBooks(_ value: Book)

    /// Adds books.
    @CoreData.NSManagedAccessor public func addToBooks(_ values: NSSet)

    /// Takes books away.
    @CoreData.NSManagedAccessor public func removeFromBooks(_ values: NSSet)

}
