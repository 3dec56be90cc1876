// The entities of Library.xcdatamodeld, version Library 2, as classes.
// Written by: cairn model Library.xcdatamodeld --swift --version 'Library 2'
//
//     let container = try PersistentContainer(
//         at: "library.cairn", for: LibraryItem.self, Book.self, Magazine.self, Author.self,
//         Shelf.self, Loan.self)
//
// A store that was created with the model itself is opened like this, because classes cannot
// express everything that is stored: Book, Item.
//
//     let container = try PersistentContainer(
//         at: "library.cairn",
//         model: ModelFile(contentsOfFile: "Library.xcdatamodeld", version: "Library 2").model,
//         classes: ObjectClasses(for: LibraryItem.self, Book.self, Magazine.self, Author.self,
//         Shelf.self, Loan.self))
//
// What the model contains besides its entities, and classes do not:
//   - configuration Public: Author, Shelf
//   - fetch request cheaperThan: Item where price < $LIMIT
//   - composite Empty, which cannot be a struct, or is not used by an attribute
//
// swift-format-ignore-file

import Cairn

@Composite
struct Spot: Hashable, Sendable {
    var room: String?
    var position: Position
    var measured: Date?
    // nothing: a composite without elements, which cannot be a struct.
}

@Composite
struct Position: Hashable, Sendable {
    var row: Int16 = 1
    // Options in the model that an element cannot have: minimumValue: 1
    var column: Int16?
}

// User info: owner = catalogue
@Entity("Item", isAbstract: true, originalName: "Thing", hashModifier: "2")
class LibraryItem: ManagedObject {
    #Unique<LibraryItem>([\.code])
    #Unique<LibraryItem>([\.title, \.shelf])
    #Index<LibraryItem>([.ascending(\.title), .descending(\.acquired)])
    // Index byLowerTitle, which cannot be expressed here: lowercase:(title).
    // The model limits this index to the objects where title != nil.
    #Index<LibraryItem>([\.spot?.position.row])
    @Attribute(minimumLength: 3, maximumLength: 12, pattern: #"\A[A-Z]+-\d+\z"#) var code: String
    @Attribute(originalName: "name") var title: String? = "untitled"
    @Attribute(derived: "canonical:(title)") var searchTitle: String?
    @Attribute(minimumValue: Date(timeIntervalSinceReferenceDate: 0))
    var acquired: Date? = Date(timeIntervalSinceReferenceDate: 631152000)
    @Attribute(minimumValue: 0, maximumValue: Decimal(string: "99999.99")!)
    var price: Decimal? = Decimal(string: "9.95")!
    @Attribute(originalName: "place") var spot: Spot?
    @Relationship(inverse: \Shelf.items) var shelf: Shelf?
    @Relationship(deleteRule: .deny, inverse: \Loan.item) var loans: Set<Loan>
}

@Entity
final class Book: LibraryItem {
    #Index<Book>([\.indexed])
    #Index<Book>([\.pages, \.copies])
    @Attribute(minimumValue: 1) var pages: Int16?
    var wordCount: Int32? = 0
    var copies: Int64 = 1
    var weight: Float = 0.25
    @Attribute(minimumValue: 0.0, maximumValue: 5.0) var rating: Double?
    var isLent: Bool? = false
    var isNew: Bool = true
    @Attribute(.externalStorage, .preserveValueOnDeletion) var cover: Data?
    var token: UUID = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF")!
    @Attribute(hashModifier: "x") var link: URL? = URL(string: "https://example.org/?a=b&c")!
    // Transformable (class [String], transformer NSSecureUnarchiveFromData): stored as JSON.
    var keywords: [String]?
    // Transformable (class .[String: Double]): stored as JSON.
    var margins: [String: Double]?
    // Transformable (class UIColor, transformer ColorTransformer): its bytes. Use a Codable type to
    // store it as JSON, or any other with @Attribute(.transformable(by:)).
    var colour: Data?
    @Attribute(.ephemeral) var selection: Int16 = 3
    // Transient and untyped: it is kept in the object, which does not track its changes.
    @Transient var opinion: Any? = nil
    // Transient: it is kept in the object, which does not track its changes.
    @Transient var seen: Spot? = nil
    var indexed: String?
    @Relationship(minimumModelCount: 1, maximumModelCount: 5, inverse: \Author.books)
    var authors: [Author]
    @Relationship(inverse: \Book.prequel) var sequel: Book?
    var prequel: Book?
    @Relationship(inverse: "similar") var similar: Set<Book>
    // neighbours: a transient relationship to LibraryItem, which a class cannot have.
    // sameTitle: a fetched property, the objects of Item where title == $FETCH_SOURCE.title.
}

@Entity
final class Magazine: LibraryItem {
    #Unique<Magazine>([\.title, \.issue])
    var issue: Int16 = -1
}

@Entity
final class Author: ManagedObject {
    var name: String = ""
    @Attribute(derived: "books.@count") var bookCount: Int64?
    var books: Set<Book>
}

@Entity
final class Shelf: ManagedObject {
    var label: String
    @Relationship(deleteRule: .cascade) var items: Set<LibraryItem>
    @Relationship(deleteRule: .noAction) var loans: Set<Loan>
}

@Entity
final class Loan: ManagedObject {
    var until: Date = Date(timeIntervalSinceReferenceDate: 0.5)
    @Relationship(isOptional: false) var item: LibraryItem?
}
