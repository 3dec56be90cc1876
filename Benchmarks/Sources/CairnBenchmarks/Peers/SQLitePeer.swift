// SQLite through its C API, as its own experts would use it: write-ahead log, prepared statements, a large
// cache, mapped, a table laid out as Core Data's, the uniqueness checked by an index.

import CBenchSQLite

final class SQLitePeer: Peer, @unchecked Sendable {
    // A handle with its statements is used by one thread at a time.

    static let settings = """
        C API of SQLite \(String(cString: sqlite3_libversion())), journal_mode=WAL, synchronous=FULL for full and \
        NORMAL for relaxed, cache_size=256 MiB, mmap_size=1 GiB, wal_autocheckpoint=16384 pages, prepared \
        statements, a connection for each thread, checkpoint at close
        """

    static let columns =
        "Z_PK, Z_ENT, Z_OPT, ZFLAG, ZQUANTITY, ZPRICE, ZUPDATEDAT, ZCATEGORY, ZNAME, ZSERIALCODE"

    private let folder: String
    private let durability: Durability
    private let indexes: Indexes
    private let isFirst: Bool
    let connection: SQLiteConnection
    let insertion: SQLiteStatement
    private let upsertion: SQLiteStatement
    private let search: SQLiteStatement
    private var prepared: [String: SQLiteStatement] = [:]

    convenience init(at folder: String, durability: Durability, indexes: Indexes) throws {
        self.init(folder, durability, indexes, isFirst: true)
    }

    private init(_ folder: String, _ durability: Durability, _ indexes: Indexes, isFirst: Bool) {
        self.folder = folder
        self.durability = durability
        self.indexes = indexes
        self.isFirst = isFirst
        connection = SQLiteConnection(
            "\(folder)/store.sqlite",
            pragmas: [
                "journal_mode=WAL", "synchronous=\(durability == .full ? "FULL" : "NORMAL")",
                "cache_size=-262144", "mmap_size=1073741824", "wal_autocheckpoint=16384",
            ])
        for sql in Self.tables + (indexes == .columns ? Self.indexes : []) { connection.run(sql) }
        insertion = SQLiteStatement(
            connection, "INSERT INTO ZPRODUCT VALUES (NULL,1,1,?,?,?,?,?,?,?)")
        upsertion = SQLiteStatement(
            connection,
            """
            INSERT INTO ZPRODUCT VALUES (NULL,1,1,?,?,?,?,?,?,?)
            ON CONFLICT (ZSERIALCODE) DO UPDATE SET Z_OPT = Z_OPT + 1, ZFLAG = excluded.ZFLAG,
            ZQUANTITY = excluded.ZQUANTITY, ZPRICE = excluded.ZPRICE,
            ZUPDATEDAT = excluded.ZUPDATEDAT, ZCATEGORY = excluded.ZCATEGORY, ZNAME = excluded.ZNAME
            """)
        search = SQLiteStatement(
            connection, "SELECT \(Self.columns) FROM ZPRODUCT WHERE ZSERIALCODE = ?")
    }

    private static let tables = [
        """
        CREATE TABLE IF NOT EXISTS ZPRODUCT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZFLAG INTEGER, ZQUANTITY INTEGER, ZPRICE REAL, ZUPDATEDAT REAL, ZCATEGORY VARCHAR,
        ZNAME VARCHAR, ZSERIALCODE VARCHAR)
        """,
        "CREATE UNIQUE INDEX IF NOT EXISTS ZPRODUCT_SERIAL ON ZPRODUCT (ZSERIALCODE)",
        """
        CREATE TABLE IF NOT EXISTS ZPARENT
        (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNUMBER INTEGER)
        """,
        """
        CREATE TABLE IF NOT EXISTS ZCHILD (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZPARENT INTEGER, ZAMOUNT INTEGER, ZLABEL VARCHAR)
        """,
        "CREATE INDEX IF NOT EXISTS ZCHILD_PARENT ON ZCHILD (ZPARENT)",
    ]

