// Fetches that nobody waits for.

import CoreData
import Testing

@Suite("Asynchronous fetches with Core Data's names")
struct AsynchronousFetchTests {
    /// Executes a request, and gives what its block was called with.
    private func result<T>(
        _ request: NSFetchRequest<T>, in context: NSManagedObjectContext,
        _ before: @escaping (NSAsynchronousFetchResult<T>) -> Void = { _ in }
    ) async throws -> NSAsynchronousFetchResult<T> {
        try await withCheckedThrowingContinuation { continuation in
            context.perform {
                let request = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    continuation.resume(returning: result)
                }
                // What it gives at once has nothing in it yet: its block runs here, later.
                do {
                    let result = try context.execute(request) as! NSAsynchronousFetchResult<T>
                    #expect(result.finalResult == nil)
                    before(result)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    @Test("results of each kind come on the context's queue")
    func kinds() async throws {
        let context = try Library.make()
        let books: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        books.predicate = NSPredicate(format: "year > 1993")
        books.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let found = try await result(books, in: context)
        #expect(found.operationError == nil)
        #expect(found.managedObjectContext === context)
        await context.perform {
            #expect(found.finalResult?.map(\.title) == ["Birch", "Cedar", "Dogwood"])
        }
        #expect(found.progress?.totalUnitCount == 3)
        #expect(found.progress?.completedUnitCount == 3)
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
        ids.resultType = .managedObjectIDResultType
        #expect(try await result(ids, in: context).finalResult?.count == 3)
        let rows = NSFetchRequest<NSDictionary>(entityName: "Author")
        rows.resultType = .dictionaryResultType
        #expect(try await result(rows, in: context).finalResult?.count == 3)
        let count = NSFetchRequest<NSNumber>(entityName: "Author")
        count.resultType = .countResultType
        #expect(try await result(count, in: context).finalResult == [3])
    }

    @Test("who cancels gets no results, but a call of the block with an error")
    func cancelling() async throws {
        let context = try Library.make()
        let books: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        let found = try await result(books, in: context) { $0.cancel() }
        #expect(found.finalResult == nil)
        #expect(found.operationError != nil)
        let again = try await result(books, in: context) { $0.progress?.cancel() }
        #expect(again.operationError != nil)
    }

    @Test("a request that cannot be answered gives its error to the block")
    func failing() async throws {
        let context = try Library.make()
        let books: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        books.predicate = NSPredicate(format: "nothing == 1")
        let found = try await result(books, in: context)
        #expect(found.finalResult == nil)
        #expect((found.operationError as NSError?)?.domain == NSCocoaErrorDomain)
        let confined = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        confined.persistentStoreCoordinator = context.persistentStoreCoordinator
        #expect(throws: NSError.self) {
            try confined.execute(NSAsynchronousFetchRequest(fetchRequest: books))
        }
    }

    @Test("the progress is part of the one that was current")
    func progress() async throws {
        let context = try Library.make()
        let books: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        let whole = Progress(totalUnitCount: 1)
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, Error>) in
            context.performAndWait {
                whole.becomeCurrent(withPendingUnitCount: 1)
                let request = NSAsynchronousFetchRequest(fetchRequest: books) { _ in
                    continuation.resume()
                }
                request.estimatedResultCount = 100
                do { try context.execute(request) } catch { continuation.resume(throwing: error) }
                whole.resignCurrent()
            }
        }
        #expect(whole.fractionCompleted == 1)
    }
}
