// A SQLite file that is read.
//
// A file without a write-ahead log is opened as one that nobody changes: SQLite makes no file beside it then, takes
// no lock and writes nothing. One with a log would be changed by being read, for SQLite moves the log into the
// file: that is done to a copy alone (`SourceCopy`).
//
// Threads: one.

import CSQLite

/// A SQLite file, open to be read.
final class SQLiteFile {
    fileprivate let connection: OpaquePointer
    /// What errors call it.
    let name: String

    /// - Parameters:
    ///   - name: what errors call it: people know the file by the path that they gave.
    ///   - isCopy: whether it is a private copy, which SQLite may change.
    init(path: String, name: String, isCopy: Bool) throws(CoreDataImportError) {
        var handle: OpaquePointer?
        let flags =
            isCopy
            ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE
            : SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE
        let result = sqlite3_open_v2(
            isCopy ? path : Self.unchangingURI(path), &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard let handle else {
            throw CoreDataImportError(.unreadable, "SQLite cannot open it", at: name)
        }
        connection = handle
        self.name = name
        guard result == SQLITE_OK else { throw error(at: name) }
        sqlite3_extended_result_codes(handle, 1)
    }

    deinit { sqlite3_close_v2(connection) }

    private static func unchangingURI(_ path: String) -> String {
        var uri = "file:"
        // Two slashes at the beginning would be those before the name of a machine.
        let slashes = path.utf8.prefix { $0 == UInt8(ascii: "/") }.count
        for byte in path.utf8.dropFirst(max(0, slashes - 1)) {
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"), 0...0x20, 0x7F...:
                let hexadecimal = String(byte, radix: 16, uppercase: true)
                uri += hexadecimal.count == 1 ? "%0\(hexadecimal)" : "%\(hexadecimal)"
            default: uri.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return uri + "?mode=ro&immutable=1"
    }

    /// Prepares a question.
    ///
    /// - Parameter place: what errors say it is about, as a table's name.
    func prepare(_ sql: String, at place: String) throws(CoreDataImportError) -> SQLiteStatement {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK,
            let statement
        else { throw error(at: "\(name), \(place)") }
        return SQLiteStatement(statement, of: self, place: place)
    }

    /// The number that a question about one number gives.
    func number(_ sql: String, at place: String) throws(CoreDataImportError) -> Int64? {
        let statement = try prepare(sql, at: place)
        guard try statement.step(), case .integer(let number) = statement[0] else { return nil }
        return number
    }

    /// What SQLite says went wrong.
    fileprivate func error(at place: String) -> CoreDataImportError {
        let text = sqlite3_errmsg(connection).map { String(cString: $0) } ?? "unknown"
        switch sqlite3_errcode(connection) & 0xFF {
        case SQLITE_NOTADB:
            // It has no tables: the one that was asked for says nothing.
            return CoreDataImportError(.notAStore, "it is not an SQLite file", at: name)
        case SQLITE_CORRUPT:
            return CoreDataImportError(.damaged, "the SQLite file is damaged (\(text))", at: place)
        default:
            return CoreDataImportError(.unreadable, "SQLite cannot read it: \(text)", at: place)
        }
    }

    /// What SQLite finds wrong with the structure of the file; nil if nothing.
    func damage() throws(CoreDataImportError) -> String? {
        let check = try prepare("PRAGMA quick_check(1)", at: "structure")
        guard try check.step(), case .text(let text) = check[0], text != "ok" else { return nil }
        // "*** in database main ***" and a line with the place.
        return text.split(separator: "\n").last.map(String.init) ?? text
    }

    /// A name as SQL has it.
    static func quoted(_ name: String) -> String {
        "\""
            + name.split(separator: "\"", omittingEmptySubsequences: false).joined(
                separator: "\"\"")
            + "\""
    }
}

/// A question to a SQLite file, and its answer row by row.
final class SQLiteStatement {
    private let statement: OpaquePointer
    private let file: SQLiteFile
    private let place: String

    fileprivate init(_ statement: OpaquePointer, of file: SQLiteFile, place: String) {
        self.statement = statement
        self.file = file
        self.place = place
    }

    deinit { sqlite3_finalize(statement) }

    /// Goes to the next row; false if there is none.
    func step() throws(CoreDataImportError) -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw file.error(at: "\(file.name), \(place)")
        }
    }

    /// Asks again, with another number in the question's only gap.
    func ask(_ number: Int64) throws(CoreDataImportError) -> Bool {
        sqlite3_reset(statement)
        sqlite3_bind_int64(statement, 1, number)
        return try step()
    }

    /// Lets go of what the row holds.
    func reset() { sqlite3_reset(statement) }

    /// A value of the row.
    subscript(column: Int) -> SQLiteValue {
        let column = Int32(column)
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            // The pointer first: it may convert the text, and its length is that of what it gives.
            guard let start = sqlite3_column_text(statement, column) else { return .text("") }
            let bytes = UnsafeBufferPointer(
                start: start, count: Int(sqlite3_column_bytes(statement, column)))
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return .notText(bytes.count)
            }
            return .text(text)
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(statement, column)
            let bytes = UnsafeRawBufferPointer(
                start: start, count: Int(sqlite3_column_bytes(statement, column)))
            return .blob(Array(bytes))
        default: return .null
        }
    }

    /// A whole number of the row; nil if the value is none.
    func integer(_ column: Int) -> Int64? {
        guard sqlite3_column_type(statement, Int32(column)) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(statement, Int32(column))
    }

    /// Whether a value of the row is nil.
    func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
    }
}

/// A value as SQLite has it, whatever type the column declares.
enum SQLiteValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    /// A text that is no UTF-8, and the number of its bytes.
    case notText(Int)
    case blob([UInt8])
}
