import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Values on their way to the server and back", .enabled(if: PostgresServer.isInstalled))
struct ValueTests {
    private func back(_ parameter: SQLParameter, as type: String) throws -> PostgresResult {
        // The server says by its own text what it has understood.
        try PostgresServer.shared().connect()
            .run("SELECT $1::\(type), $1::\(type)::text", [parameter])
    }

    @Test("whole numbers", arguments: [Int64.min, Int64(Int32.min), -1, 0, 1, 255, 256, .max])
    func integers(_ number: Int64) throws {
        let result = try back(.int64(number), as: "int8")
        #expect(try result.int64(0, 0) == number)
        #expect(try result.integer(0, 0) == number)
        #expect(try result.string(0, 1) == "\(number)")
        let short = Int32(truncatingIfNeeded: number)
        #expect(try back(.int32(short), as: "int4").int32(0, 0) == short)
        #expect(try back(.int32(short), as: "int4").integer(0, 0) == Int64(short))
        let shorter = Int16(truncatingIfNeeded: number)
        #expect(try back(.int16(shorter), as: "int2").int16(0, 0) == shorter)
        #expect(try back(.int16(shorter), as: "int2").integer(0, 0) == Int64(shorter))
    }

    @Test(
        "floating-point numbers, bit for bit",
        arguments: [
            0, -0.0, 1, -1, .pi, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
            .greatestFiniteMagnitude, 0.1,
        ] as [Double])
    func doubles(_ number: Double) throws {
        let result = try back(.double(number), as: "float8")
        #expect(try result.double(0, 0).bitPattern == number.bitPattern)
        let short = Float(number)
        #expect(try back(.float(short), as: "float4").float(0, 0).bitPattern == short.bitPattern)
    }

