// The examples of README, as code that runs; and that README has no other ones.

import Cairn
import CairnTestSupport
import Foundation
import Testing

// README 1 begins
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
// README 1 ends

@Suite("README's examples")
struct ReadmeTests {
    @Test("A feed that is imported twice doubles nothing, and tags survive the price update")
    func typed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("shop.cairn")

        // README 2 begins
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

        // Objects in a context: relationships, and a new object whose key is stored already.
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
        // README 2 ends

        #expect(counts == [2, 0, 0, 2])
        #expect(cheap == ["A-1: [\"on sale\"]"])
    }

    @Test("A model without classes serves the same store")
    func untyped() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("shop.cairn")

        // README 3 begins
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
        // README 3 ends

        #expect(names == ["Anchor"])
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
            // README 4 begins
            let toys = try FetchRequest<Product>(
                #Predicate { $0.category == "toys" && $0.price < 10 }, sortBy: [.init(\.price)])
            let steps = try context.explain(toys).steps
            // index byCategoryAndPrice (category, price) for category = "toys", price < 10.0, in its order
            // README 4 ends
            #expect(try context.fetch(toys).count == 10)
            return steps
        }
        #expect(
            steps
                == #"index byCategoryAndPrice (category, price) for category = "toys", price < 10.0, in its order"#
        )
    }

    @Test("README shows the trace of a slow list, and the list is quick as it says")
    func traced() async throws {
        let container = try PersistentContainer(inMemoryFor: Product.self, Tag.self)
        try await container.performBackgroundTask { context in
            for number in 0..<200 {
                let product = context.insert(Product.self)
                product.serialCode = "S-\(number)"
                product.name = "product \(1000 + number)"
                product.price = Double(number % 20)
                let tag = context.insert(Tag.self)
                tag.label = "tag \(number)"
                product.tags = [tag]
            }
            try context.save()
        }
        let lines = Lines()
        let faults = EventRecorder(.faultMisses)
        container.instruments = [TraceInstrument(level: .requests, to: lines.take), faults]
        func list(_ paths: [String]) async throws -> [String] {
            try await container.performBackgroundTask { context in
                var cheap = try FetchRequest<Product>(
                    #Predicate { $0.price < 10 }, sortBy: [.init(\.name)])
                cheap.relationshipKeyPathsForPrefetching = paths
                return try context.fetch(cheap).map { "\($0.name): \($0.tags.map(\.label))" }
            }
        }
        let slow = try await list([])
        let trace = lines.all()
        #expect(faults.take().count == 200)
        let fast = try await list(["tags"])
        let curedTrace = lines.all()
        #expect(faults.take().isEmpty)
        #expect(fast == slow && slow.count == 100)
        #expect(trace.count == 2 && curedTrace.count == 2)
        let file = URL(filePath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let shown = readme.split(separator: "\n").filter { $0.hasPrefix("cairn: ") }
            .map { String($0).replacing(/in \d+\.\d{3} ms/, with: "in … ms") }
        #expect(shown == trace + curedTrace)
    }

    @Test("README shows these examples", arguments: 1...4)
    func shown(_ number: Int) throws {
        let file = URL(filePath: #filePath)
        let source = try String(contentsOf: file, encoding: .utf8)
        let root = file.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let start = try #require(source.range(of: "// README \(number) begins\n"))
        let end = try #require(source.range(of: "// README \(number) ends"))
        let lines = source[start.upperBound..<end.lowerBound].split(
            separator: "\n", omittingEmptySubsequences: false
        ).dropLast()
        let indent = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        let example = lines.map { $0.dropFirst(indent) }.joined(separator: "\n")
            .replacing("at: path", with: "at: \"shop.cairn\"")
        let imports = number == 1 ? "import Cairn\n\n" : ""
        #expect(readme.contains("```swift\n\(imports)\(example)\n```"))
    }
}
