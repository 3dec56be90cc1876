// Books for lists that are cached: with sections by a stored property, by one of another object, and by computed ones.

import Cairn
import CairnModel
import CairnStore
import StoreBackends
import Synchronization

@testable import CairnObjects

@Entity
final class CachedWriter: ManagedObject {
    var name: String = ""
    var country: String = ""
    var books: Set<CachedBook>
}

@Entity
final class CachedBook: ManagedObject {
    var title: String = ""
    var shelf: String = ""
    var pages: Int = 0
    @Relationship(inverse: \CachedWriter.books) var writer: CachedWriter?
    @Attribute(.ephemeral) var mark: String = ""

    /// Counts in the context how often it is asked.
    var initial: String {
        let asked = managedObjectContext?.userInfo["asked"] as? Int ?? 0
        managedObjectContext?.userInfo["asked"] = asked + 1
        return self[0]
    }
    /// Made of another object.
    var origin: String { writer?.country ?? "" }
    subscript(place: Int) -> String { String(title.dropFirst(place).prefix(1)) }
}

/// A store of books that counts what it is asked.
struct CachedBooks {
    let store: CountingStore
    let stack: Stack
    private let questions: Questions

    private final class Questions: Sendable {
        let count = Atomic<Int>(0)
    }

    init(_ backend: Backend) throws {
        let questions = Questions()
        self.questions = questions
        let model = ManagedObjectModel(for: CachedBook.self)
        store = CountingStore(
            try backend.makeStore(Schema(model)),
            onQuestion: { _ in questions.count.add(1, ordering: .relaxed) })
        stack = Stack(store: store, classes: ObjectClasses(for: CachedBook.self))
    }

    /// How many fetches were answered.
    var fetches: Int { questions.count.load(ordering: .relaxed) }

    /// Stores books "a0", "b1" … of two writers on three shelves.
    @discardableResult
    func fill(_ count: Int = 30) throws -> [ObjectID] {
        try stack.store { context in
            let writers = ["at", "ch"].map {
                context.make("CachedWriter", ["name": $0, "country": $0])
            }
            return (0..<count).map { number in
                let letter = ["a", "b", "c", "d"][number % 4]
                let book = context.make(
                    "CachedBook",
                    [
                        "title": "\(letter)\(number)", "shelf": "s\(number % 3)",
                        "pages": number,
                    ])
                book["writer"] = writers[number % 2]
                return book
            }
        }
    }
}

/// What sections of books are named after.
enum BookSections: CaseIterable, Sendable {
    case none, shelf, country, initial, origin

    /// Whether books name them.
    var areOfObjects: Bool { self == .initial || self == .origin }

    var sort: [SortKey] {
        switch self {
        case .none, .initial: [SortKey("title")]
        case .shelf: [SortKey("shelf"), SortKey("title", ascending: false)]
        case .country, .origin: [SortKey("writer.country"), SortKey("title")]
        }
    }

    func request(_ format: String? = nil, batch: Int = 0) throws -> FetchRequest<CachedBook> {
        var request = FetchRequest<CachedBook>()
        if let format { request.predicate = try PredicateNode(format: format) }
        request.sortDescriptors = sort
        request.fetchBatchSize = batch
        return request
    }

    func controller(
        _ request: FetchRequest<CachedBook>, _ context: ManagedObjectContext, cache: String?
    ) -> FetchedResultsController<CachedBook> {
        func made<Name>(_ path: KeyPath<CachedBook, Name>) -> FetchedResultsController<CachedBook> {
            FetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path,
                cacheName: cache)
        }
        switch self {
        case .none:
            return FetchedResultsController(
                fetchRequest: request, managedObjectContext: context, cacheName: cache)
        case .shelf: return made(\.shelf)
        case .country:
            return FetchedResultsController(
                fetchRequest: request, managedObjectContext: context,
                sectionNameKeyPath: "writer.country", cacheName: cache)
        case .initial: return made(\.initial)
        case .origin: return made(\.origin)
        }
    }
}

extension FetchedResultsController<CachedBook> {
    /// What it shows, in words.
    var shown: [String] {
        (sections ?? []).map { section in
            section.name + ":" + section.objects.map(\.title).joined(separator: " ")
        } + sectionIndexTitles
    }
}
