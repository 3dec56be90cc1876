import CairnTestSupport
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Decimal numbers in PostgreSQL's form")
struct NumericFormTests {
    static let texts = [
        ("0", "0"), ("-0", "0"), ("0.00", "0.00"), ("1", "1"), ("-1", "-1"), ("10000", "10000"),
        ("9999", "9999"), ("0.0001", "0.0001"), ("0.00001", "0.00001"), ("1.10", "1.10"),
        ("-12.5e3", "-12500"), ("1e7", "10000000"), ("1E-7", "0.0000001"), ("+5", "5"),
        ("000123.4500", "123.4500"), (".5", "0.5"), ("5.", "5"), ("NaN", "NaN"),
        ("Infinity", "Infinity"), ("-Infinity", "-Infinity"),
        ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
        ("123456789012345678901234567890.0123456789", "123456789012345678901234567890.0123456789"),
    ]

    @Test("come back as they were", arguments: texts)
    func roundTrip(_ text: String, _ expected: String) throws {
        var buffer = FieldBuffer()
        try buffer.append(numeric: text)
        let found = buffer.bytes.withUnsafeBytes {
            NumericForm.text(UnsafeRawBufferPointer(rebasing: $0[4...]))
        }
        #expect(found == expected)
    }

    @Test(
        "that are none are refused, and leave nothing",
        arguments: [
            "", "-", ".", "1.2.3", "1e", "e5", "0x10", "1 ", " 1", "1e9999999", "nan", "1e200000",
        ])
    func refused(_ text: String) {
        var buffer = FieldBuffer()
        #expect(throws: SQLFailure.self) { try buffer.append(numeric: text) }
        #expect(buffer.count == 0)
    }

    @Test("damaged forms are nil", arguments: 0..<12)
    func damaged(_ length: Int) throws {
        var buffer = FieldBuffer()
        try buffer.append(numeric: "12345.678")
        let bytes = Array(buffer.bytes[4...].prefix(length))
        #expect(bytes.withUnsafeBytes { NumericForm.text($0) } == nil)
    }

    @Test("are the server's, whatever the digits", .enabled(if: PostgresServer.isInstalled))
    func agreesWithServer() throws {
        let connection = try PostgresServer.shared().connect()
        var texts: [String] = []
        var random = RandomSource()
        for _ in 0..<500 {
            let whole = (0..<Int.random(in: 1...30, using: &random)).map { _ in
                random.oneIn(3) ? "0" : "\(Int.random(in: 0...9, using: &random))"
            }.joined()
            let places = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                random.oneIn(3) ? "0" : "\(Int.random(in: 0...9, using: &random))"
            }.joined()
            let sign = random.oneIn(2) ? "-" : ""
            let power =
                random.oneIn(4) ? "e\(Int.random(in: -40...40, using: &random))" : ""
            texts.append("\(sign)\(whole)\(places.isEmpty ? "" : ".")\(places)\(power)")
        }
        var ours = SQLArray(of: .numeric)
        for text in texts { try ours.append(numeric: text) }
        let result = try connection.run(
            """
            SELECT n, n::text, (t::numeric)::text FROM unnest($1::numeric[], $2::text[]) AS u (n, t)
            """, [.array(ours), .array(try .texts(texts))])
        for row in 0..<result.rowCount {
            let server = try result.string(row, 2)
            #expect(try result.string(row, 1) == server)
            #expect(try result.numeric(row, 0) == server)
        }
    }
}
