// What the server does with its store, without a word about HTTP.

import Cairn

/// The products of a shop.
struct Catalog: Sendable {
    /// A product as it travels.
    struct Item: Codable, Sendable {
        var code: String
        var name: String
        var category: String
        var price: Double
    }

    /// What a feed changed.
    struct Counts: Codable, Sendable {
        var inserted: Int
        var updated: Int
        var unchanged: Int
        var deleted: Int
    }

    let container: PersistentContainer

    /// Brings the catalog to what a feed says, as one commit: a product that the feed no longer has is deleted.
    func replace(with feed: [Item]) async throws -> Counts {
        try await container.performBackgroundTask { context in
            var request = BatchInsertRequest(Product.self, from: feed) { row, item in
                row.code = item.code
                row.name = item.name
                row.category = item.category
                row.price = item.price
            }.deletingMissing()
            request.mergePolicy = .mergeByPropertyObjectTrump
            let result = try context.execute(request)
            return Counts(
                inserted: result.insertedCount, updated: result.updatedCount,
                unchanged: result.unchangedCount, deleted: result.deletedCount)
        }
    }

    /// The products of a category, all if there is none, below a price; the cheapest first.
    func items(category: String?, below price: Double?, limit: Int) async throws -> [Item] {
        try await container.performBackgroundTask { context in
            var conditions: [PredicateNode] = []
            if let category { conditions.append(.compare(\Product.category, .equal, category)) }
            if let price { conditions.append(.compare(\Product.price, .less, price)) }
            var request = FetchRequest<Product>(
                sortBy: [SortKey(\Product.price), SortKey(\Product.code)])
            request.predicate = conditions.isEmpty ? nil : .and(conditions)
            request.fetchLimit = limit
            return try context.fetch(request).map(Item.init)
        }
    }

    /// One product.
    func item(code: String) async throws -> Item? {
        try await container.performBackgroundTask { context in
            try context.fetch(FetchRequest<Product>(#Predicate { $0.code == code })).first
                .map(Item.init)
        }
    }
}

extension Catalog.Item {
    init(_ product: Product) {
        self.init(
            code: product.code, name: product.name, category: product.category,
            price: product.price)
    }
}