    @Test("truth, identifiers, times")
    func others() throws {
        for flag in [true, false] {
            #expect(try back(.bool(flag), as: "bool").bool(0, 0) == flag)
        }
        for uuid in [UUID(), UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))] {
            let result = try back(.uuid(uuid), as: "uuid")
            #expect(try result.uuid(0, 0) == uuid)
            #expect(try result.string(0, 1) == uuid.uuidString.lowercased())
        }
        let result = try PostgresServer.shared().connect().run(
            "SELECT $1::timestamptz, ($1::timestamptz AT TIME ZONE 'UTC')::text",
            [.timestamp(-1_000_001)])
        #expect(try result.timestamp(0, 0) == -1_000_001)
        #expect(try result.string(0, 1) == "1999-12-31 23:59:58.999999")
    }

    @Test("all characters of Unicode but U+0000")
    func unicode() throws {
        var text = ""
        for number in UInt32(1)...0x10FFFF {
            if let scalar = Unicode.Scalar(number) { text.unicodeScalars.append(scalar) }
        }
        let result = try PostgresServer.shared().connect().run(
            "SELECT $1::text, octet_length($1::text)", [.text(text)])
        #expect(try result.string(0, 0).utf8.elementsEqual(text.utf8))
        #expect(try result.integer(0, 1) == Int64(text.utf8.count))
        #expect(try back(.text(""), as: "text").string(0, 0) == "")
    }

    @Test("U+0000 is refused before anything is sent, with its place")
    func nullCharacter() throws {
        let connection = try PostgresServer.shared().connect()
        let trips = connection.roundTrips
        let batch = [
            Statement("SELECT 1"),
            Statement("SELECT $1::int8, $2::text", [.int64(1), .text("a\0b")]),
        ]
        let error = failure { try connection.pipeline(batch) }
        #expect(error?.statementIndex == 1)
        #expect(error?.parameterIndex == 1)
        #expect(error?.message.contains("U+0000") == true)
        #expect(connection.roundTrips == trips)
        #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
    }

    @Test("bytes, none and many", arguments: [0, 1, 255, 1 << 16, 20_000_000])
    func bytes(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let connection = try PostgresServer.shared().connect()
        for parameter in [SQLParameter.bytes(bytes), .data(Data(bytes))] {
            let result = try connection.run("SELECT $1::bytea, md5($1::bytea)", [parameter])
            #expect(try result.bytes(0, 0).elementsEqual(bytes))
            #expect(try result.data(0, 0) == Data(bytes))
        }
    }

    @Test("NULL is none of them")
    func null() throws {
        let result = try back(.null, as: "int8")
        #expect(result.isNull(0, 0))
        #expect(throws: SQLFailure.self) { try result.int64(0, 0) }
        #expect(result.isNull(7, 0))
        for place in [(-1, 0), (0, -1), (1, 0), (0, 2)] {
            #expect(throws: SQLFailure.self) { try result.string(place.0, place.1) }
        }
    }

    @Test("a cell of another size is a failure, not a trap")
    func wrongSize() throws {
        let result = try PostgresServer.shared().connect().run(
            "SELECT 1::int4, 'abc'::text, '\\xff'::bytea, ''::text")
        for column in 0..<4 {
            #expect(throws: SQLFailure.self) { try result.int64(0, column) }
            #expect(throws: SQLFailure.self) { try result.uuid(0, column) }
            #expect(throws: SQLFailure.self) { try result.numeric(0, column) }
            #expect(throws: SQLFailure.self) { try result.array(0, column) }
        }
        #expect(throws: SQLFailure.self) { try result.string(0, 2) }
        #expect(throws: SQLFailure.self) { try result.bool(0, 1) }
    }

    @Test("arrays with NULLs, and empty ones, for unnest")
    func arrays() throws {
        let connection = try PostgresServer.shared().connect()
        let numbers: [Int64?] = [.min, nil, 0, .max]
        let result = try connection.run(
            "SELECT n FROM unnest($1::int8[]) WITH ORDINALITY AS u (n, i) ORDER BY i",
            [.array(.int64s(numbers))])
        #expect(
            try (0..<result.rowCount).map { result.isNull($0, 0) ? nil : try result.int64($0, 0) }
                == numbers)
        let texts: [String?] = ["", nil, "a,b\"{}", "NULL", "é"]
        let found = try connection.run("SELECT $1::text[]", [.array(try .texts(texts))])
            .array(0, 0).map { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(found == texts)
        let none = try connection.run(
            "SELECT $1::int4[], cardinality($1::int4[])", [.array(.int32s([]))])
        #expect(try none.array(0, 0).isEmpty)
        #expect(try none.integer(0, 1) == 0)
    }

    @Test("arrays of each type")
    func arraysOfAll() throws {
        let connection = try PostgresServer.shared().connect()
        let uuid = UUID()
        let values: [(SQLParameter, String, String)] = [
            (.bool(true), "bool", "true"), (.int16(-2), "int2", "-2"), (.int32(3), "int4", "3"),
            (.int64(4), "int8", "4"), (.float(1.5), "float4", "1.5"),
            (.double(-0.0), "float8", "-0"), (.text("é"), "text", "é"),
            (.bytes([1, 255]), "bytea", "\\x01ff"), (.data(Data([2])), "bytea", "\\x02"),
            (.uuid(uuid), "uuid", uuid.uuidString.lowercased()),
            (.numeric("12.50"), "numeric", "12.50"),
        ]
        for (value, type, text) in values {
            var array = SQLArray(of: value.type)
            try array.append(value)
            try array.append(.null)
            let result = try connection.run(
                "SELECT v::text FROM unnest($1::\(type)[]) AS u (v)", [.array(array)])
            #expect(result.rowCount == 2)
            #expect(try result.string(0, 0) == text)
            #expect(result.isNull(1, 0))
        }
        var times = SQLArray(of: .timestamp)
        times.append(number: Int64(0))
        let result = try connection.run(
            "SELECT extract(epoch FROM v)::int8 FROM unnest($1::timestamptz[]) AS u (v)",
            [.array(times)])
        #expect(try result.integer(0, 0) == 946_684_800)
    }

    @Test("the types of the values may change from call to call")
    func changingTypes() throws {
        let connection = try PostgresServer.shared().connect()
        try connection.run("CREATE TEMPORARY TABLE t (a int8, b text)")
        let sql = "INSERT INTO t VALUES ($1, $2)"
        try connection.run(sql, [.null, .null])
        try connection.run(sql, [.int64(1), .null])
        try connection.run(sql, [.int32(2), .text("two")])
        try connection.run(sql, [.null, .text("three")])
        let result = try connection.run("SELECT a, b FROM t ORDER BY b, a")
        #expect(result.rowCount == 4)
        #expect(try result.string(1, 1) == "two")
        #expect(try result.integer(1, 0) == 2)
        #expect(connection.preparedCount == 3)
    }
}
