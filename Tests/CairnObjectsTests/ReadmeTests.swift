// The example of README, as code that runs.

import Cairn
import CairnTestSupport
import Testing

@Suite("README's example")
struct ReadmeTests {
    @Test("A feed that is imported twice doubles nothing, and tags survive the price update")
    func shop() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("shop.cairn")

        // README begins
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Product",
                attributes: [
                    .init("serialCode", .string, optional: false), .init("name", .string),
                    .init("price", .double),
                ],
                relationships: [.init("tags", to: "Tag", toMany: true, inverse: "products")],
                uniquenessConstraints: [["serialCode"]]),
            EntityDescription(
                "Tag", attributes: [.init("label", .string)],
                relationships: [.init("products", to: "Product", toMany: true, inverse: "tags")]),
        ])
        let container = try PersistentContainer(at: path, model: model)

        // The feed, twice: the second time it updates what is there.
        let counts = try await container.performBackgroundTask { context in
            var counts: [Int] = []
            for price in [9.5, 8.0] {
                var request = BatchInsertRequest(
                    entityName: "Product",
                    objects: [
                        ["serialCode": "A-1", "name": "Anchor", "price": price],
                        ["serialCode": "B-2", "name": "Basalt", "price": price * 2],
                    ])
                request.mergePolicy = .mergeByPropertyObjectTrump
                let result = try context.execute(request)
                counts += [result.insertedCount, result.updatedCount]
            }
            return counts
        }
        print(counts)  // [2, 0, 0, 2]

        // Objects in a context: relationships, and a new object whose key is stored already.
        let cheap = try await container.performBackgroundTask { context in
            var request = FetchRequest(entityName: "Product")
            request.predicate = try PredicateNode(format: "serialCode == 'A-1'")
            let anchor = try context.fetch(request)[0]
            let tag = context.insert("Tag")
            tag["label"] = "on sale"
            anchor["tags"] = [tag] as Set
            try context.save()

            context.mergePolicy = .mergeByPropertyObjectTrump
            let update = context.insert("Product")
            update["serialCode"] = "A-1"
            update["price"] = 7.25
            try context.save()  // one object, with the new price and the old tags

            request.predicate = try PredicateNode(format: "price < %@", [.double(10)])
            return try context.fetch(request).map { product in
                let tags = product["tags"] as? Set<ManagedObject> ?? []
                return "\(product["serialCode"] ?? "?"): \(tags.count) tag"
            }
        }
        print(cheap)  // ["A-1: 1 tag"]
        // README ends

        #expect(counts == [2, 0, 0, 2])
        #expect(cheap == ["A-1: 1 tag"])
    }
}