    private static let indexes = [
        "CREATE INDEX IF NOT EXISTS ZPRODUCT_PRICE ON ZPRODUCT (ZPRICE)",
        "CREATE INDEX IF NOT EXISTS ZPRODUCT_UPDATED ON ZPRODUCT (ZUPDATEDAT)",
    ]

    func another() -> SQLitePeer { SQLitePeer(folder, durability, indexes, isFirst: false) }

    func close() {
        for statement in [insertion, upsertion, search] { statement.finalize() }
        for statement in prepared.values { statement.finalize() }
        if isFirst { connection.run("PRAGMA wal_checkpoint(TRUNCATE)") }
        connection.close()
    }

    // MARK: Writing

    func insert(_ rows: ArraySlice<Product>) { write(rows, insertion) }

    func upsert(_ rows: ArraySlice<Product>) { write(rows, upsertion) }

    private func write(_ rows: ArraySlice<Product>, _ statement: SQLiteStatement) {
        connection.transaction {
            for row in rows { run(statement, row) }
        }
    }

    @inline(__always)
    func run(_ statement: SQLiteStatement, _ row: Product) {
        statement.bind(row.flag ? Int64(1) : 0, 1)
        statement.bind(row.quantity, 2)
        statement.bind(row.price, 3)
        statement.bind(row.updatedAt, 4)
        row.withTexts { serialCode, name, category in
            statement.bind(category, 5)
            statement.bind(name, 6)
            statement.bind(serialCode, 7)
            statement.run()
        }
    }

    func deleteFlagged() -> Int {
        connection.transaction { connection.run("DELETE FROM ZPRODUCT WHERE ZFLAG = 1") }
        return Int(sqlite3_changes64(connection.handle))
    }

    func multiplyPrices(by factor: Double) {
        let statement = SQLiteStatement(
            connection, "UPDATE ZPRODUCT SET ZPRICE = ZPRICE * ?, Z_OPT = Z_OPT + 1")
        statement.bind(factor, 1)
        connection.transaction { statement.run() }
        statement.finalize()
    }

    // MARK: Reading

    func find(_ key: String) -> Product? {
        var key = key
        return key.withUTF8 { bytes in
            search.bind(bytes, 1)
            let row = search.next() ? product(search) : nil
            search.reset()
            return row
        }
    }

    func lookup(_ keys: [String], _ body: (Product) -> Void) {
        connection.transaction("BEGIN") {
            for key in keys { if let row = find(key) { body(row) } }
        }
    }

    func countMatches() -> Int {
        let statement = filtered("COUNT(*)")
        defer { statement.finalize() }
        return statement.next() ? Int(statement.integer(0)) : 0
    }

    func matches(_ body: (Product) -> Void) { each(filtered(Self.columns), body) }

    func every(_ body: (Product) -> Void) {
        each(SQLiteStatement(connection, "SELECT \(Self.columns) FROM ZPRODUCT"), body)
    }

    func range(from key: String, limit: Int, _ body: (Product) -> Void) {
        var key = key
        key.withUTF8 { bytes in
            let statement = SQLiteStatement(
                connection,
                "SELECT \(Self.columns) FROM ZPRODUCT WHERE ZSERIALCODE >= ? ORDER BY ZSERIALCODE LIMIT ?"
            )
            statement.bind(bytes, 1)
            statement.bind(Int64(limit), 2)
            each(statement, body)
        }
    }

    // MARK: Through indexes

    func top(_ count: Int, _ order: ProductOrder, _ body: (Product) -> Void) {
        let statement =
            switch order {
            case .newest: prepared("ORDER BY ZUPDATEDAT DESC LIMIT ?")
            case .cheapest: prepared("ORDER BY ZPRICE, Z_PK LIMIT ?")
            }
        statement.bind(Int64(count), 1)
        while statement.next() { body(product(statement)) }
    }

    func priced(_ prices: Range<Double>, _ body: (Product) -> Void) {
        let statement = prepared("WHERE ZPRICE >= ? AND ZPRICE < ?")
        statement.bind(prices.lowerBound, 1)
        statement.bind(prices.upperBound, 2)
        while statement.next() { body(product(statement)) }
    }

