// The result of a statement: rows of cells in PostgreSQL's binary form, read in libpq's memory.
//
// Invariants: the memory is libpq's and lives as long as the object. libpq's accessors are called with rows and
// columns that exist alone: for others they would complain to the connection, which may be gone.
// Threads: any, once it is made.

import CLibPQ
import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

final class PostgresResult: @unchecked Sendable {
    // libpq changes nothing of a result once it has handed it over, and nobody else has it.
    private let result: OpaquePointer
    let rowCount: Int
    let columnCount: Int

    /// Takes ownership of the result.
    init(taking result: OpaquePointer) {
        self.result = result
        rowCount = Int(PQntuples(result))
        columnCount = Int(PQnfields(result))
    }

    deinit { PQclear(result) }

    /// How many bytes libpq keeps for it.
    var byteCount: Int { PQresultMemorySize(result) }

    /// How many rows were inserted, changed, deleted or found; 0 for what has no rows.
    var affectedRows: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// "INSERT 0 1", "SELECT 12".
    var commandTag: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

    func columnName(_ column: Int) -> String {
        precondition(column >= 0 && column < columnCount, "there is no column \(column)")
        return PQfname(result, CInt(column)).map { String(cString: $0) } ?? ""
    }

    func columnType(_ column: Int) -> SQLType {
        precondition(column >= 0 && column < columnCount, "there is no column \(column)")
        return SQLType(oid: PQftype(result, CInt(column)))
    }

    // MARK: Cells

    func isNull(_ row: Int, _ column: Int) -> Bool {
        has(row, column) ? PQgetisnull(result, CInt(row), CInt(column)) == 1 : true
    }

    func bool(_ row: Int, _ column: Int) throws(SQLFailure) -> Bool {
        try number(UInt8.self, row, column) != 0
    }

    func int16(_ row: Int, _ column: Int) throws(SQLFailure) -> Int16 {
        try number(Int16.self, row, column)
    }

    func int32(_ row: Int, _ column: Int) throws(SQLFailure) -> Int32 {
        try number(Int32.self, row, column)
    }

    func int64(_ row: Int, _ column: Int) throws(SQLFailure) -> Int64 {
        try number(Int64.self, row, column)
    }

    /// A whole number of whatever size.
    func integer(_ row: Int, _ column: Int) throws(SQLFailure) -> Int64 {
        let cell = try cell(row, column)
        return switch cell.count {
        case 8: Int64(bigEndian: cell.loadUnaligned(as: Int64.self))
        case 4: Int64(Int32(bigEndian: cell.loadUnaligned(as: Int32.self)))
        case 2: Int64(Int16(bigEndian: cell.loadUnaligned(as: Int16.self)))
        default: throw unreadable("a cell of \(cell.count) bytes is not a whole number", column)
        }
    }

    func float(_ row: Int, _ column: Int) throws(SQLFailure) -> Float {
        Float(bitPattern: try number(UInt32.self, row, column))
    }

    func double(_ row: Int, _ column: Int) throws(SQLFailure) -> Double {
        Double(bitPattern: try number(UInt64.self, row, column))
    }

    /// A time with its zone: microseconds since 2000-01-01 00:00 UTC.
    func timestamp(_ row: Int, _ column: Int) throws(SQLFailure) -> Int64 {
        try number(Int64.self, row, column)
    }

    func uuid(_ row: Int, _ column: Int) throws(SQLFailure) -> UUID {
        let cell = try cell(row, column, length: 16)
        return UUID(uuid: cell.loadUnaligned(as: uuid_t.self))
    }

    func string(_ row: Int, _ column: Int) throws(SQLFailure) -> String {
        let cell = try cell(row, column)
        guard let text = String(validating: cell, as: UTF8.self) else {
            throw unreadable("a string is not UTF-8", column)
        }
        return text
    }

    /// A decimal number as its text.
    func numeric(_ row: Int, _ column: Int) throws(SQLFailure) -> String {
        guard let text = NumericForm.text(try cell(row, column)) else {
            throw unreadable("a cell is not a decimal number", column)
        }
        return text
    }

