import CoreData

/// The stack, and what the app does with it.
final class Library {
    let container: NSPersistentContainer

    init(at url: URL) throws {
        container = NSPersistentContainer(name: "Bookshelf")
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: Error?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        container.viewContext.automaticallyMergesChangesFromParent = true
    }

    /// Adds a book, or changes the one with its ISBN.
    func add(isbn: String, title: String, pages: Int, by name: String) throws {
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        var failure: Error?
        context.performAndWait {
            do {
                let book = Book(context: context)
                book.isbn = isbn
                book.title = title
                book.pages = Int32(pages)
                try author(named: name, in: context).addToBooks(book)
                try context.save()
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func author(named name: String, in context: NSManagedObjectContext) throws -> Author {
        let request: NSFetchRequest<Author> = Author.fetchRequest()
        request.predicate = NSPredicate(format: "%K == %@", #keyPath(Author.name), name)
        request.fetchLimit = 1
        if let known = try context.fetch(request).first { return known }
        let author = Author(context: context)
        author.name = name
        return author
    }

    /// Takes over a list of books: those that are known get the values of the list.
    func takeOver(_ list: [[String: Any]]) throws -> Int {
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let request = NSBatchInsertRequest(entityName: "Book", objects: list)
        request.resultType = .count
        var result: Result<Int, Error> = .success(0)
        context.performAndWait {
            result = Result {
                let answer = try context.execute(request) as? NSBatchInsertResult
                return answer?.result as? Int ?? 0
            }
        }
        return try result.get()
    }

    /// Books whose title or author has a text in it.
    func books(containing text: String) throws -> [Book] {
        let request = Book.byTitle()
        request.predicate = NSCompoundPredicate(orPredicateWithSubpredicates: [
            NSPredicate(format: "%K CONTAINS[cd] %@", #keyPath(Book.title), text),
            NSPredicate(format: "%K CONTAINS[cd] %@", #keyPath(Book.author.name), text),
        ])
        return try container.viewContext.fetch(request)
    }

    /// How many pages each author has written.
    func pagesByAuthor() throws -> [(name: String, pages: Int)] {
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(format: "sum:(%K)", #keyPath(Book.pages))
        sum.expressionResultType = .integer64AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.predicate = NSPredicate(format: "%K != NIL", #keyPath(Book.author))
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [#keyPath(Book.author.name), sum]
        request.propertiesToGroupBy = [#keyPath(Book.author.name)]
        return try container.viewContext.fetch(request).compactMap { row in
            guard let name = row[#keyPath(Book.author.name)] as? String,
                let pages = row["sum"] as? Int
            else { return nil }
            return (name, pages)
        }.sorted { $0.name < $1.name }
    }

    /// Deletes an author with all books.
    func remove(author name: String) throws {
        let context = container.viewContext
        let request: NSFetchRequest<Author> = Author.fetchRequest()
        request.predicate = NSPredicate(format: "name == %@", name)
        for author in try context.fetch(request) { context.delete(author) }
        try context.save()
    }

    /// What was changed since the beginning.
    func changes() throws -> [String] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
        let context = container.viewContext
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
        return transactions.flatMap { $0.changes ?? [] }.map { change in
            let kind: String
            switch change.changeType {
            case .insert: kind = "insert"
            case .update: kind = "update"
            case .delete: kind = "delete"
            @unknown default: kind = "?"
            }
            return "\(kind) \(change.changedObjectID.entity.name ?? "?")"
        }
    }
}
