// A connection and prepared statements of SQLite, thin enough to cost nothing.

import CBenchSQLite

/// A connection.
final class SQLiteConnection: @unchecked Sendable {
    // Used by one thread at a time, as its peer is.
    let handle: OpaquePointer?

    init(_ path: String, pragmas: [String]) {
        var handle: OpaquePointer?
        let code = sqlite3_open(path, &handle)
        self.handle = handle
        check(code)
        sqlite3_busy_timeout(handle, 60_000)
        for pragma in pragmas { run("PRAGMA \(pragma)") }
    }

    func close() { sqlite3_close(handle) }

    func run(_ sql: String) { check(sqlite3_exec(handle, sql, nil, nil, nil)) }

    func transaction<R>(_ begin: String = "BEGIN IMMEDIATE", _ body: () throws -> R) rethrows -> R {
        run(begin)
        let result = try body()
        run("COMMIT")
        return result
    }

    func check(_ code: Int32, expecting: Int32 = SQLITE_OK) {
        precondition(code == expecting, String(cString: sqlite3_errmsg(handle)))
    }
}

/// A prepared statement.
final class SQLiteStatement: @unchecked Sendable {
    // Used by one thread at a time, as its connection is.
    private let statement: OpaquePointer
    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection, _ sql: String) {
        var statement: OpaquePointer?
        connection.check(
            sqlite3_prepare_v3(
                connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { preconditionFailure("there is a statement in \(sql)") }
        self.statement = statement
        self.connection = connection
    }

    func finalize() { sqlite3_finalize(statement) }

    func bind(_ value: Int64, _ index: Int32) { sqlite3_bind_int64(statement, index, value) }
    func bind(_ value: Double, _ index: Int32) { sqlite3_bind_double(statement, index, value) }
    func bindNull(_ index: Int32) { sqlite3_bind_null(statement, index) }

    /// Binds bytes that stay where they are until the statement is reset.
    @inline(__always)
    func bind(_ text: UnsafeBufferPointer<UInt8>, _ index: Int32) {
        text.withMemoryRebound(to: CChar.self) {
            _ = sqlite3_bind_text(statement, index, $0.baseAddress, Int32($0.count), nil)
        }
    }

    /// Runs a statement that has no rows.
    func run() {
        connection.check(sqlite3_step(statement), expecting: SQLITE_DONE)
        sqlite3_reset(statement)
    }

    /// The next row, if there is one; else the statement is reset.
    @inline(__always)
    func next() -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        connection.check(code, expecting: SQLITE_DONE)
        sqlite3_reset(statement)
        return false
    }

    func reset() { sqlite3_reset(statement) }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
    func double(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

    /// The bytes of a text; they stay until the next row.
    @inline(__always)
    func bytes(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
        guard let bytes = sqlite3_column_text(statement, column) else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        return UnsafeBufferPointer(
            start: bytes, count: Int(sqlite3_column_bytes(statement, column)))
    }

    @inline(__always)
    func text(_ column: Int32) -> String {
        guard let bytes = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
