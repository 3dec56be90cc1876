// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import Synchronization
import Testing

// WhenTheModelChanges 1 begins
enum LibraryV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentEntity.Type] { [Book.self, Loan.self] }

    @Entity final class Book: ManagedObject {
        var isbn: String?
        var title: String = ""
        var read: Date?
    }
    @Entity final class Loan: ManagedObject {
        var reader: String = ""
    }
}

enum LibraryV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentEntity.Type] { [Book.self] }

    @Entity final class Book: ManagedObject {
        @Attribute(.unique) var isbn: String?
        @Attribute(originalName: "title") var name: String = ""
        var read: Date?
        var pages: Int = 0
    }
}
// WhenTheModelChanges 1 ends

@Suite("When the model changes")
struct WhenTheModelChanges {
    private static func fill(_ path: String) throws {
        let container = try PersistentContainer(
            at: path, for: LibraryV1.Book.self, LibraryV1.Loan.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        for (isbn, title, day) in [("1", "Emma", 1), ("2", "Persuasion", 2), ("1", "emma", 3)] {
            let book = LibraryV1.Book(context: context)
            book.isbn = isbn
            book.title = title
            book.read = Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)
        }
        LibraryV1.Loan(context: context).reader = "me"
        try context.save()
        try container.store.close()
    }

    @Test("What would happen is asked, done or cancelled, seen by others, and kept as it was")
    func whole() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("library.cairn")
        try Self.fill(path)

        var told: [String] = []
        func print(_ text: Any) { told.append("\(text)") }
        // WhenTheModelChanges 2 begins
        let new = LibraryV2.managedObjectModel
        let old = try LogStore.metadata(forStoreAt: path).model
        let plan = try ModelMigrationPlan(from: old, to: new)
        for change in plan.changes {
            print(change)  // Book.name: attribute renamed from title
            if let loss = change.loss { print("lost: \(loss)") }  // lost: its objects
        }
        print(plan.conclusion)  // can be inferred if there are no duplicates of Book(isbn)
        // WhenTheModelChanges 2 ends
        #expect(told.contains("lost: its objects"))
        #expect(told.contains { $0.hasPrefix("Book.name: attribute renamed from title") })
        #expect(told.last == "can be inferred if there are no duplicates of Book(isbn)")

        told = []
        // WhenTheModelChanges 3 begins
        for duplicates in try LogStore.duplicates(at: path, for: Schema(new)) {
            print(duplicates)  // Book(isbn): 1 key is shared by 2 objects
            for example in duplicates.examples { print(example.objectIDs) }
        }
        // WhenTheModelChanges 3 ends
        #expect(told.first == "Book(isbn): 1 key is shared by 2 objects" && told.count == 2)

        // WhenTheModelChanges 4 begins
        var options = LogStoreOptions()
        options.deduplicateWhenMigrating([
            DeduplicationRequest(
                LibraryV2.Book.self, by: [\.isbn], keeping: .merge([:], into: .newest(by: "read")))
        ])
        // WhenTheModelChanges 4 ends

        let isCancelled = Mutex(true)
        let stages = Mutex<[String]>([])
        let show: @Sendable (MigrationProgress) -> Void = { progress in
            stages.withLock { $0.append(progress.stage.rawValue) }
        }
        var message = ""
        // WhenTheModelChanges 5 begins
        options.migrationProgress = { progress in
            show(progress)  // its stage, and done of total
            return !isCancelled.withLock { $0 }
        }
        do {
            _ = try PersistentContainer(at: path, for: LibraryV2.Book.self, options: options)
        } catch let error as StoreError where error.code == .migrationCancelled {
            message = "Not now: nothing has changed."  // the code is 134120
        }
        // WhenTheModelChanges 5 ends
        #expect(!message.isEmpty && StoreError.Code.migrationCancelled.rawValue == 134_120)
        #expect(try LogStore.metadata(forStoreAt: path).model == old)
        isCancelled.withLock { $0 = false }

        var reading = LogStoreOptions()
        reading.isReadOnly = true
        let reader = try LogStore.open(
            at: path, schema: Schema(LibraryV1.managedObjectModel), options: reading)

        // WhenTheModelChanges 6 begins
        options.checksSpaceBeforeMigration = true  // it is, unless you say false
        let container: PersistentContainer
        do {
            container = try PersistentContainer(
                at: path, for: LibraryV2.Book.self, options: options)
        } catch let error as StoreError where error.code == .noSpace {
            throw error  // the store is as it was: ask for room, and open it again
        }
        // WhenTheModelChanges 6 ends
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let books = FetchRequest<LibraryV2.Book>(sortBy: [SortKey("read")])
        #expect(try context.fetch(books).map(\.name) == ["Persuasion", "emma"])
        #expect(stages.withLock { $0 }.last == "finishing")

        var isToOpenAnew = false
        // WhenTheModelChanges 7 begins
        do throws(StoreError) {
            _ = try reader.refresh()
        } catch {
            // What it had read can be read still.
            isToOpenAnew = error.code == .incompatibleModel
        }
        // WhenTheModelChanges 7 ends
        #expect(isToOpenAnew)
        let then = ManagedObjectContext(store: reader)
        #expect(try then.count(for: FetchRequest(entityName: "Book")) == 3)
        try reader.close()

        let copy = directory.path("library-1.cairn")
        // WhenTheModelChanges 8 begins
        if let store = container.store as? LogStore {
            try store.backupBeforeMigration(to: copy)
        }
        // WhenTheModelChanges 8 ends
        try container.store.close()
        let before = try PersistentContainer(
            at: copy, for: LibraryV1.Book.self, LibraryV1.Loan.self)
        let kept = ManagedObjectContext(store: before.store, classes: before.classes)
        #expect(try kept.count(for: FetchRequest<LibraryV1.Book>()) == 3)
        #expect(try kept.count(for: FetchRequest<LibraryV1.Loan>()) == 1)
        try before.store.close()
    }
}
