// The examples of the article of this name, as code that runs.

import Cairn
import CairnTestSupport
import Foundation
import StoreBackends
import Synchronization
import Testing

/// A chandler's goods.
enum Goods {
    // ManyObjectsAtOnce 1 begins
    @Entity
    final class Product: ManagedObject {
        #Unique<Product>([\.serialCode])
        var serialCode: String = ""
        var name: String = ""
        var price: Double = 0
        var isListed: Bool = true
        @Relationship(inverse: \Shop.products) var shop: Shop?
    }

    @Entity
    final class Shop: ManagedObject {
        #Unique<Shop>([\.name])
        var name: String = ""
        var products: Set<Product>
    }

    struct Item {
        let code: String
        let name: String
        let price: Double
    }
    // ManyObjectsAtOnce 1 ends
}

@Suite("Many objects at once")
struct ManyObjectsAtOnce {
    typealias Product = Goods.Product
    typealias Shop = Goods.Shop
    typealias Item = Goods.Item

    /// The goods by their codes: code, name, price, whether it is listed, shop.
    private func goods(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Product>(sortBy: [SortKey(\Product.serialCode)])).map {
            "\($0.serialCode) \($0.name) \($0.price) \($0.isListed) \($0.shop?.name ?? "-")"
        }
    }

    @Test(
        "Feeds come, go missing, are changed and are united, by a request each",
        arguments: Backend.compared)
    func requests(_ backend: Backend) async throws {
        let container = try backend.container(for: Product.self, Shop.self)
        try await container.performBackgroundTask { context in
            // ManyObjectsAtOnce 2 begins
            let (corner, isNew) = try context.findOrInsert(Shop.self, \.name, "Corner")
            let shops = try context.findOrInsert(Shop.self, \.name, in: ["Corner", "Harbour"])
            try context.save()
            // isNew is true. The first of the shops is the corner, which is not new any more.
            // ManyObjectsAtOnce 2 ends
            #expect(isNew && shops.map(\.isNew) == [false, true])
            #expect(shops[0].object === corner)
            #expect(try context.count(for: FetchRequest<Shop>()) == 2)
            // ManyObjectsAtOnce 3 begins
            let list = [
                Item(code: "A-1", name: "Anchor", price: 40),
                Item(code: "A-2", name: "Buoy", price: 12),
                Item(code: "A-3", name: "Chart", price: 8),
            ]
            try context.execute(
                BatchInsertRequest(Product.self, from: list) { row, item in
                    row.serialCode = item.code
                    row.name = item.name
                    row.price = item.price
                    row.shop = .key("Corner")
                })
            // ManyObjectsAtOnce 3 ends
            #expect(
                try goods(context) == [
                    "A-1 Anchor 40.0 true Corner", "A-2 Buoy 12.0 true Corner",
                    "A-3 Chart 8.0 true Corner",
                ])
        }
        try await container.performBackgroundTask { context in
            // ManyObjectsAtOnce 4 begins
            let lines = Mutex("B-1;Buoy;11\nB-2;Rope;5".split(separator: "\n").makeIterator())
            try context.execute(
                BatchInsertRequest(
                    entityName: "Product",
                    dictionaryHandler: { row in
                        guard let line = lines.withLock({ $0.next() }) else { return true }
                        let fields = line.split(separator: ";").map(String.init)
                        row["serialCode"] = fields[0]
                        row["name"] = fields[1]
                        row["price"] = Double(fields[2])
                        row["shop"] = RowTarget.key("Harbour")
                        return false
                    }))
            // ManyObjectsAtOnce 4 ends
            #expect(
                try goods(context)[3...] == [
                    "B-1 Buoy 11.0 true Harbour", "B-2 Rope 5.0 true Harbour",
                ])
        }
        try await container.performBackgroundTask { context in
            // ManyObjectsAtOnce 5 begins
            let today = [
                Item(code: "A-1", name: "Anchor", price: 38),
                Item(code: "A-4", name: "Dinghy", price: 90),
            ]
            var request = BatchInsertRequest(Product.self, from: today) { row, item in
                row.serialCode = item.code
                row.name = item.name
                row.price = item.price
                row.shop = .key("Corner")
                row.isListed = true
            }
            .markingMissing(\Product.isListed, as: false)
            .withMissing(in: #Predicate<Product> { $0.shop?.name == "Corner" })
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.resultType = .count
            let result = try context.execute(request)
            // 1 inserted, 1 updated, 2 marked: A-2 and A-3. What the harbour sells is not looked at.
            // ManyObjectsAtOnce 5 ends
            #expect(result.insertedCount == 1 && result.updatedCount == 1)
            #expect(result.markedCount == 2 && result.deletedCount == 0)
            #expect(
                try goods(context) == [
                    "A-1 Anchor 38.0 true Corner", "A-2 Buoy 12.0 false Corner",
                    "A-3 Chart 8.0 false Corner", "A-4 Dinghy 90.0 true Corner",
                    "B-1 Buoy 11.0 true Harbour", "B-2 Rope 5.0 true Harbour",
                ])
        }
        try await container.performBackgroundTask { context in
            // ManyObjectsAtOnce 6 begins
            let cheaper = try context.execute(
                BatchUpdateRequest(Product.self, where: #Predicate { $0.isListed && $0.price > 10 })
                    .set(\Product.price, to: #Expression { $0.price / 2 }))
            // 3 updated: A-1 costs 19, A-4 costs 45, B-1 costs 5.5.
            // ManyObjectsAtOnce 6 ends
            #expect(cheaper.updatedCount == 3)
            #expect(
                try goods(context) == [
                    "A-1 Anchor 19.0 true Corner", "A-2 Buoy 12.0 false Corner",
                    "A-3 Chart 8.0 false Corner", "A-4 Dinghy 45.0 true Corner",
                    "B-1 Buoy 5.5 true Harbour", "B-2 Rope 5.0 true Harbour",
                ])
            let before = try goods(context)
            // ManyObjectsAtOnce 7 begins
            var duplicates = DeduplicationRequest(
                Product.self, by: [\.name], keeping: .merge([:], into: .smallest(by: "serialCode")))
            duplicates.isDryRun = true
            let planned = try context.execute(duplicates)
            // One group: A-2 would stay, and B-1 would be deleted. Nothing is yet.
            // ManyObjectsAtOnce 7 pauses
            #expect(planned.deletedCount == 1)
            #expect(try goods(context) == before)
            // ManyObjectsAtOnce 7 goes on

            duplicates.isDryRun = false
            let done = try context.execute(duplicates)
            // The same, and the id of B-1 leads to A-2 from now on.
            // ManyObjectsAtOnce 7 ends
            #expect(done == planned && done.deletedCount == 1 && done.groups.count == 1)
            #expect(try goods(context) == before.filter { !$0.hasPrefix("B-1") })
            let winner = try #require(
                try context.fetch(
                    FetchRequest<Product>(predicate: .compare(\Product.serialCode, .equal, "A-2"))
                ).first)
            #expect(done.groups[0].winner == winner.objectID)
            #expect(try context.existingObject(with: done.groups[0].losers[0]) === winner)
        }
    }
}
