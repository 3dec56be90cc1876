import Cairn

/// A product as the supplier writes it.
struct Item: Codable {
    var code: String
    var name: String
    var price: Double
}

@main
struct FirstSteps {
    static func main() async throws {
        let container = try PersistentContainer(at: "shop.cairn", for: Product.self)

        let list = try Data(contentsOf: URL(filePath: "feed.json"))
        let feed = try JSONDecoder().decode([Item].self, from: list)
        let result = try await container.performBackgroundTask { context in
            var request = BatchInsertRequest(Product.self, from: feed) { row, item in
                row.code = item.code
                row.name = item.name
                row.price = item.price
            }
            request.mergePolicy = .mergeByPropertyObjectTrump
            return try context.execute(request)
        }
        print(result.insertedCount, "inserted,", result.updatedCount, "updated")

        let cheap = try await container.performBackgroundTask { context in
            let request = try FetchRequest<Product>(
                #Predicate { $0.price < 10 }, sortBy: [.init(\.price)])
            return try context.fetch(request).snapshots()
        }
        for product in cheap { print(product.name, product.price) }
    }
}