    /// The bytes of a cell of whatever type; nil if it is NULL or not there. They live as long as the result.
    func bytesIfAny(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        guard has(row, column), PQgetisnull(result, CInt(row), CInt(column)) == 0 else {
            return nil
        }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, CInt(row), CInt(column)),
            count: Int(PQgetlength(result, CInt(row), CInt(column))))
    }

    /// The bytes of a cell of whatever type. They live as long as the result.
    func bytes(_ row: Int, _ column: Int) throws(SQLFailure) -> UnsafeRawBufferPointer {
        try cell(row, column)
    }

    func data(_ row: Int, _ column: Int) throws(SQLFailure) -> Data {
        Data(try cell(row, column))
    }

    /// The elements of an array of one dimension, NULLs among them: each as its bytes, which live as long as the result.
    func array(_ row: Int, _ column: Int) throws(SQLFailure) -> [UnsafeRawBufferPointer?] {
        let cell = try cell(row, column)
        guard let elements = ArrayForm.elements(cell) else {
            throw unreadable("a cell is not an array of one dimension", column)
        }
        return elements
    }

    // MARK: How

    private func has(_ row: Int, _ column: Int) -> Bool {
        row >= 0 && row < rowCount && column >= 0 && column < columnCount
    }

    private func number<T: FixedWidthInteger>(
        _ type: T.Type, _ row: Int, _ column: Int
    ) throws(SQLFailure) -> T {
        T(bigEndian: try cell(row, column, length: MemoryLayout<T>.size).loadUnaligned(as: T.self))
    }

    private func cell(
        _ row: Int, _ column: Int, length: Int
    ) throws(SQLFailure) -> UnsafeRawBufferPointer {
        let cell = try cell(row, column)
        guard cell.count == length else {
            throw unreadable("a cell has \(cell.count) bytes instead of \(length)", column)
        }
        return cell
    }

    private func cell(_ row: Int, _ column: Int) throws(SQLFailure) -> UnsafeRawBufferPointer {
        guard has(row, column) else {
            throw SQLFailure(
                .unreadable,
                "a result with \(rowCount) rows and \(columnCount) columns has no row \(row + 1), column \(column + 1)"
            )
        }
        guard PQgetisnull(result, CInt(row), CInt(column)) == 0 else {
            throw unreadable("a cell is NULL", column)
        }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result, CInt(row), CInt(column)),
            count: Int(PQgetlength(result, CInt(row), CInt(column))))
    }

    private func unreadable(_ what: String, _ column: Int) -> SQLFailure {
        SQLFailure(
            .unreadable,
            "\(what): column \(column + 1) (\(columnName(column)), type \(columnType(column).oid))")
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are well-formed UTF-8. Eight at a time as long as they are ASCII, as most are.
    var isUTF8: Bool {
        var offset = 0
        while offset + 8 <= count {
            let word = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            if word & 0x8080_8080_8080_8080 != 0 { break }
            offset += 8
        }
        while offset < count, self[offset] < 0x80 { offset += 1 }
        if offset == count { return true }
        return String(
            validating: UnsafeRawBufferPointer(rebasing: self[offset...]), as: UTF8.self) != nil
    }
}

/// Arrays as PostgreSQL sends them.
private enum ArrayForm {
    static func elements(_ cell: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer?]? {
        func number(_ offset: Int) -> Int32? {
            guard offset + 4 <= cell.count else { return nil }
            return Int32(bigEndian: cell.loadUnaligned(fromByteOffset: offset, as: Int32.self))
        }
        guard let dimensions = number(0) else { return nil }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = number(12), count >= 0 else { return nil }
        var elements: [UnsafeRawBufferPointer?] = []
        var offset = 20
        for _ in 0..<count {
            guard let length = number(offset) else { return nil }
            offset += 4
            guard length >= 0 else {
                elements.append(nil)
                continue
            }
            guard Int(length) <= cell.count - offset else { return nil }
            elements.append(UnsafeRawBufferPointer(rebasing: cell[offset..<offset + Int(length)]))
            offset += Int(length)
        }
        return elements
    }
}
