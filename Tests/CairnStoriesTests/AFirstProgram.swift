// The examples of the article of this name, as code that runs. The first two are README's.

import Cairn
import CairnTestSupport
import Foundation
import Testing

/// What a shop sells.
enum FirstShop {
    // AFirstProgram 1 begins
    @Entity
    final class Product: ManagedObject {
        #Unique<Product>([\.serialCode])
        #Index<Product>([\.category, \.price])
        var serialCode: String
        var name: String = ""
        var price: Double = 0
        var category: String?
        @Relationship(deleteRule: .nullify, inverse: \Tag.products) var tags: Set<Tag>
    }

    @Entity
    final class Tag: ManagedObject {
        @Attribute(.unique) var label: String = ""
        var products: Set<Product>
    }
    // AFirstProgram 1 ends
}

@Suite("A first program")
struct AFirstProgram {
    typealias Product = FirstShop.Product
    typealias Tag = FirstShop.Tag

    @Test("A feed that is imported twice doubles nothing, and tags survive the price update")
    func typed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("shop.cairn")

        // AFirstProgram 2 begins
        let container = try PersistentContainer(at: path, for: Product.self, Tag.self)

        // The feed, twice: the second time it updates what is there.
        let feed = [("A-1", "Anchor", 9.5), ("B-2", "Basalt", 19.0)]
        let counts = try await container.performBackgroundTask { context in
            var counts: [Int] = []
            for factor in [1.0, 0.8] {
                var request = BatchInsertRequest(Product.self, from: feed) { row, item in
                    row.serialCode = item.0
                    row.name = item.1
                    row.price = item.2 * factor
                }
                request.mergePolicy = .mergeByPropertyObjectTrump
                let result = try context.execute(request)
                counts += [result.insertedCount, result.updatedCount]
            }
            return counts
        }
        print(counts)  // [2, 0, 0, 2]
        // AFirstProgram 2 ends
        #expect(counts == [2, 0, 0, 2])

        // AFirstProgram 3 begins
        let cheap = try await container.performBackgroundTask { context in
            let anchor = try context.fetch(
                FetchRequest<Product>(#Predicate { $0.serialCode == "A-1" }))[0]
            let tag = context.insert(Tag.self)
            tag.label = "on sale"
            anchor.tags.insert(tag)
            try context.save()

            context.mergePolicy = .mergeByPropertyObjectTrump
            let update = context.insert(Product.self)
            update.serialCode = "A-1"
            update.name = "Anchor"
            update.price = 7.25
            try context.save()  // one object, with the new price and the old tags

            let cheap = try FetchRequest<Product>(
                #Predicate { $0.price < 10 }, sortBy: [.init(\.name)])
            return try context.fetch(cheap).map { "\($0.serialCode): \($0.tags.map(\.label))" }
        }
        print(cheap)  // ["A-1: [\"on sale\"]"]
        // AFirstProgram 3 ends
        #expect(cheap == ["A-1: [\"on sale\"]"])
    }

    @Test("The plan of a fetch names the index that the class declares")
    func planned() async throws {
        let container = try PersistentContainer(inMemoryFor: Product.self, Tag.self)
        let steps = try await container.performBackgroundTask { context in
            _ = try context.execute(
                BatchInsertRequest(Product.self, from: 0..<1000) { row, number in
                    row.serialCode = "S-\(number)"
                    row.price = Double(number % 100)
                    row.category = number % 10 == 3 ? "toys" : "tools"
                })
            // AFirstProgram 4 begins
            let toys = try FetchRequest<Product>(
                #Predicate { $0.category == "toys" && $0.price < 10 }, sortBy: [.init(\.price)])
            let steps = try context.explain(toys).steps
            // index byCategoryAndPrice (category, price) for category = "toys", price < 10.0, in its order
            // AFirstProgram 4 ends
            #expect(try context.fetch(toys).count == 10)
            return steps
        }
        #expect(
            steps
                == #"index byCategoryAndPrice (category, price) for category = "toys", price < 10.0, in its order"#
        )
    }

    @Test("A model without classes serves the same store")
    func untyped() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("shop.cairn")

        // AFirstProgram 5 begins
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Product",
                attributes: [
                    .init("serialCode", .string, optional: false), .init("name", .string),
                    .init("price", .double),
                ],
                uniquenessConstraints: [["serialCode"]])
        ])
        let container = try PersistentContainer(at: path, model: model)
        let names = try await container.performBackgroundTask { context in
            try context.execute(
                BatchInsertRequest(
                    entityName: "Product",
                    objects: [["serialCode": "A-1", "name": "Anchor", "price": 9.5]]))
            let update = context.insert("Product")
            try update.setValuesForKeys(["serialCode": "A-1", "name": "Anchor", "price": 7.25])
            context.mergePolicy = .mergeByPropertyObjectTrump
            try context.save()

            var request = FetchRequest(entityName: "Product")
            request.predicate = try PredicateNode(format: "price < %@", [.double(8)])
            return try context.fetch(request).map { $0["name"] as? String }
        }
        print(names)  // [Optional("Anchor")]
        // AFirstProgram 5 ends

        #expect(names == ["Anchor"])
    }
}
