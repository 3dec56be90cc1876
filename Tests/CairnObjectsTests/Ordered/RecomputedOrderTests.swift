// Members that one save computes anew and puts in another order.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import StoreBackends
import Testing

@Suite("Members that are computed anew and reordered")
struct RecomputedOrderTests {
    /// A shelf of books in order, each with the place of its shelf.
    private static let model: ManagedObjectModel = {
        var books = RelationshipDescription("books", to: "Book", toMany: true, inverse: "shelf")
        books.isOrdered = true
        return ManagedObjectModel(entities: [
            EntityDescription(
                "Shelf", attributes: [AttributeDescription("place", .string)],
                relationships: [books]),
            EntityDescription(
                "Book",
                attributes: [
                    AttributeDescription("name", .string),
                    .derived("place", .string, "uppercase:(shelf.place)"),
                ], relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "books")]),
        ])
    }()

    @Test("A commit gives a row one version, whatever it writes of it", arguments: Backend.allCases)
    func versions(_ backend: Backend) throws {
        let stack = try Stack(Self.model, backend)
        let context = stack.context()
        let books = "abcd".map { context.make("Book", ["name": String($0)]) }
        let shelf = context.make("Shelf", ["place": "cellar", "books": books])
        try context.save()

        shelf["place"] = "attic"
        shelf["books"] = [books[3], books[0], books[1], books[2]]
        try context.save()
        #expect(shelf.names("books") == ["d", "a", "b", "c"])
        #expect(books.allSatisfy { $0.string("place") == "ATTIC" })
        let rows = try stack.store.snapshot().rows(books.map(\.objectID))
        #expect(rows.map { $0?.version } == [2, 2, 2, 2])

        // What the context was told is what is stored: its next save is no conflict.
        shelf["books"] = books
        shelf["place"] = "hall"
        books[3]["name"] = "z"
        try context.save()
        let fresh = shelf.fresh(stack)
        #expect(fresh.names("books") == ["a", "b", "c", "z"])
        #expect(fresh.list("books").allSatisfy { $0.string("place") == "HALL" })
        books[3]["name"] = "y"
        books[0]["name"] = "x"
        try context.save()
        #expect(fresh.fresh(stack).names("books") == ["x", "b", "c", "y"])
    }
}
