import CairnStore
import CairnTestSupport
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Copying rows in", .enabled(if: PostgresServer.isInstalled))
struct CopyingTests {
    private struct Refusal: Error {}

    private static let copy = "COPY t FROM STDIN (FORMAT binary)"

    private func connect() throws -> PostgresConnection {
        let connection = try PostgresServer.shared().connect()
        try connection.run(
            "CREATE TEMPORARY TABLE t (a int8 PRIMARY KEY, b text, c float8, d numeric, e bytea)")
        return connection
    }

    private func row(_ number: Int, _ writer: CopyWriter) throws(SQLFailure) {
        try writer.beginRow(5)
        writer.fields.append(number: Int64(number))
        try writer.fields.append(text: "row \(number)")
        if number % 2 == 0 {
            writer.fields.append(double: Double(number) / 3)
        } else {
            writer.fields.appendNull()
        }
        try writer.fields.append(numeric: "\(number).5")
        try writer.fields.append(bytes: [1, 2, UInt8(truncatingIfNeeded: number)])
    }

    @Test("a hundred thousand rows are there, in two round trips")
    func many() throws {
        let connection = try connect()
        let trips = connection.roundTrips
        let count = try connection.copyIn(Self.copy) { writer in
            for number in 0..<100_000 { try row(number, writer) }
        }
        #expect(count == 100_000)
        #expect(connection.roundTrips == trips + 2)
        let result = try connection.run(
            """
            SELECT count(*), sum(a)::int8, count(c), sum(d), sum(length(b))::int8, min(e::text), count(DISTINCT b)
            FROM t
            """)
        #expect(try result.integer(0, 0) == 100_000)
        #expect(try result.integer(0, 1) == 4_999_950_000)
        #expect(try result.integer(0, 2) == 50_000)
        #expect(try result.numeric(0, 3) == "5000000000.0")
        #expect(try result.string(0, 5) == "\\x010200")
        #expect(try result.integer(0, 6) == 100_000)
    }

    @Test("none are none")
    func none() throws {
        #expect(try connect().copyIn(Self.copy) { _ in } == 0)
    }

    @Test(
        "a body that throws leaves nothing, and the connection is of use",
        arguments: [0, 3, 50_000])
    func bodyThrows(_ rows: Int) throws {
        let connection = try connect()
        let thrown = failure {
            try connection.copyIn(Self.copy) { writer in
                for number in 0..<rows { try row(number, writer) }
                throw Refusal()
            }
        }
        guard case .bodyThrew(let error) = thrown?.kind else {
            Issue.record("\(String(describing: thrown))")
            return
        }
        #expect(error is Refusal)
        #expect(thrown.map { StoreError($0).code } == .rowsFailed)
        #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
        #expect(connection.transactionStatus == .none)
    }

    @Test("a StoreError of the body comes out as it is")
    func bodyThrowsStoreError() throws {
        let connection = try connect()
        let thrown = failure {
            try connection.copyIn(Self.copy) { _ in throw StoreError(.validation, "no") }
        }
        #expect(thrown.map { StoreError($0).code } == .validation)
    }

    @Test("a value that cannot be kept ends it as a failure of its own")
    func unencodable() throws {
        let connection = try connect()
        let thrown = failure {
            try connection.copyIn(Self.copy) { writer in
                try writer.beginRow(5)
                try writer.fields.append(text: "a\0")
            }
        }
        guard case .unencodable = thrown?.kind else {
            Issue.record("\(String(describing: thrown))")
            return
        }
        #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
    }

    @Test("a row that the server refuses is told with the constraint")
    func refusedRow() throws {
        let connection = try connect()
        let thrown = failure {
            try connection.copyIn(Self.copy) { writer in
                for number in 0..<20_000 { try row(number == 5 ? 4 : number, writer) }
            }
        }
        #expect(thrown?.isUniqueViolation == true)
        #expect(thrown?.constraintName == "t_pkey")
        #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
    }

    @Test("rows of the wrong form, and statements that copy nothing in")
    func wrongForm() throws {
        let connection = try connect()
        #expect(
            failure {
                try connection.copyIn(Self.copy) { writer in try writer.beginRow(2) }
            }?.sqlState != nil)
        #expect(failure { try connection.copyIn("SELECT 1") { _ in } } != nil)
        #expect(failure { try connection.copyIn("COPY no_such FROM STDIN") { _ in } } != nil)
        #expect(try connection.run("SELECT 1").rowCount == 1)
        #expect(failure { try connection.copyIn("COPY t TO STDOUT") { _ in } } != nil)
        #expect(connection.isBroken)
    }

    @Test("a copy in a transaction that fails leaves that to be ended")
    func inTransaction() throws {
        let connection = try connect()
        try connection.run("BEGIN")
        _ = failure { try connection.copyIn(Self.copy) { _ in throw Refusal() } }
        #expect(connection.transactionStatus == .failed)
        try connection.run("ROLLBACK")
        #expect(connection.transactionStatus == .none)
    }

    @Test("a copy that takes too long is given up with all its rows")
    func tooLong() throws {
        let connection = try connect()
        let thrown = failure {
            try connection.copyIn(Self.copy, bound: .within(.milliseconds(100))) { writer in
                for number in 0... { try row(number, writer) }
            }
        }
        #expect(thrown?.isTimeout == true)
        if !connection.isBroken {
            #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
        }
    }
}
