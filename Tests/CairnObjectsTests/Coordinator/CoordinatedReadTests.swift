// Reading through a coordinator: one object, one key, the members of one object and whole fetches go to the store alone, and
// what they give must lead to the objects of that store.

import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials
import StoreBackends
import Testing

@Suite("Reading through a coordinator")
struct CoordinatedReadTests {
    /// What a context shows of an object, as far as it is read by whatever way.
    private static func text(_ product: ManagedObject) -> String {
        let tags = product.members("tags").compactMap { $0.string("label") }.sorted()
        return "\(product.string("serialCode") ?? "-") \(product.string("note")?.count ?? -1)"
            + " \(product["price"] ?? "-") in \(product.object("shop")?.string("name") ?? "-")"
            + " \(tags)"
    }

    /// A coordinator of stores with the same objects but for their shops' names, and what each product shows.
    private static func stores(_ backend: Backend, _ count: Int) throws -> (
        TwoStores, [[ObjectID: String]]
    ) {
        let stores = try TwoStores(Models.shop, backend, Array(repeating: nil, count: count))
        var texts: [[ObjectID: String]] = []
        for index in 0..<count {
            let context = stores.alone(index)
            let shops = (0..<7).map { context.make("Shop", ["name": "\(index).\($0)"]) }
            let tags = (0..<3).map { context.make("Tag", ["label": "\(index).\($0)"]) }
            let products = (0..<300).map { number in
                // Some are larger than a block lets its rows be.
                let length = number % 50 == 7 ? 90_000 : number
                let product = context.make(
                    "Product",
                    [
                        "serialCode": "\(number)", "price": Double(number * 7 % 100),
                        "note": String(repeating: "x", count: length),
                    ])
                if number % 4 > 0 { product["shop"] = shops[number % 7] }
                if number % 5 == 0 { product["tags"] = [tags[number % 3]] as Set }
                return product
            }
            try context.save()
            texts.append(
                Dictionary(
                    uniqueKeysWithValues: products.map { ($0.objectID, text($0)) }))
        }
        return (stores, texts)
    }

    @Test(
        "each way of reading gives the objects of their store, with one store and with two",
        arguments: Backend.allCases, [1, 2])
    func ways(_ backend: Backend, _ count: Int) throws {
        let (stores, texts) = try Self.stores(backend, count)
        let expected = texts.reduce(into: [:]) { $0.merge($1) { _, new in new } }
        func check(_ products: [ManagedObject], _ number: Int, _ what: Comment) {
            #expect(products.count == number, what)
            for product in products {
                #expect(Self.text(product) == expected[product.objectID], what)
            }
        }
        check(try stores.context().all("Product"), 300 * count, "all")
        var request = FetchRequest(entityName: "Product")
        request.sortDescriptors = [SortKey("price"), SortKey("serialCode", ascending: false)]
        request.fetchLimit = 70
        request.predicate = .compare("price", .greater, .double(20))
        check(try stores.context().fetch(request), 70, "sorted")
        // By its key; faults one by one.
        check(try stores.context().find("Product", "serialCode", .string("107")), count, "key")
        let context = stores.context()
        check(expected.keys.map { context.object(with: $0) }, 300 * count, "faults")
        // By the other side of relationships.
        let other = stores.context()
        let members = try other.all("Shop").flatMap { $0.members("products") }
        check(Array(members), 225 * count, "members")
        let tagged = try stores.context().all("Tag").flatMap { $0.members("products") }
        check(Array(tagged), 60 * count, "pairs")
    }

    @Test(
        "a row that is gone, and a store that was removed, are noticed", arguments: Backend.allCases
    )
    func gone(_ backend: Backend) throws {
        let (stores, texts) = try Self.stores(backend, 1)
        let ids = texts[0].keys.sorted { $0.reference < $1.reference }
        let context = stores.context()
        let (one, other) = (context.object(with: ids[0]), context.object(with: ids[1]))
        let shop = try #require(try context.all("Shop").first)
        let alone = stores.alone(0)
        alone.delete(alone.object(with: ids[0]))
        try alone.save()
        context.shouldDeleteInaccessibleFaults = false
        #expect(storeError { try context.fulfill([one]) }?.code == .objectNotFound)
        #expect(try context.find("Product", "serialCode", .string("0")).isEmpty)
        try stores.coordinator.remove(stores.first)
        #expect(try context.find("Product", "serialCode", .string("1")).isEmpty)
        #expect(try context.all("Product").isEmpty)
        #expect(other.isDeleted && shop.isDeleted)
    }
}
