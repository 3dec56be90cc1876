// A small store as Core Data writes it, made through SQLite.

import CSQLite
import Foundation
import Testing

/// An SQLite file that is made statement by statement.
final class CoreDataFile {
    static let identifier = "6F1C2A58-6E0B-4E4B-9B4E-0C5D3B7A9E11"

    let path: String
    private var connection: OpaquePointer?

    /// A file with what every store has.
    ///
    /// - Parameters:
    ///   - entities: number, name, number of the superentity, highest key.
    ///   - keepsLog: whether what is written stays in the log beside the file, as long as the file is open.
    init(
        _ path: String, entities: [(Int, String, Int, Int)], keepsLog: Bool = false,
        metadata: String = ""
    ) throws {
        self.path = path
        try #require(sqlite3_open(path, &connection) == SQLITE_OK)
        if keepsLog {
            try run("PRAGMA journal_mode=WAL")
            try run("PRAGMA wal_autocheckpoint=0")
        }
        try run(
            """
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
            CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
            """)
        for (number, name, parent, highest) in entities {
            try run(
                "INSERT INTO Z_PRIMARYKEY VALUES (\(number), '\(name)', \(parent), \(highest))")
        }
        let hashes = entities.filter { $0.0 < 16_001 }
            .map { "<key>\($0.1)</key><data>AAEC</data>" }.joined()
        let list = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>NSStoreType</key><string>SQLite</string>\
            <key>NSStoreModelVersionHashes</key><dict>\(hashes)</dict>\(metadata)</dict></plist>
            """
        try run(
            "INSERT INTO Z_METADATA VALUES (1, '\(Self.identifier)', \(Self.blob(Array(list.utf8))))"
        )
    }

    /// A file that is there. Closing it moves its log into it.
    init(adopting path: String) throws {
        self.path = path
        try #require(sqlite3_open(path, &connection) == SQLITE_OK)
        // It is opened when it is asked.
        try run("SELECT COUNT(*) FROM Z_METADATA")
    }

    deinit { finish() }

    /// Runs statements.
    func run(_ sql: String) throws {
        var message: UnsafeMutablePointer<CChar>?
        let result = sqlite3_exec(connection, sql, nil, nil, &message)
        let text = message.map { String(cString: $0) } ?? ""
        sqlite3_free(message)
        try #require(result == SQLITE_OK, "\(text): \(sql)")
    }

    /// Closes the file. SQLite moves a log into it then.
    func finish() {
        sqlite3_close(connection)
        connection = nil
    }

    /// Bytes as SQL has them.
    static func blob(_ bytes: [UInt8]) -> String {
        "x'" + bytes.map { String(format: "%02x", $0) }.joined() + "'"
    }
}

/// The rows of an SQLite file, asked by itself: what an import is compared with.
struct SQLiteRows {
    /// A value as SQLite has it.
    enum Cell: Hashable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob(Data)
    }

    private(set) var rows: [[String: Cell]] = []

    init(_ path: String, _ sql: String) throws {
        var connection: OpaquePointer?
        try #require(sqlite3_open(path, &connection) == SQLITE_OK)
        defer { sqlite3_close(connection) }
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        while sqlite3_step(statement) == SQLITE_ROW {
            var row: [String: Cell] = [:]
            for column in 0..<sqlite3_column_count(statement) {
                row[String(cString: sqlite3_column_name(statement, column))] = Self.cell(
                    statement, column)
            }
            rows.append(row)
        }
    }

    private static func cell(_ statement: OpaquePointer?, _ column: Int32) -> Cell {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT: .text(String(cString: sqlite3_column_text(statement, column)))
        case SQLITE_BLOB:
            .blob(
                Data(
                    UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(statement, column),
                        count: Int(sqlite3_column_bytes(statement, column)))))
        default: .null
        }
    }
}
