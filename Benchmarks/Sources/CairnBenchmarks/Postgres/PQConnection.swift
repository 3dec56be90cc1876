// libpq as a program would wrap it that uses nothing else.

import CBenchPQ
import Foundation

final class PQConnection {
    let handle: OpaquePointer

    init(_ url: String) throws {
        guard let handle = PQconnectdb(url) else { throw Failure(description: "no memory") }
        self.handle = handle
        guard PQstatus(handle) == CONNECTION_OK else { throw failure }
    }

    deinit { PQfinish(handle) }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    var failure: Failure { Failure(description: String(cString: PQerrorMessage(handle))) }

    /// Runs statements whose results do not matter.
    func run(_ sql: String) throws {
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw failure
        }
    }

    func prepare(_ name: String, _ sql: String) throws {
        let result = PQprepare(handle, name, sql, 0, nil)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure }
    }

    /// Runs a prepared statement; the body gets its result in binary form.
    func execute<R>(_ name: String, _ values: [[UInt8]], _ body: (OpaquePointer) throws -> R)
        throws -> R
    {
        let lengths = values.map { Int32($0.count) }
        let formats = values.map { _ in Int32(1) }
        let all = values.flatMap { $0 }
        let result: OpaquePointer? = all.withUnsafeBytes { bytes in
            var start = 0
            let pointers = values.map { value -> UnsafePointer<CChar>? in
                defer { start += value.count }
                return (bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)).map {
                    ($0 + start).assumingMemoryBound(to: CChar.self)
                }
            }
            return PQexecPrepared(
                handle, name, Int32(values.count), pointers, lengths, formats, 1)
        }
        guard let result else { throw failure }
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw failure
        }
        return try body(result)
    }

    /// Sends rows of a copy.
    func copy(_ sql: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void)
        throws
    {
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COPY_IN else { throw failure }
        try body { bytes in
            guard
                PQputCopyData(
                    handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(bytes.count)) == 1
            else { throw failure }
        }
        guard PQputCopyEnd(handle, nil) == 1 else { throw failure }
        while let result = PQgetResult(handle) {
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure }
        }
    }
}

/// Bytes in the server's order.
struct PQBytes {
    var bytes: [UInt8] = []

    mutating func put<T: FixedWidthInteger>(_ number: T) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func field<T: FixedWidthInteger>(_ number: T) {
        put(Int32(MemoryLayout<T>.size))
        put(number)
    }

    mutating func field(_ text: String) {
        put(Int32(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// An array of one dimension.
    static func array(_ type: UInt32, _ count: Int, _ fields: PQBytes) -> [UInt8] {
        var array = PQBytes()
        array.put(Int32(1))
        array.put(Int32(0))
        array.put(type)
        array.put(Int32(count))
        array.put(Int32(1))
        return array.bytes + fields.bytes
    }
}

extension OpaquePointer {
    /// A field of a result.
    @inline(__always)
    func number<T: FixedWidthInteger>(_ row: Int32, _ column: Int32, as type: T.Type) -> T {
        let value = UnsafeRawPointer(PQgetvalue(self, row, column))
        return T(bigEndian: value.unsafelyUnwrapped.loadUnaligned(as: T.self))
    }

    @inline(__always)
    func text(_ row: Int32, _ column: Int32) -> String {
        let value = UnsafeRawPointer(PQgetvalue(self, row, column))
        return String(
            decoding: UnsafeRawBufferPointer(
                start: value, count: Int(PQgetlength(self, row, column))), as: UTF8.self)
    }
}
