// Fetches of all kinds, as apps write them.

import CoreData
import Testing

@Suite("Fetch requests with Core Data's names")
struct FetchRequestTests {
    private let context: NSManagedObjectContext

    init() throws { context = try Library.make() }

    private func titles(_ request: NSFetchRequest<LibraryBook>) throws -> [String] {
        try context.performAndWait { try context.fetch(request).compactMap(\.title) }
    }

    @Test("a request for objects of another class than the entity's ends the program")
    func otherClass() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let context = try Library.make()
            try context.performAndWait {
                _ = try context.fetch(NSFetchRequest<LibraryAuthor>(entityName: "Book"))
            }
        }
        #expect(result.says("the request is for objects of LibraryAuthor, but Book has those of"))
    }

    @Test("objects of a class, in order, some of them")
    func objects() throws {
        let request: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(try titles(request) == ["Ash", "Birch", "Cedar", "Dogwood"])
        request.predicate = NSPredicate(format: "year > %d", 1993)
        #expect(try titles(request) == ["Birch", "Cedar", "Dogwood"])
        request.fetchLimit = 2
        request.fetchOffset = 1
        #expect(try titles(request) == ["Cedar", "Dogwood"])
        request.fetchLimit = 0
        request.fetchOffset = 0
        request.includesSubentities = false
        #expect(try titles(request) == ["Birch", "Cedar"])
        request.sortDescriptors = [
            NSSortDescriptor(key: "author.name", ascending: false),
            NSSortDescriptor(key: "title", ascending: false),
        ]
        request.predicate = nil
        #expect(try titles(request) == ["Cedar", "Birch", "Ash"])
        request.fetchBatchSize = 1
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = ["author"]
        #expect(try titles(request) == ["Cedar", "Birch", "Ash"])
    }

    @Test("requests of results of any kind, as old code has them")
    func erased() throws {
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
            request.predicate = NSPredicate(format: "title BEGINSWITH 'A'")
            let books = try context.fetch(request) as! [LibraryBook]
            #expect(books.map(\.title) == ["Ash"])
            let found = try context.fetch(request) as? [NSManagedObject]
            #expect(found?.first?.value(forKey: "title") as? String == "Ash")
            // Without a type it is that of the request's results, and any is taken where any is wanted.
            let results = try context.fetch(request)
            let typed: [NSFetchRequestResult] = results
            let anything: [Any] = try context.fetch(request)
            #expect(typed.count == 1 && anything.first is LibraryBook)
            let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
            #expect(objects.count == 4)
            let base: NSFetchRequest<NSFetchRequestResult> = LibraryAuthor.fetchRequest()
            #expect(try context.fetch(base).count == 3)
            #expect(base.entityName == "Author")
        }
    }

    @Test("an entity that is given, or found by the class")
    func entities() throws {
        try context.performAndWait { () throws in
            let request = NSFetchRequest<LibraryAuthor>()
            request.entity = NSEntityDescription.entity(forEntityName: "Author", in: context)
            #expect(request.entityName == "Author")
            #expect(try context.fetch(request).count == 3)
            let other = NSFetchRequest<LibraryAuthor>()
            other.entity = LibraryAuthor.entity()
            #expect(try context.count(for: other) == 3)
            #expect(throws: (any Error).self) { try context.fetch(NSFetchRequest<LibraryAuthor>()) }
            #expect(throws: (any Error).self) {
                try context.fetch(NSFetchRequest<LibraryAuthor>(entityName: "Nobody"))
            }
        }
    }

    @Test("ids, dictionaries and numbers")
    func otherResults() throws {
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            request.resultType = .managedObjectIDResultType
            let ids = try context.fetch(request) as! [NSManagedObjectID]
            #expect(ids.count == 4)
            #expect((context.object(with: ids[0]) as? LibraryBook)?.title == "Ash")

            let typed = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
            typed.resultType = .managedObjectIDResultType
            #expect(try context.fetch(typed).allSatisfy { $0.entity.name == "Author" })

            request.resultType = .countResultType
            #expect((try context.fetch(request).first as? NSNumber)?.intValue == 4)
            let count = NSFetchRequest<NSNumber>(entityName: "Book")
            count.resultType = .countResultType
            #expect(try context.fetch(count) == [4])
            #expect(try context.count(for: request) == 4)

            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [
                "title", "year", "price", "isLent", "author.name", "author",
            ]
            let rows = try context.fetch(request) as! [[String: Any]]
            #expect(rows.map { $0["title"] as? String } == ["Ash", "Birch", "Cedar", "Dogwood"])
            #expect(rows[0]["year"] as? Int == 1993)
            #expect(rows[0]["year"] as? Int32 == 1993)
            #expect(rows[0]["price"] as? Double == 1.5)
            #expect(rows[0]["isLent"] as? Bool == false)
            #expect(rows[0]["author.name"] as? String == "Ann")
            #expect(rows[0]["author"] is NSManagedObjectID)
            #expect(rows[3]["author"] == nil)
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Book")
            dictionaries.resultType = .dictionaryResultType
            #expect(try context.fetch(dictionaries).first?["title"] is String)
        }
    }

    @Test("groups and figures of them")
    func groups() throws {
        try context.performAndWait { () throws in
            let count = NSExpressionDescription()
            count.name = "count"
            count.expression = NSExpression(
                forFunction: "count:", arguments: [NSExpression(forKeyPath: "title")])
            count.expressionResultType = .integer64AttributeType
            let dearest = NSExpressionDescription()
            dearest.name = "dearest"
            dearest.expression = NSExpression(format: "max:(price)")
            dearest.expressionResultType = .doubleAttributeType
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["author.name", count, dearest]
            request.propertiesToGroupBy = ["author.name"]
            request.havingPredicate = NSPredicate(format: "count > 1")
            let rows = try context.fetch(request) as! [[String: Any]]
            // Core Data knows the name of what is counted as a variable.
            request.havingPredicate = NSPredicate(
                format: "%@ > 1", NSExpression(forVariable: "count"))
            #expect(try context.fetch(request).count == 1)
            #expect(rows.count == 1)
            #expect(rows[0]["author.name"] as? String == "Ann")
            #expect(rows[0]["count"] as? Int == 2)
            #expect(rows[0]["dearest"] as? Double == 2.5)

            // One row for all is sorted by whatever there is.
            let all = NSFetchRequest<NSDictionary>(entityName: "Book")
            all.resultType = .dictionaryResultType
            all.propertiesToFetch = [dearest]
            all.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
            #expect(try context.fetch(all).map { $0["dearest"] as? Double } == [2.5])
            all.sortDescriptors = [NSSortDescriptor(key: "nothing", ascending: false)]
            #expect(throws: (any Error).self) { try context.fetch(all) }

            let years = NSFetchRequest<NSDictionary>(entityName: "Book")
            years.resultType = .dictionaryResultType
            years.propertiesToFetch = [LibraryBook.entity().propertiesByName["year"]!]
            years.returnsDistinctResults = true
            #expect(try context.fetch(years).count == 3)
        }
    }

    @Test("figures of what the objects of a group have")
    func membersOfGroups() throws {
        try context.performAndWait { () throws in
            func column(_ name: String, _ path: String) -> NSExpressionDescription {
                let column = NSExpressionDescription()
                column.name = name
                column.expression = NSExpression(forKeyPath: path)
                column.resultType = .double
                return column
            }
            let another = LibraryAuthor(context: context)
            another.name = "Eve"
            let book = LibraryBook(context: context)
            book.title = "Elder"
            book.price = 9
            book.author = another
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Author")
            request.resultType = .dictionaryResultType
            request.predicate = NSPredicate(format: "name IN {'Ann', 'Cid'}")
            request.propertiesToGroupBy = ["name"]
            request.propertiesToFetch = [
                "name", column("books", "books.@count"), column("titles", "books.title.@count"),
                column("sum", "books.@sum.price"), column("dearest", "books.@max.price"),
            ]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let rows = try context.fetch(request)
            #expect(rows.map { $0["books"] as? Int64 } == [2, 0])
            #expect(rows.map { $0["titles"] as? Int64 } == [2, 0])
            #expect(rows.map { $0["sum"] as? Double } == [4, 0])
            #expect(rows.map { $0["dearest"] as? Double } == [2.5, nil])
        }
    }

    @Test("a description without an expression is the property of its name")
    func noExpression() throws {
        try context.performAndWait { () throws in
            let title = NSExpressionDescription()
            title.name = "title"
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [title]
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            #expect(try context.fetch(request).first?["title"] as? String == "Ash")
            title.name = "nothing"
            #expect(throws: (any Error).self) { try context.fetch(request) }
        }
    }

    @Test("ANY of what is one value is that value")
    func anyOfOne() throws {
        let request: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        request.predicate = NSPredicate(format: "ANY title BEGINSWITH[c] 'a'")
        #expect(try titles(request) == ["Ash"])
        request.predicate = NSPredicate(format: "NONE author.name IN {'Ann', 'Bea'}")
        #expect(try titles(request) == ["Dogwood"])
        try context.performAndWait { () throws in
            let authors = NSFetchRequest<LibraryAuthor>(entityName: "Author")
            authors.predicate = NSPredicate(
                format: "SUBQUERY(books, $b, ANY $b.title BEGINSWITH[c] 'c').@count > 0")
            #expect(try context.fetch(authors).map(\.name) == ["Bea"])
        }
    }

    @Test("whole numbers match texts of their digits")
    func numbersAsTexts() throws {
        let shelf = try Shelf()
        let context = shelf.context()
        try context.performAndWait {
            let ann = shelf.author("Ann", code: "9", in: context)
            shelf.book("Emma", pages: 1, in: context, by: ann)
            shelf.author("Bob", code: "10", in: context)
            try context.save()
            func count(_ name: String, _ format: String, _ arguments: Any...) throws -> Int {
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.predicate = NSPredicate(format: format, argumentArray: arguments)
                return try context.count(for: request)
            }
            #expect(try count("Author", "code == %d", 9) == 1)
            #expect(try count("Author", "code IN %@ AND name != nil", [9, 10]) == 2)
            #expect(try count("Author", "NOT 9 == code") == 1)
            #expect(try count("Book", "author.code == 9") == 1)
            #expect(try count("Book", "pages == 1") == 1)
            #expect(throws: (any Error).self) { try count("Author", "code == 9.5") }
        }
    }

    @Test("unsaved changes are seen, or not")
    func pendingChanges() throws {
        try context.performAndWait { () throws in
            let request: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
            request.predicate = NSPredicate(format: "title == 'Elm'")
            let book = LibraryBook(context: context)
            book.title = "Elm"
            #expect(try context.fetch(request) == [book])
            request.includesPendingChanges = false
            #expect(try context.fetch(request) == [])
        }
    }

    @Test(
        "objects are arguments of predicates, saved and unsaved, and what is in memory is asked alike"
    )
    func objectArguments() throws {
        try context.performAndWait { () throws in
            let authors = NSFetchRequest<LibraryAuthor>(entityName: "Author")
            authors.predicate = NSPredicate(format: "name == %@", "Ann")
            let ann = try #require(try context.fetch(authors).first)
            let request: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
            request.predicate = NSPredicate(format: "author == %@", ann)
            let books = try context.fetch(request)
            #expect(books.count == 2)
            #expect(books.allSatisfy { request.predicate!.evaluate(with: $0) })
            request.predicate = NSPredicate(format: "author IN %@", Set([ann]))
            #expect(try context.count(for: request) == 2)
            request.predicate = NSPredicate(format: "author == %@", ann.objectID)
            #expect(try context.count(for: request) == 2)
            request.predicate = NSPredicate(format: "SELF IN %@", books)
            #expect(try context.count(for: request) == 2)
            authors.predicate = NSPredicate(format: "ANY books.title ==[c] %@", "CEDAR")
            #expect(try context.fetch(authors).map(\.name) == ["Bea"])
            authors.predicate = NSPredicate(
                format: "SUBQUERY(books, $b, $b.year > 1993).@count > 0")
            #expect(try context.count(for: authors) == 2)

            let dan = LibraryAuthor(context: context)
            dan.name = "Dan"
            let book = LibraryBook(context: context)
            book.author = dan
            request.predicate = NSPredicate(format: "author == %@", dan)
            #expect(try context.fetch(request) == [book])
            try context.save()
            #expect(try context.fetch(request) == [book])
            let all = try context.fetch(NSFetchRequest<LibraryBook>(entityName: "Book"))
            let recent = all.filter {
                NSPredicate(format: "year >= 2000 AND author == nil").evaluate(with: $0)
            }
            #expect(recent.map(\.title) == ["Dogwood"])
            let sorted = (all as NSArray).sortedArray(
                using: [NSSortDescriptor(key: "title", ascending: false)])
            #expect((sorted.first as? LibraryBook)?.title == "Dogwood")
        }
    }

    @Test("a request executes itself where a context performs something")
    func executing() throws {
        let request: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        let count = try context.performAndWait { try request.execute().count }
        #expect(count == 4)
    }

    @Test("a copy says the same and is another one")
    func copies() throws {
        let request: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        request.predicate = NSPredicate(format: "year > 1993")
        request.fetchLimit = 1
        let copy = try #require(request.copy() as? NSFetchRequest<LibraryBook>)
        copy.fetchLimit = 0
        #expect(request.fetchLimit == 1)
        #expect(try titles(copy).count == 3)
    }

    @Test("what a store cannot be asked is an error")
    func refusals() throws {
        try context.performAndWait { () throws in
            let request: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
            request.predicate = NSPredicate { _, _ in true }
            #expect(throws: NSError.self) { try context.fetch(request) }
            request.predicate = NSPredicate(format: "nothing == 1")
            #expect(throws: NSError.self) { try context.fetch(request) }
            request.predicate = nil
            request.sortDescriptors = [
                NSSortDescriptor(key: "title", ascending: true) { _, _ in .orderedSame }
            ]
            #expect(throws: NSError.self) { try context.fetch(request) }
            request.sortDescriptors = nil
            request.propertiesToFetch = [1]
            request.resultType = .dictionaryResultType
            #expect(throws: NSError.self) { try context.count(for: request) }
        }
    }

    @Test("an expression that fetches")
    func fetchExpression() throws {
        try context.performAndWait { () throws in
            let request = NSFetchRequest<LibraryBook>(entityName: "Book")
            request.predicate = NSPredicate(format: "year > 1993")
            for (countOnly, found) in [(true, 3), (false, 3)] {
                let expression = NSFetchRequestExpression.expression(
                    forFetch: NSExpression(forConstantValue: request),
                    context: NSExpression(forConstantValue: context), countOnly: countOnly)
                #expect(expression.expressionType == NSFetchRequestExpressionType)
                let value = expression.expressionValue(with: nil, context: nil)
                #expect((value as? [LibraryBook])?.count ?? value as? Int == found)
            }
        }
    }
}
