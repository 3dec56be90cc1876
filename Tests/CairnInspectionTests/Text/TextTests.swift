// Tables, numbers and JSON as they are printed.

import CairnModel
import Foundation
import Testing

@testable import CairnInspection

@Suite("Printed text")
struct TextTests {
    @Test("columns stand under one another, whatever the script, and wide cells are cut")
    func table() {
        var table = TextTable(["name", "n"], alignments: [.left, .right], widest: 8)
        table.add(["日本", "1"])
        table.add(["éa", "1000"])
        table.add(["much too long", "-1"])
        #expect(
            table.lines == [
                "name         n", "────────  ────", "日本         1", "éa        1000",
                "much to…    -1",
            ])
    }

    @Test("cells at the right end leave no spaces behind")
    func ends() {
        var table = TextTable(["a", "b"])
        table.add(["x", ""])
        #expect(table.lines == ["a  b", "─  ─", "x"])
    }

    @Test(
        "numbers are grouped",
        arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567")])
    func number(number: Int, text: String) {
        #expect(PlainText.number(number) == text)
    }

    @Test(
        "bytes are told in the unit that suits them",
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (1023, "1,023 bytes"), (1024, "1.00 KiB"),
            (10 << 20, "10.0 MiB"), (UInt64.max, "16,777,216.0 TiB"),
        ] as [(UInt64, String)])
    func bytes(count: UInt64, text: String) {
        #expect(PlainText.bytes(count) == text)
    }

    @Test(
        "digits behind the point are rounded",
        arguments: [
            (1.005, 1, "1.0"), (0.05, 1, "0.1"), (-2.345, 2, "-2.35"), (1234.5, 0, "1,235"),
            (0.999, 2, "1.00"),
        ])
    func decimal(number: Double, digits: Int, text: String) {
        #expect(PlainText.decimal(number, digits: digits) == text)
    }

    @Test("control characters are made visible")
    func visible() {
        #expect(PlainText.visible("a\nb\t\u{1}\u{7F}é") == "a\\nb\\t\\u{1}\\u{7f}é")
    }

    @Test(
        "JSON keeps the order of keys and prints dates as texts and numbers with all their digits")
    func json() {
        let value = JSONValue.object([
            "z": .integer(-1), "a": .double(1e21), "b": .double(0x1p60), "f": .float(0x1p30),
            "n": .null, "t": .string("é\"\n"),
            "l": .array([.boolean(true), .count(UInt64.max)]), "d": .date(0),
            "x": JSONValue(.binary(Data([0, 255]))), "s": .date(0.1234567), "y": .date(1e16),
        ])
        #expect(
            value.line
                == #"{"z":-1,"a":1e+21,"b":1152921504606846976,"f":1073741824,"n":null,"t":"é\"\n","l":[true,9223372036854775807],"d":"2001-01-01T00:00:00Z","x":"AP8=","s":"2001-01-01T00:00:00.1234567Z","y":"1e+16 s since 2001"}"#
        )
    }

    @Test("values are printed for people without quotes")
    func values() {
        #expect(PlainText.value(.string("a\nb")) == "a\\nb")
        #expect(
            PlainText.value(.date(Date(timeIntervalSinceReferenceDate: 0.5)))
                == "2001-01-01T00:00:00.500Z")
        #expect(PlainText.value(.null).isEmpty)
        #expect(PlainText.value(.double(.nan)) == "NaN")
        #expect(PlainText.value(.binary(Data([1, 2]))) == "AQI=")
        #expect(PlainText.value(.binary(Data(count: 31))) == "<31 bytes>")
    }
}
