// GRDB by Codable records and its query interface: what most programs write.

import GRDB

final class GRDBRecordPeer: GRDBBased {
    static let settings = GRDBStore.settings + "; Codable records and the query interface"

    /// A product as GRDB's documentation has records.
    private struct ProductRecord: Codable, FetchableRecord, MutablePersistableRecord {
        static let databaseTableName = "product"

        var id: Int64?
        var serialCode: String
        var name: String
        var price: Double
        var quantity: Int64
        var updatedAt: Double
        var category: String
        var flag: Bool

        enum Columns {
            static let serialCode = Column(CodingKeys.serialCode)
            static let price = Column(CodingKeys.price)
            static let category = Column(CodingKeys.category)
            static let flag = Column(CodingKeys.flag)
            static let updatedAt = Column(CodingKeys.updatedAt)
            static let id = Column(CodingKeys.id)
        }

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }

        init(_ row: Product) {
            serialCode = row.serialCode
            name = row.name
            price = row.price
            quantity = row.quantity
            updatedAt = row.updatedAt
            category = row.category
            flag = row.flag
        }

        var product: Product {
            Product(
                serialCode: serialCode, name: name, price: price, quantity: quantity,
                updatedAt: updatedAt, category: category, flag: flag)
        }

        static var matching: QueryInterfaceRequest<ProductRecord> {
            filter(
                Columns.price < ProductFilter.priceBelow
                    && Columns.category == ProductFilter.category)
        }
    }

    private struct ChildRecord: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "child"

        var id: Int64?
        var parent: Int
        var label: String
        var amount: Int64
    }

    let pool: DatabasePool

    init(_ pool: DatabasePool) { self.pool = pool }

    // MARK: Writing

    func insert(_ rows: ArraySlice<Product>) throws {
        try pool.write { database in
            for row in rows {
                var record = ProductRecord(row)
                try record.insert(database)
            }
        }
    }

    func upsert(_ rows: ArraySlice<Product>) throws {
        try pool.write { database in
            for row in rows {
                var record = ProductRecord(row)
                try record.upsert(database)
            }
        }
    }

    func deleteFlagged() throws -> Int {
        try pool.write {
            try ProductRecord.filter(ProductRecord.Columns.flag == true).deleteAll($0)
        }
    }

    func multiplyPrices(by factor: Double) throws {
        _ = try pool.write {
            try ProductRecord.updateAll($0, ProductRecord.Columns.price *= factor)
        }
    }

    // MARK: Reading

    func find(_ key: String) throws -> Product? { try pool.read { try Self.find(key, $0) } }

    func lookup(_ keys: [String], _ body: (Product) -> Void) throws {
        try pool.read { database in
            for key in keys { if let row = try Self.find(key, database) { body(row) } }
        }
    }

    private static func find(_ key: String, _ database: Database) throws -> Product? {
        try ProductRecord.filter(ProductRecord.Columns.serialCode == key).fetchOne(database)?
            .product
    }

    func countMatches() throws -> Int {
        try pool.read { try ProductRecord.matching.fetchCount($0) }
    }

    func matches(_ body: (Product) -> Void) throws { try each(ProductRecord.matching, body) }

    func every(_ body: (Product) -> Void) throws { try each(ProductRecord.all(), body) }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) throws {
        let request = ProductRecord.filter(ProductRecord.Columns.serialCode >= key)
            .order(ProductRecord.Columns.serialCode).limit(limit)
        try each(request, body)
    }

    // MARK: Through indexes

    func top(_ count: Int, _ order: ProductOrder, _ body: (Product) -> Void) throws {
        let request =
            switch order {
            case .newest: ProductRecord.order(ProductRecord.Columns.updatedAt.desc)
            case .cheapest:
                ProductRecord.order(ProductRecord.Columns.price, ProductRecord.Columns.id)
            }
        try each(request.limit(count), body)
    }

    func priced(_ prices: Range<Double>, _ body: (Product) -> Void) throws {
        let price = ProductRecord.Columns.price
        try each(
            ProductRecord.filter(price >= prices.lowerBound && price < prices.upperBound), body)
    }

    func among(_ keys: [String], _ body: (Product) -> Void) throws {
        try each(ProductRecord.filter(keys.contains(ProductRecord.Columns.serialCode)), body)
    }

    private func each(
        _ request: QueryInterfaceRequest<ProductRecord>, _ body: (Product) -> Void
    ) throws {
        try pool.read { database in
            for record in try request.fetchAll(database) { body(record.product) }
        }
    }

    // MARK: Families

    func insertFamilies(_ count: Int) throws {
        try pool.write { database in
            for parent in 0..<count {
                for child in Family.children(of: parent) {
                    try ChildRecord(parent: parent, label: child.label, amount: child.amount)
                        .insert(database)
                }
            }
        }
    }

    func children(of parents: [Int], _ body: (Child) -> Void) throws {
        try pool.read { database in
            for parent in parents {
                let children = try ChildRecord.filter(Column("parent") == parent).fetchAll(database)
                for child in children { body(Child(label: child.label, amount: child.amount)) }
            }
        }
    }
}
