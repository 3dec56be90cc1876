import CairnFormat
import CairnTestSupport
import Testing

@Suite("Text, bytes and dates of the canonical export")
struct CanonicalTextTests {
    static let stringCases: [(String, String)] = [
        ("", ""), ("plain", "plain"), ("\"\\/", "\\\"\\\\/"),
        ("\u{8}\t\n\u{c}\r", "\\b\\t\\n\\f\\r"),
        ("\0\u{1f}\u{7f}", "\\u0000\\u001f\u{7f}"), ("Zürich 🛫", "Zürich 🛫"),
        ("e\u{301}", "e\u{301}"),
        ("\u{2028}", "\u{2028}"), ("a\"b", "a\\\"b"),
    ]

    @Test("F-818: only what must be escaped is escaped", arguments: stringCases.indices)
    func strings(_ index: Int) {
        let (text, escaped) = Self.stringCases[index]
        let printed = canonical { CanonicalText.append(text, to: &$0) }
        #expect(Array(printed.utf8) == Array("\"\(escaped)\"".utf8))
    }

    static let badUTF8Cases: [[UInt8]] = [
        [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xc3], [0xe0, 0x9f, 0x80], [0xed, 0xa0, 0x80],
        [0xe2, 0x82],
        [0xf0, 0x8f, 0x80, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xff],
        Array("eight and more".utf8) + [0xfe], [0xf0, 0x9f, 0x9b, 0x41],
    ]

    @Test("F-553: bytes that are not UTF-8 are refused", arguments: badUTF8Cases.indices)
    func badUTF8(_ index: Int) {
        let error = #expect(throws: FormatError.self) {
            try canonical { writer in
                try Self.badUTF8Cases[index].withUnsafeBytes {
                    try CanonicalText.append(utf8: $0, to: &writer)
                }
            }
        }
        #expect(error?.rule == "F-553")
    }

    @Test("F-553: the check of UTF-8 agrees with the standard library")
    func utf8Agrees() {
        var random = RandomSource()
        let leads: [UInt8] = [
            0x41, 0x80, 0xbf, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0x9f, 0xa0,
        ]
        for _ in 0..<5000 {
            let bytes = (0..<random.number(0...12)).map { _ in
                random.oneIn(5)
                    ? UInt8(truncatingIfNeeded: random.next())
                    : leads.randomElement(using: &random) ?? 0
            }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            #expect(bytes.withUnsafeBufferPointer { UTF8Check.isValid($0) } == expected, "\(bytes)")
        }
    }

    @Test("F-819: base64 with padding")
    func base64() {
        for (text, expected) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let printed = canonical { writer in
                Array(text.utf8).withUnsafeBytes { CanonicalText.append(base64: $0, to: &writer) }
            }
            #expect(printed == "\"\(expected)\"")
        }
        let printed = canonical { writer in
            [UInt8]([0xfb, 0xff, 0xfe]).withUnsafeBytes {
                CanonicalText.append(base64: $0, to: &writer)
            }
        }
        #expect(printed == "\"+//+\"")
    }

    @Test("F-820: UUIDs in capital letters")
    func uuid() {
        let bytes = (0..<16).map { UInt8($0 * 17) }
        let printed = canonical { writer in
            bytes.withUnsafeBytes { CanonicalText.append(uuid: $0, to: &writer) }
        }
        #expect(printed == "\"00112233-4455-6677-8899-AABBCCDDEEFF\"")
    }

    static let dateCases: [(Double, String)] = [
        (0, "\"2001-01-01T00:00:00Z\""), (-0.001, "\"2000-12-31T23:59:59.999Z\""),
        (0.5, "\"2001-01-01T00:00:00.500Z\""), (86_399, "\"2001-01-01T23:59:59Z\""),
        (-63_113_904_000, "\"0001-01-01T00:00:00Z\""), (-63_113_904_000.001, "-63113904000.001"),
        (252_423_993_599.999, "\"9999-12-31T23:59:59.999Z\""), (252_423_993_600, "252423993600"),
        (-978_307_200, "\"1970-01-01T00:00:00Z\""), (-31_622_400, "\"2000-01-01T00:00:00Z\""),
        (-26_438_400, "\"2000-03-01T00:00:00Z\""), (-26_524_800, "\"2000-02-29T00:00:00Z\""),
        (815_184_002.5, "\"2026-11-01T00:00:02.500Z\""), (1.0 / 3, "0.3333333333333333"),
        (-0.0, "-0"),
        (.nan, "\"NaN\""), (.infinity, "\"Infinity\""), (1e300, "1e+300"), (0.0001, "0.0001"),
    ]

    @Test("F-817: dates as text where that is exact, else as numbers", arguments: dateCases.indices)
    func dates(_ index: Int) {
        let (value, text) = Self.dateCases[index]
        #expect(canonical { CanonicalDate.append(value, to: &$0) } == text)
    }

    @Test("F-801 to F-804: the lines of an export")
    func lines() throws {
        #expect(
            canonical { ExportLines.appendHeader(schemaVersion: 7, to: &$0) }
                == "{\"cairn\":\"export\",\"format\":1,\"schema\":7}\n")
        var block = TestBlock(
            [
                .integers(1, [1, 2, nil]), .integers(2, [0, 1, 1]),
                TestColumn(
                    kind: .bytes, propertyID: 3, cells: [.bytes([1, 0xfe, 12]), nil, .bytes([0])]),
                TestColumn(
                    kind: .bytes, propertyID: 4, cells: [.bytes([255]), .bytes([]), .bytes([65])]),
                TestColumn(
                    kind: .float, propertyID: 5, cells: [.float(0x3dcc_cccd), nil, .float(0)]),
            ], rows: 3)
        block.versions = [1, 5, 9]
        let properties: [(String, PropertyKind, UInt32)] = [
            ("a", .reference, 1), ("b\n", .boolean, 2), ("c", .decimal, 3), ("d", .binary, 4),
            ("e", .float, 5),
        ]
        let text = try canonical { writer in
            try block.encode().withUnsafeBytes { payload in
                let head = try BlockHead(decoding: payload)
                for row in 0..<3 {
                    ExportLines.beginObject(
                        entity: "E", number: block.numbers[row], version: block.versions[row],
                        to: &writer)
                    for (name, kind, id) in properties {
                        ExportLines.appendName(name, isFirst: id == 1, to: &writer)
                        let column = try DecodedColumn.decode(
                            id, kind: kind.column, of: head, in: payload)
                        try ExportLines.append(kind, column, row: row, to: &writer)
                    }
                    ExportLines.endObject(&writer)
                }
            }
        }
        #expect(
            text == """
                {"entity":"E","id":1,"version":1,"values":{"a":1,"b\\n":false,"c":"0.12","d":"/w==","e":0.1}}
                {"entity":"E","id":2,"version":5,"values":{"a":2,"b\\n":true,"c":null,"d":"","e":null}}
                {"entity":"E","id":3,"version":9,"values":{"a":null,"b\\n":true,"c":"0","d":"QQ==","e":0}}

                """)
    }

    @Test("F-551, F-554: the integers of a kind end where its type ends")
    func kinds() {
        let cases: [(PropertyKind, Int64)] = [
            (.boolean, 2), (.integer16, 32_768), (.integer32, 1 << 31), (.reference, 0),
            (.reference, 0xffff_ffff),
        ]
        for (kind, value) in cases { #expect(kind.integers?.contains(value) == false) }
    }
}
