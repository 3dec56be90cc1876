// Derived attributes in batches.

import CairnModel
import CairnStore
import FoundationEssentials
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("Derived attributes and batches")
struct DerivedBatchTests {
    private func insert(
        _ entity: String, _ rows: [[String: Any]],
        _ change: (inout BatchInsertRequest) -> Void = { _ in }
    ) -> BatchInsertRequest {
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = .mergeByPropertyObjectTrump
        change(&request)
        return request
    }

    private func one(_ stack: Stack, _ entity: String, _ name: String) throws -> ManagedObject {
        let context = stack.context()
        let found = try context.find(entity, "name", .string(name))
        #expect(found.count == 1)
        return try #require(found.first)
    }

    @Test("New rows of a batch have their derived attributes", arguments: Backend.allCases)
    func inserted(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        // More than one batch of columns, and a few for the store that looks at everything.
        let count = backend == .dictionary ? 100 : 3000
        let names = (0..<count).map { "Ä\($0)" }
        let result = try stack.store.execute(
            insert("Author", names.map { ["name": $0] as [String: Any] }))
        #expect(result.insertedCount == count)
        let authors = try stack.context().all("Author")
        #expect(Set(authors.map { $0.string("key") }) == Set(names.map { "a" + $0.dropFirst() }))
        for author in authors {
            #expect(author.int("articleCount") == 0 && author.int("words") == 0)
            #expect(author["average"] == nil && author["city"] == nil && author["savedAt"] != nil)
        }
    }

    @Test(
        "Rows that a batch updates, and whoever is computed from them, are computed anew",
        arguments: Backend.allCases, [false, true])
    func updated(_ backend: Backend, _ setOnly: Bool) throws {
        let stack = try Stack(Models.press, backend)
        try stack.store { context in
            let publisher = context.make("Publisher", ["name": "P", "city": "Bern"])
            let author = context.make("Author", ["name": "A", "publisher": publisher])
            let tag = context.make("Tag", ["name": "t"])
            let articles = ["T", "U"].map { name in
                context.make("Article", ["name": name, "wordCount": 1, "author": author])
            }
            articles[1]["parent"] = articles[0]
            articles[0]["tags"] = Set([tag])
            return [author]
        }
        let before = try one(stack, "Article", "U")["savedAt"] as? Double
        let first = try one(stack, "Author", "A")["savedAt"] as? Date
        _ = try stack.store.execute(
            insert("Article", [["name": "T", "wordCount": 5], ["name": "new", "wordCount": 7]]) {
                $0.setOnly = setOnly
            })
        let author = try one(stack, "Author", "A")
        #expect(author.int("words") == 6 && author.int("longest") == 5)
        #expect(author["savedAt"] as? Date == first)
        #expect(try one(stack, "Tag", "t").int("words") == 5)
        #expect(try one(stack, "Article", "T").string("authorName") == "A")
        #expect(try one(stack, "Article", "T").int("partCount") == 1)
        #expect(try one(stack, "Article", "U")["savedAt"] as? Double == before)
        _ = try stack.store.execute(insert("Publisher", [["name": "P", "city": "Genf"]]))
        #expect(try one(stack, "Author", "A").string("city") == "genf")
        #expect(try one(stack, "Article", "U").string("city") == "Genf")
        // What says the same is not written.
        let version = author.version
        let same = insert("Article", [["name": "U", "wordCount": 1]]) { $0.setOnly = setOnly }
        #expect(try stack.store.execute(same).unchangedCount == 1)
        #expect(try one(stack, "Article", "U")["savedAt"] as? Double == before)
        #expect(try one(stack, "Author", "A").version == version + 1)
    }

    @Test(
        "One row after the other of one batch for one object: the last one counts",
        arguments: Backend.allCases)
    func twice(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let rows = [3, 4, 5].map { ["name": "É", "age": $0] as [String: Any] }
        _ = try stack.store.execute(insert("Author", rows))
        let author = try one(stack, "Author", "É")
        #expect(author.string("key") == "e" && author.int("age") == 5 && author.version == 1)
        #expect(author.int("articleCount") == 0)
    }

    @Test(
        "A row that updates an object of a descendant has that one's derived attributes",
        arguments: Backend.allCases)
    func descendants(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        try stack.store { context in
            let author = context.make("Author", ["name": "A"])
            return [
                context.make(
                    "Review",
                    ["name": "T", "wordCount": 2, "stars": 4, "author": author, "reviewer": author])
            ]
        }
        _ = try stack.store.execute(insert("Article", [["name": "T", "wordCount": 8]]))
        let author = try one(stack, "Author", "A")
        #expect(author.int("words") == 8 && author["stars"] as? Float == 4)
        _ = try stack.store.execute(insert("Review", [["name": "T", "wordCount": 8, "stars": 2]]))
        #expect(try one(stack, "Author", "A")["stars"] as? Float == 2)
        #expect(try one(stack, "Article", "T").string("authorName") == "A")
    }

    @Test("What a batch prunes counts no more", arguments: Backend.allCases)
    func pruned(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        try stack.store { context in
            let author = context.make("Author", ["name": "A"])
            for name in ["T", "U", "V"] {
                context.make("Article", ["name": name, "wordCount": 1, "author": author])
            }
            return [author]
        }
        let version = try one(stack, "Author", "A").version
        _ = try stack.store.execute(
            insert("Article", [["name": "T", "wordCount": 10]]) { $0.prunesMissing = true })
        let author = try one(stack, "Author", "A")
        #expect(author.int("articleCount") == 1 && author.int("words") == 10)
        #expect(author.string("first") == "T")
        #expect(author.version == version + 1, "one commit makes one version")
    }

    @Test("A batch delete computes anew what it leaves", arguments: Backend.allCases)
    func deleted(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        let ids = try stack.store { context in
            let publisher = context.make("Publisher", ["name": "P", "city": "Bern"])
            let author = context.make("Author", ["name": "A", "publisher": publisher, "age": 3])
            let friend = context.make("Author", ["name": "F"])
            friend["friends"] = Set([author])
            let series = context.make("Series", ["name": "S"])
            let article = context.make(
                "Article", ["name": "T", "wordCount": 4, "author": author, "series": series])
            let part = context.make("Article", ["name": "U", "parent": article, "wordCount": 2])
            friend["favourite"] = part
            return [publisher, author, friend, series, article, part]
        }
        func delete(_ index: Int, _ entity: String) throws {
            let schema = try #require(stack.store.schema.entity(named: entity))
            _ = try stack.store.execute(
                BatchDeleteRequest(.ids([ids[index]], entity: schema.index)))
        }
        let stamp = try one(stack, "Article", "T")["savedAt"] as? Double
        try delete(5, "Article")
        #expect(try one(stack, "Article", "T").int("partWords") == 0)
        #expect(try one(stack, "Article", "T")["savedAt"] as? Double == stamp)
        #expect(try one(stack, "Author", "F")["favouriteName"] == nil)
        try delete(3, "Series")
        #expect(try one(stack, "Article", "T")["seriesKey"] == nil)
        // Cascades to the author; the article is written, as it leads nowhere any more.
        try delete(0, "Publisher")
        let article = try one(stack, "Article", "T")
        #expect(article["authorName"] == nil && article["city"] == nil)
        #expect((article["savedAt"] as? Double ?? 0) > (stamp ?? .infinity))
        let friend = try one(stack, "Author", "F")
        #expect(friend.int("friendCount") == 0 && friend.int("friendAges") == 0)
    }
}
