// What a batch that prunes does with objects of entities that inherit from its own.

import CairnModel
import CairnObjects
import CairnStore
import StoreBackends
import Testing

@Suite("Pruning descendants")
struct PruningDescendantsTests {
    @Test(
        "Objects of descendants that no row names go too, those that one names stay; parents are left alone",
        arguments: Backend.allCases)
    func family(_ backend: Backend) throws {
        let stack = try Stack(Models.press, backend)
        try stack.store { context in
            let author = context.make("Author", ["name": "A"])
            for (entity, name) in [
                ("Article", "a"), ("Article", "b"), ("Review", "c"), ("Review", "d"),
                ("Reprint", "e"),
            ] {
                context.make(entity, ["name": name, "author": author])
            }
            return [author]
        }
        func prune(_ entity: String, _ names: [String]) throws -> Int {
            var request = BatchInsertRequest(
                entityName: entity, objects: names.map { ["name": $0, "wordCount": 1] })
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.prunesMissing = true
            return try stack.store.execute(request).deletedCount
        }
        func names() throws -> [String] {
            try stack.context().all("Article").map { $0.string("name") ?? "" }.sorted()
        }
        // A list of reviews says nothing of articles that are none.
        #expect(try prune("Review", ["c", "f"]) == 1)
        #expect(try names() == ["a", "b", "c", "e", "f"])
        #expect(try prune("Article", ["a", "c"]) == 3)
        #expect(try names() == ["a", "c"])
        let author = try #require(try stack.context().all("Author").first)
        #expect(author.int("articleCount") == 2)
    }
}
