// Batches of all kinds, with each kind of result.

import CoreData
import Testing

@Suite("Batches with Core Data's names")
struct BatchRequestTests {
    private let context: NSManagedObjectContext

    init() throws { context = try Library.make() }

    private func names() throws -> [String] {
        try context.performAndWait {
            let request = NSFetchRequest<LibraryAuthor>(entityName: "Author")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request).compactMap(\.name)
        }
    }

    @Test("rows are inserted, with each kind of result")
    func inserting() throws {
        try context.performAndWait { () throws in
            let request = NSBatchInsertRequest(
                entityName: "Author", objects: [["name": "Dan"], ["name": "Eve"]])
            let status = try context.execute(request) as? NSBatchInsertResult
            #expect(status?.result as? Bool == true)
            request.objectsToInsert = [["name": "Fay"]]
            request.resultType = .count
            let count = try context.execute(request) as? NSBatchInsertResult
            #expect(count?.result as? Int == 1)
            #expect(count?.resultType == .count)
            request.objectsToInsert = [["name": "Gus"]]
            request.resultType = .objectIDs
            let ids = try context.execute(request) as! NSBatchInsertResult
            let gus = try #require((ids.result as? [NSManagedObjectID])?.first)
            #expect((context.object(with: gus) as? LibraryAuthor)?.name == "Gus")
        }
        #expect(try names() == ["Ann", "Bea", "Cid", "Dan", "Eve", "Fay", "Gus"])
    }

    @Test("constraints and the context's merge policy decide about rows that are there")
    func upserting() throws {
        try context.performAndWait { () throws in
            let ann = try #require(
                try context.fetch(NSFetchRequest<LibraryAuthor>(entityName: "Author"))
                    .first { $0.name == "Ann" })
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let request = NSBatchInsertRequest(
                entity: LibraryAuthor.entity(), objects: [["name": "Ann"], ["name": "Zoe"]])
            request.resultType = .count
            let result = try context.execute(request) as? NSBatchInsertResult
            #expect(result?.result as? Int == 2)
            // The same rows count again, and have changed nothing.
            #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 2)
            request.resultType = .objectIDs
            let ids = try context.execute(request) as? NSBatchInsertResult
            #expect((ids?.result as? [NSManagedObjectID])?.isEmpty == true)
            // Rows may lead to objects.
            let books = NSBatchInsertRequest(
                entityName: "Book", objects: [["title": "Fir", "author": ann.objectID]])
            try context.execute(books)
            let found = NSFetchRequest<LibraryBook>(entityName: "Book")
            found.predicate = NSPredicate(format: "author == %@ AND title == 'Fir'", ann)
            #expect(try context.count(for: found) == 1)
        }
        #expect(try names() == ["Ann", "Bea", "Cid", "Zoe"])
    }

    @Test("closures fill rows until they say that there are none left")
    func handlers() throws {
        try context.performAndWait { () throws in
            var left = ["Dan", "Eve"]
            let dictionaries = NSBatchInsertRequest(
                entityName: "Author",
                dictionaryHandler: { (row: NSMutableDictionary) -> Bool in
                    guard !left.isEmpty else { return true }
                    row["name"] = left.removeFirst()
                    return false
                })
            try context.execute(dictionaries)
            var more = ["Fay"]
            let objects = NSBatchInsertRequest(
                entity: LibraryAuthor.entity(),
                managedObjectHandler: { (object: NSManagedObject) -> Bool in
                    guard let author = object as? LibraryAuthor, let name = more.popLast() else {
                        return true
                    }
                    author.name = name
                    return false
                })
            try context.execute(objects)
        }
        #expect(try names() == ["Ann", "Bea", "Cid", "Dan", "Eve", "Fay"])
    }

    @Test("objects are updated, with each kind of result")
    func updating() throws {
        try context.performAndWait { () throws in
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.predicate = NSPredicate(format: "year < 2000")
            request.propertiesToUpdate = ["isLent": true, "added": Date(timeIntervalSince1970: 5)]
            #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Bool == true)
            request.resultType = .updatedObjectsCountResultType
            request.propertiesToUpdate = ["year": NSExpression(format: "year + 1")]
            #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 3)
            request.resultType = .updatedObjectIDsResultType
            request.propertiesToUpdate = [
                LibraryBook.entity().propertiesByName["price"]!: NSExpression(
                    forConstantValue: 9.5),
                "added": NSNull(),
            ]
            let ids = (try context.execute(request) as? NSBatchUpdateResult)?.result
            #expect((ids as? [NSManagedObjectID])?.count == 3)
            let found = NSFetchRequest<LibraryBook>(entityName: "Book")
            found.predicate = NSPredicate(
                format: "isLent == YES AND year > 1993 AND price == 9.5 AND added == nil")
            #expect(try context.count(for: found) == 3)
            request.propertiesToUpdate = ["nothing": 1]
            #expect(throws: NSError.self) { try context.execute(request) }
            request.propertiesToUpdate = ["title": NSObject()]
            #expect(throws: NSError.self) { try context.execute(request) }
        }
    }

    @Test("objects are deleted by a request or by ids, with each kind of result")
    func deleting() throws {
        try context.performAndWait { () throws in
            let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Book")
            fetch.predicate = NSPredicate(format: "title IN {'Ash', 'Birch'}")
            let request = NSBatchDeleteRequest(fetchRequest: fetch)
            request.resultType = .resultTypeCount
            #expect((try context.execute(request) as? NSBatchDeleteResult)?.result as? Int == 2)
            let typed: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
            typed.fetchLimit = 1
            let one = NSBatchDeleteRequest(fetchRequest: typed)
            one.resultType = .resultTypeObjectIDs
            let ids = (try context.execute(one) as? NSBatchDeleteResult)?.result
            #expect((ids as? [NSManagedObjectID])?.count == 1)
            let authors = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
            authors.resultType = .managedObjectIDResultType
            let all = NSBatchDeleteRequest(objectIDs: try context.fetch(authors))
            #expect((try context.execute(all) as? NSBatchDeleteResult)?.result as? Bool == true)
            #expect(try context.count(for: authors) == 0)
            #expect(try context.count(for: LibraryBook.fetchRequest()) == 1)
        }
    }

    @Test("the kinds of requests")
    func kinds() {
        #expect(NSFetchRequest<LibraryBook>(entityName: "Book").requestType == .fetchRequestType)
        #expect(NSBatchUpdateRequest(entityName: "Book").requestType.rawValue == 6)
        let changes = NSSaveChangesRequest(inserted: nil, updated: [], deleted: nil, locked: nil)
        #expect(changes.requestType == .saveRequestType)
        #expect(throws: NSError.self) { try context.execute(changes) }
    }
}
