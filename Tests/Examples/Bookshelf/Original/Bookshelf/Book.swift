import CoreData

/// A book on the shelf.
@objc(Book)
public final class Book: NSManagedObject {
    @NSManaged var isbn: String
    @NSManaged var title: String
    @NSManaged var pages: Int32
    @NSManaged var rating: NSNumber?
    @NSManaged var added: Date?
    @NSManaged var author: Author?

    /// Notes when it was added.
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(), forKey: #keyPath(Book.added))
    }

    @nonobjc static func byTitle() -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: #keyPath(Book.title), ascending: true)]
        return request
    }
}
