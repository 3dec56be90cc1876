// GRDB by cached statements and rows: what its documentation advises where speed counts.

import GRDB

final class GRDBPeer: GRDBBased {
    static let settings =
        GRDBStore.settings + "; cached statements, unchecked arguments, rows by position"

    private static let columns = "serialCode, name, price, quantity, updatedAt, category, flag"
    private static let insertion =
        "INSERT INTO product (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?)"
    private static let upsertion = """
        \(insertion) ON CONFLICT (serialCode) DO UPDATE SET name = excluded.name,
        price = excluded.price, quantity = excluded.quantity, updatedAt = excluded.updatedAt,
        category = excluded.category, flag = excluded.flag
        """
    private static let filter =
        "price < \(ProductFilter.priceBelow) AND category = '\(ProductFilter.category)'"

    let pool: DatabasePool

    init(_ pool: DatabasePool) { self.pool = pool }

    // MARK: Writing

    func insert(_ rows: ArraySlice<Product>) throws { try write(rows, Self.insertion) }
    func upsert(_ rows: ArraySlice<Product>) throws { try write(rows, Self.upsertion) }

    private func write(_ rows: ArraySlice<Product>, _ sql: String) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(sql: sql)
            for row in rows {
                statement.setUncheckedArguments([
                    row.serialCode, row.name, row.price, row.quantity, row.updatedAt, row.category,
                    row.flag,
                ])
                try statement.execute()
            }
        }
    }

    func deleteFlagged() throws -> Int {
        try pool.write { database in
            try database.execute(sql: "DELETE FROM product WHERE flag")
            return database.changesCount
        }
    }

    func multiplyPrices(by factor: Double) throws {
        try pool.write {
            try $0.execute(sql: "UPDATE product SET price = price * ?", arguments: [factor])
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
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM product WHERE serialCode = ?")
        return try Row.fetchOne(statement, arguments: [key]).map(product)
    }

    func countMatches() throws -> Int {
        try pool.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM product WHERE \(Self.filter)") ?? 0
        }
    }

    func matches(_ body: (Product) -> Void) throws { try each("WHERE \(Self.filter)", [], body) }

    func every(_ body: (Product) -> Void) throws { try each("", [], body) }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) throws {
        try each("WHERE serialCode >= ? ORDER BY serialCode LIMIT ?", [key, limit], body)
    }

    // MARK: Through indexes

    func top(_ count: Int, _ order: ProductOrder, _ body: (Product) -> Void) throws {
        switch order {
        case .newest: try each("ORDER BY updatedAt DESC LIMIT ?", [count], body)
        case .cheapest: try each("ORDER BY price, id LIMIT ?", [count], body)
        }
    }

    func priced(_ prices: Range<Double>, _ body: (Product) -> Void) throws {
        try each(
            "WHERE price >= ? AND price < ?", [prices.lowerBound, prices.upperBound], body)
    }

    func among(_ keys: [String], _ body: (Product) -> Void) throws {
        let places = repeatElement("?", count: keys.count).joined(separator: ",")
        try each("WHERE serialCode IN (\(places))", StatementArguments(keys), body)
    }

    private func each(_ rest: String, _ arguments: StatementArguments, _ body: (Product) -> Void)
        throws
    {
        try pool.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT \(Self.columns) FROM product \(rest)")
            let rows = try Row.fetchCursor(statement, arguments: arguments)
            while let row = try rows.next() { body(Self.product(row)) }
        }
    }

    private static func product(_ row: Row) -> Product {
        Product(
            serialCode: row[0], name: row[1], price: row[2], quantity: row[3], updatedAt: row[4],
            category: row[5], flag: row[6])
    }

    // MARK: Families

    func insertFamilies(_ count: Int) throws {
        try pool.write { database in
            let statement = try database.cachedStatement(
                sql: "INSERT INTO child (parent, label, amount) VALUES (?, ?, ?)")
            for parent in 0..<count {
                for child in Family.children(of: parent) {
                    try statement.execute(arguments: [parent, child.label, child.amount])
                }
            }
        }
    }

    func children(of parents: [Int], _ body: (Child) -> Void) throws {
        try pool.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT label, amount FROM child WHERE parent = ?")
            for parent in parents {
                let rows = try Row.fetchCursor(statement, arguments: [parent])
                while let row = try rows.next() { body(Child(label: row[0], amount: row[1])) }
            }
        }
    }
}
