// Properties that are named by key paths of their classes.

import CoreData
import Testing

/// Of no model. Its property is named as those are that are read without anybody being told.
private final class Gauge: NSManagedObject {
    @CoreData.NSManaged var primitiveKind: Int
}

@Suite("Key paths in requests")
struct KeyPathTests {
    private let context: NSManagedObjectContext

    init() throws { context = try Library.make() }

    @Test("what is sorted by")
    func sorting() throws {
        #expect(NSSortDescriptor(keyPath: \LibraryBook.title, ascending: true).key == "title")
        #expect(NSSortDescriptor(keyPath: \LibraryBook.year, ascending: true).key == "year")
        #expect(NSSortDescriptor(keyPath: \LibraryBook.isLent, ascending: true).key == "isLent")
        #expect(NSSortDescriptor(keyPath: \LibraryBook.code, ascending: true).key == "code")
        #expect(NSSortDescriptor(keyPath: \LibraryBook.cost, ascending: true).key == "cost")
        #expect(
            NSSortDescriptor(keyPath: \LibraryBook.author?.name, ascending: true).key
                == "author.name")
        #expect(NSSortDescriptor(keyPath: \Comic.series, ascending: true).key == "series")
        #expect(NSSortDescriptor(keyPath: \Comic.title, ascending: true).key == "title")
        #expect(NSSortDescriptor(keyPath: \LibraryBook.writer, ascending: true).key == "author")
        let request: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        request.includesSubentities = false
        request.sortDescriptors = [
            NSSortDescriptor(keyPath: \LibraryBook.author?.name, ascending: false),
            NSSortDescriptor(keyPath: \LibraryBook.year, ascending: false),
        ]
        try context.performAndWait { () throws in
            let books = try context.fetch(request)
            #expect(books.map(\.title) == ["Cedar", "Birch", "Ash"])
            let sorted = (books.reversed() as NSArray).sortedArray(using: request.sortDescriptors!)
            #expect(sorted as? [LibraryBook] == books)
        }
    }

    @Test("what expressions and arguments name")
    func naming() {
        #expect(NSExpression(forKeyPath: \LibraryBook.price).keyPath == "price")
        #expect(NSExpression(forKeyPath: \LibraryAuthor.books).keyPath == "books")
        #expect(
            NSPredicate(format: "%K > %d", \LibraryBook.year, 1990)
                == NSPredicate(format: "year > 1990"))
    }

    @Test("a key path says its name where Swift's own property is asked for it")
    func keyPathString() {
        let path: AnyKeyPath = \LibraryBook.author?.name
        #expect(path._kvcKeyPathString == "author.name")
        #expect((\LibraryBook.year as PartialKeyPath)._kvcKeyPathString == "year")
        #expect((\Gauge.primitiveKind)._kvcKeyPathString == "primitiveKind")
        #expect((\String.count as AnyKeyPath)._kvcKeyPathString == nil)
    }

    @Test("predicates of Swift")
    func swiftPredicates() throws {
        let name = "Ann"
        let predicate = try #require(
            NSPredicate(
                #Predicate<LibraryBook> { $0.year > 1990 && $0.author?.name == name && !$0.isLent })
        )
        let request: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        request.predicate = predicate
        let authors = NSFetchRequest<LibraryAuthor>(entityName: "Author")
        authors.predicate = NSPredicate(
            #Predicate<LibraryAuthor> { $0.books.contains { $0.year > 1994 } })
        try context.performAndWait { () throws in
            #expect(try context.count(for: request) == 2)
            #expect(try context.fetch(authors).map(\.name) == ["Ann", "Bea"])
        }
        #expect(NSPredicate(#Predicate<LibraryBook> { $0.label == "x" }) == nil)
    }

    @Test("a path that is no property of the model ends the program")
    func computed() async throws {
        let computed = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = NSSortDescriptor(keyPath: \LibraryBook.label, ascending: true).key }
        #expect(computed.says("is not a property that is read with @NSManaged"))
        let early = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = try Library.make()
            _ = NSSortDescriptor(keyPath: \LibraryBook.writer?.name, ascending: true).key
        }
        #expect(early.says("is not a property that is read with @NSManaged"))
    }
}