    func among(_ keys: [String], _ body: (Product) -> Void) {
        let places = repeatElement("?", count: keys.count).joined(separator: ",")
        let statement = prepared("WHERE ZSERIALCODE IN (\(places))")
        // One piece of memory for all, so that nothing is copied when a key is bound.
        let bytes = Array(keys.joined().utf8)
        bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            for (index, key) in keys.enumerated() {
                let end = start + key.utf8.count
                statement.bind(
                    UnsafeBufferPointer(rebasing: bytes[start..<end]), Int32(index + 1))
                start = end
            }
            while statement.next() { body(product(statement)) }
        }
    }

    /// A statement that is prepared once.
    private func prepared(_ rest: String) -> SQLiteStatement {
        if let known = prepared[rest] { return known }
        let made = SQLiteStatement(connection, "SELECT \(Self.columns) FROM ZPRODUCT \(rest)")
        prepared[rest] = made
        return made
    }

    private func each(_ statement: SQLiteStatement, _ body: (Product) -> Void) {
        while statement.next() { body(product(statement)) }
        statement.finalize()
    }

    private func filtered(_ what: String) -> SQLiteStatement {
        // The values are constants, as a program's own would be.
        SQLiteStatement(
            connection,
            """
            SELECT \(what) FROM ZPRODUCT
            WHERE ZPRICE < \(ProductFilter.priceBelow) AND ZCATEGORY = '\(ProductFilter.category)'
            """)
    }

    func groups(by text: ProductText) -> Groups {
        let statement = SQLiteStatement(
            connection, "SELECT COUNT(*) FROM ZPRODUCT GROUP BY \(text.column) HAVING COUNT(*) >= 2"
        )
        var groups = Groups()
        while statement.next() { groups.add(Int(statement.integer(0))) }
        statement.finalize()
        return groups
    }

    @inline(__always)
    private func product(_ statement: SQLiteStatement) -> Product {
        Product(
            serialCode: statement.text(9), name: statement.text(8), price: statement.double(5),
            quantity: statement.integer(4), updatedAt: statement.double(6),
            category: statement.text(7), flag: statement.integer(3) != 0)
    }

    // MARK: Families

    func insertFamilies(_ count: Int) {
        let parents = SQLiteStatement(connection, "INSERT INTO ZPARENT VALUES (?1,2,1,?1)")
        let children = SQLiteStatement(connection, "INSERT INTO ZCHILD VALUES (NULL,3,1,?,?,?)")
        connection.transaction {
            for number in 0..<count {
                parents.bind(Int64(number), 1)
                parents.run()
                for var child in Family.children(of: number) {
                    children.bind(Int64(number), 1)
                    children.bind(child.amount, 2)
                    child.label.withUTF8 {
                        children.bind($0, 3)
                        children.run()
                    }
                }
            }
        }
        parents.finalize()
        children.finalize()
    }

    func children(of parents: [Int], _ body: (Child) -> Void) {
        // Some parents at a time; a NULL among them has no children.
        let most = 256
        let places = repeatElement("?", count: most).joined(separator: ",")
        let statement = SQLiteStatement(
            connection, "SELECT ZAMOUNT, ZLABEL FROM ZCHILD WHERE ZPARENT IN (\(places))")
        connection.transaction("BEGIN") {
            for start in stride(from: 0, to: parents.count, by: most) {
                for place in 0..<most {
                    if start + place < parents.count {
                        statement.bind(Int64(parents[start + place]), Int32(place + 1))
                    } else {
                        statement.bindNull(Int32(place + 1))
                    }
                }
                while statement.next() {
                    body(Child(label: statement.text(1), amount: statement.integer(0)))
                }
            }
        }
        statement.finalize()
    }
}

extension ProductText {
    fileprivate var column: String {
        switch self {
        case .category: "ZCATEGORY"
        case .serialCode: "ZSERIALCODE"
        case .name: "ZNAME"
        }
    }
}
