// How many lists a cache remembers, and which go.

import CairnModel
import CairnStore
import StoreBackends
import Testing

@testable import CairnObjects

@Suite("The bounds of a cache of lists")
struct SectionCacheBoundsTests {
    private let stack: Stack
    private let context: ManagedObjectContext

    init() throws {
        stack = try Stack(Models.shop, .dictionary)
        _ = try stack.products(10)
        context = stack.context()
    }

    /// Whether a list of so many objects is found.
    private func isFound(_ cache: SectionCache, _ name: String, _ count: Int = 1) throws -> Bool {
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("name")]
        request.fetchLimit = count
        let follower = ResultsFollower(request.terms, sectionKey: nil, holdsObjects: false)
        try follower.load(context, cache: .init(name: name, cache: cache))
        #expect(follower.list?.count == count)
        return follower.fetches == 0
    }

    @Test("Beyond the number of names the one goes that was not used for longest")
    func names() throws {
        let cache = SectionCache(lists: 3, objects: 100)
        for name in ["a", "b", "c"] { #expect(try !isFound(cache, name)) }
        for name in ["c", "a", "b"] { #expect(try isFound(cache, name)) }
        #expect(try !isFound(cache, "d"))
        #expect(try isFound(cache, "a") && isFound(cache, "b") && isFound(cache, "d"))
        #expect(try !isFound(cache, "c"))
        #expect(try !isFound(cache, "a"))
    }

    @Test(
        "Beyond the number of objects lists go until they are few enough, and one that is too long is not kept"
    )
    func objects() throws {
        let cache = SectionCache(lists: 9, objects: 8)
        for name in ["a", "b", "c"] { #expect(try !isFound(cache, name, 2)) }
        #expect(try !isFound(cache, "d", 5))
        #expect(try isFound(cache, "d", 5) && isFound(cache, "c", 2))
        #expect(try !isFound(cache, "a", 1))
        // What has the name goes, though what comes is too long.
        #expect(try !isFound(cache, "c", 9) && !isFound(cache, "c", 9) && !isFound(cache, "c", 2))
        #expect(try isFound(cache, "d", 5))
        // Its place is free again once it has gone.
        cache.remove("d")
        #expect(try !isFound(cache, "e", 5) && isFound(cache, "e", 5) && isFound(cache, "c", 2))
        cache.remove(nil)
        #expect(try !isFound(cache, "e", 5) && !isFound(cache, "c", 2))
    }

    @Test("Lists of stores that are gone leave with the next one that comes")
    func gone() throws {
        let cache = SectionCache(lists: 3, objects: 100)
        for name in ["a", "b"] {
            let stack = try Stack(Models.shop, .dictionary)
            _ = try stack.products(1)
            let follower = ResultsFollower(
                FetchRequest(entityName: "Product").terms, sectionKey: nil, holdsObjects: false)
            try follower.load(stack.context(), cache: .init(name: name, cache: cache))
        }
        for name in ["c", "d", "e"] { #expect(try !isFound(cache, name)) }
        for name in ["c", "d", "e"] { #expect(try isFound(cache, name)) }
    }
}
