// SQLite through its C API, as its own experts would use it: write-ahead log, prepared statements, 256 MiB of
// cache, mapped, a table laid out as Core Data's, the uniqueness checked by an index.

import CSQLite

enum SQLitePeer {
    static let settings = """
        journal_mode=WAL, synchronous=FULL for full and NORMAL for relaxed, cache_size=256 MiB, mmap_size=1 GiB, \
        wal_autocheckpoint=16384 pages, prepared statements
        """

    /// Inserts all rows in one transaction; seconds from BEGIN to the return of COMMIT.
    static func insert(_ rows: [Product], at path: String) -> Double {
        let database = open(path, isDurable: true)
        createTable(database)
        let statement = prepareInsert(database)
        let start = ContinuousClock.now
        run("BEGIN", database)
        for (index, row) in rows.enumerated() { insert(row, key: index + 1, statement, database) }
        run("COMMIT", database)
        let seconds = (ContinuousClock.now - start).seconds
        sqlite3_finalize(statement)
        close(database)
        return seconds
    }

    /// Inserts each row in a transaction of its own, from several threads with a connection each; seconds until
    /// all are done.
    static func commit(_ rows: [Product], threads: Int, isDurable: Bool, at path: String) -> Double {
        let first = open(path, isDurable: isDurable)
        createTable(first)
        let start = ContinuousClock.now
        Threads.run(threads) { thread in
            let database = open(path, isDurable: isDurable)
            let statement = prepareInsert(database)
            for index in stride(from: thread, to: rows.count, by: threads) {
                run("BEGIN IMMEDIATE", database)
                insert(rows[index], key: index + 1, statement, database)
                run("COMMIT", database)
            }
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }
        let seconds = (ContinuousClock.now - start).seconds
        close(first)
        return seconds
    }

    /// Opens a database and finds one row; seconds for both.
    static func open(_ key: String, at path: String) -> Double {
        let start = ContinuousClock.now
        let database = open(path, isDurable: true)
        var statement: OpaquePointer?
        check(
            sqlite3_prepare_v2(
                database, "SELECT * FROM ZPRODUCT WHERE ZSERIALCODE = ?", -1, &statement, nil), database)
        bind(key, statement, 1)
        check(sqlite3_step(statement), database, expecting: SQLITE_ROW)
        let name = sqlite3_column_text(statement, 8).map { String(cString: $0) }
        let seconds = (ContinuousClock.now - start).seconds
        precondition(name != nil, "the row is there")
        sqlite3_finalize(statement)
        close(database)
        return seconds
    }

    private static func open(_ path: String, isDurable: Bool) -> OpaquePointer? {
        var database: OpaquePointer?
        check(sqlite3_open(path, &database), database)
        sqlite3_busy_timeout(database, 60_000)
        for pragma in [
            "PRAGMA journal_mode=WAL", "PRAGMA synchronous=\(isDurable ? "FULL" : "NORMAL")",
            "PRAGMA cache_size=-262144", "PRAGMA mmap_size=1073741824",
            "PRAGMA wal_autocheckpoint=16384",
        ] { run(pragma, database) }
        return database
    }

    private static func close(_ database: OpaquePointer?) {
        run("PRAGMA wal_checkpoint(TRUNCATE)", database)
        sqlite3_close(database)
    }

    private static func createTable(_ database: OpaquePointer?) {
        run(
            """
            CREATE TABLE ZPRODUCT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZFLAG INTEGER, ZQUANTITY INTEGER, ZPRICE REAL, ZUPDATEDAT REAL, ZCATEGORY VARCHAR,
            ZNAME VARCHAR, ZSERIALCODE VARCHAR)
            """, database)
        run("CREATE UNIQUE INDEX ZPRODUCT_SERIAL ON ZPRODUCT (ZSERIALCODE)", database)
    }

    private static func prepareInsert(_ database: OpaquePointer?) -> OpaquePointer? {
        var statement: OpaquePointer?
        check(
            sqlite3_prepare_v2(
                database, "INSERT INTO ZPRODUCT VALUES (?,1,1,?,?,?,?,?,?,?)", -1, &statement, nil),
            database)
        return statement
    }

    private static func insert(
        _ row: Product, key: Int, _ statement: OpaquePointer?, _ database: OpaquePointer?
    ) {
        sqlite3_bind_int64(statement, 1, Int64(key))
        sqlite3_bind_int(statement, 2, row.flag ? 1 : 0)
        sqlite3_bind_int64(statement, 3, row.quantity)
        sqlite3_bind_double(statement, 4, row.price)
        sqlite3_bind_double(statement, 5, row.updatedAt)
        bind(row.category, statement, 6)
        bind(row.name, statement, 7)
        bind(row.serialCode, statement, 8)
        check(sqlite3_step(statement), database, expecting: SQLITE_DONE)
        sqlite3_reset(statement)
    }

    private static func bind(_ text: String, _ statement: OpaquePointer?, _ index: Int32) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                // SQLITE_TRANSIENT: SQLite takes a copy.
                _ = sqlite3_bind_text(
                    statement, index, $0.baseAddress, Int32($0.count),
                    unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            }
        }
    }

    private static func run(_ sql: String, _ database: OpaquePointer?) {
        check(sqlite3_exec(database, sql, nil, nil, nil), database)
    }

    private static func check(_ code: Int32, _ database: OpaquePointer?, expecting: Int32 = SQLITE_OK) {
        precondition(code == expecting, String(cString: sqlite3_errmsg(database)))
    }
}
