// Typed entities over a real store: from classes to a model, objects, relationships, fetches.

import Cairn
import CairnTestSupport
import Testing

@Suite("Typed entities")
struct TypedShopTests {
    @Test("Classes make a container; objects of theirs are saved and fetched")
    func saved() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("shop.cairn")
        let container = try PersistentContainer(at: path, for: TypedProduct.self)
        let counts = try await container.performBackgroundTask { context in
            let anchor = context.insert(TypedProduct.self)
            #expect(anchor.name == "unnamed" && anchor.price == 0 && anchor.category == nil)
            #expect(anchor.serialCode == "")
            anchor.serialCode = "A-1"
            anchor.price = 9.5
            let basalt = TypedProduct(context: context)
            basalt.serialCode = "B-2"
            basalt.category = "stones"
            let tag = context.insert(TypedTag.self)
            tag.label = "new"
            anchor.tags.insert(tag)
            let maker = context.insert(TypedMaker.self)
            maker.products = [anchor, basalt]
            #expect(tag.products == [anchor])
            #expect(basalt.maker == maker)
            try context.save()
            return try context.count(for: FetchRequest<TypedProduct>())
        }
        #expect(counts == 2)
        let found = try await container.performBackgroundTask { context in
            let products = try context.fetch(
                FetchRequest<TypedProduct>(
                    predicate: .compare("price", .less, .double(10)),
                    sortBy: [SortKey("serialCode")]))
            return products.map {
                "\($0.serialCode) \($0.price) \($0.category ?? "-") \($0.tags.map(\.label)) \($0.maker?.products.count ?? 0)"
            }
        }
        #expect(found == ["A-1 9.5 - [\"new\"] 2", "B-2 0.0 stones [] 2"])
    }

    @Test("A batch is filled by the names of the properties")
    func batch() throws {
        let container = try PersistentContainer(inMemoryFor: TypedProduct.self)
        let context = ManagedObjectContext(store: container.store, classes: container.classes)
        let result = try context.execute(
            BatchInsertRequest(TypedProduct.self, from: 0..<10) { row, number in
                row.serialCode = "S-\(number)"
                row.price = Double(number)
                row.category = number % 2 == 0 ? "even" : nil
            })
        #expect(result.insertedCount == 10)
        let products = try context.fetch(FetchRequest<TypedProduct>(sortBy: [SortKey("price")]))
        #expect(products.map(\.serialCode) == (0..<10).map { "S-\($0)" })
        #expect(products.map(\.category) == (0..<10).map { $0 % 2 == 0 ? "even" : nil })
        #expect(products.allSatisfy { $0.name == "unnamed" && $0.stock == 0 })
    }
}
