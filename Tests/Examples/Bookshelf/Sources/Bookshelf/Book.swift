import CoreData

/// A book on the shelf.
public final class Book: NSManagedObject {
    @CoreData.NSManaged var isbn: String
    @CoreData.NSManaged var title: String
    @CoreData.NSManaged var pages: Int32
    @CoreData.NSManaged var rating: NSNumber?
    @CoreData.NSManaged var added: Date?
    @CoreData.NSManaged var author: Author?

    /// Notes when it was added.
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(), forKey: "added")
    }

    @nonobjc static func byTitle() -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }
}
