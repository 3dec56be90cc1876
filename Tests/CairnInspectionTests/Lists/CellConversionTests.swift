// Which cells fit which attributes, and what they become.

import CairnModel
import Foundation
import Testing

@testable import CairnInspection

@Suite("Cells become values exactly, or not at all")
struct CellConversionTests {
    private func convert(_ text: String, _ kind: ListRecord.Kind, _ type: AttributeType)
        -> CellConversion
    {
        var record = ListRecord()
        record.begin(line: 1)
        record.bytes = Array(text.utf8)
        record.add(0, kind, from: 0, line: 1)
        return record.value(of: record.cells[0], as: type)
    }

    @Test(
        "numbers",
        arguments: [
            ("0", .integer16, .integer(0)), ("-32768", .integer16, .integer(-32768)),
            ("10.0", .integer64, .integer(10)), ("1e3", .integer64, .integer(1000)),
            ("-1.50e2", .integer64, .integer(-150)), ("0.0", .integer64, .integer(0)),
            ("-0", .integer64, .integer(0)), ("0e999999999999", .integer64, .integer(0)),
            ("9223372036854775807", .integer64, .integer(.max)),
            ("-9223372036854775808", .integer64, .integer(.min)),
            ("9.223372036854775807e18", .integer64, .integer(.max)),
            ("1", .double, .double(1)), ("0.1", .double, .double(0.1)),
            ("-0", .double, .double(-0.0)),
            ("9007199254740992", .double, .double(9_007_199_254_740_992)),
            ("1e308", .double, .double(1e308)), ("0e0", .double, .double(0)),
            ("18446744073709551616", .double, .double(18_446_744_073_709_551_616)),
            ("0.1", .float, .float(0.1)), ("0.123456789012", .float, .float(0.123456789012)),
            ("-0.0", .double, .double(-0.0)), ("1e23", .double, .double(1e23)),
            ("16777216", .float, .float(16_777_216)),
            ("0.1", .decimal, .decimal(Decimal(string: "0.1")!)),
            (
                "12345678901234567890123456789012345678", .decimal,
                .decimal(Decimal(string: "12345678901234567890123456789012345678")!)
            ),
            ("1", .boolean, .boolean(true)), ("0.0", .boolean, .boolean(false)),
            ("1.50", .string, .string("1.50")),
        ] as [(String, AttributeType, Value)])
    func number(text: String, type: AttributeType, value: Value) {
        #expect(convert(text, .number, type) == .value(value))
        #expect(convert(text, .text, type) == .value(value))
    }

    @Test(
        "texts",
        arguments: [
            ("2024-05-01", .date, .date(Date(timeIntervalSince1970: 1_714_521_600))),
            ("2024-05-01T12:00:00.5Z", .date, .date(Date(timeIntervalSince1970: 1_714_564_800.5))),
            ("2024-05-01T14:00:00+02:00", .date, .date(Date(timeIntervalSince1970: 1_714_564_800))),
            ("YES", .boolean, .boolean(true)), ("no", .boolean, .boolean(false)),
            ("true", .boolean, .boolean(true)), ("False", .boolean, .boolean(false)),
            ("007", .string, .string("007")), (" x ", .string, .string(" x ")),
            ("https://example.org/a?b#c", .uri, .uri(URL(string: "https://example.org/a?b#c")!)),
            (
                "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", .uuid,
                .uuid(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")!)
            ),
            ("AAEC", .binary, .binary(Data([0, 1, 2]))), ("NaN", .double, .double(.nan)),
            ("-Infinity", .float, .float(-.infinity)),
        ] as [(String, AttributeType, Value)])
    func text(text: String, type: AttributeType, value: Value) {
        #expect(convert(text, .text, type) == .value(value))
        #expect(convert(text, .string, type) == .value(value))
    }

    @Test("truth values fit truth values, integers and text")
    func truth() {
        #expect(convert("", .yes, .boolean) == .value(.boolean(true)))
        #expect(convert("", .no, .integer16) == .value(.integer(0)))
        #expect(convert("", .yes, .string) == .value(.string("true")))
        #expect(convert("", .null, .date) == .value(.null))
    }

    @Test(
        "what does not fit says why",
        arguments: [
            ("12.5", .integer64, "fraction"), ("1e-1", .integer64, "fraction"),
            ("32768", .integer16, "out of range"), ("2147483648", .integer32, "out of range"),
            ("9223372036854775808", .integer64, "out of range"),
            ("1e99", .integer64, "out of range"),
            ("1e-999999999999", .integer64, "fraction"),
            ("1e-9223372036854775808", .integer64, "fraction"),
            ("007", .integer64, "leading zeros"), ("-01", .integer64, "leading zeros"),
            ("+1", .integer64, "plus"), (" 1", .integer64, "spaces"), ("1 ", .double, "spaces"),
            ("", .integer64, "empty text"), ("1,5", .double, "not a number"),
            ("0x10", .integer64, "not a number"),
            ("1.", .double, "not a number"), (".5", .double, "not a number"),
            ("9007199254740993", .double, "a double cannot hold it"),
            ("1e400", .double, "a double cannot hold it"),
            ("1e-400", .double, "a double cannot hold it"),
            ("16777217", .float, "a float cannot hold it"),
            ("16777217.0", .float, "a float cannot hold it"),
            ("9007199254740993.0", .double, "a double cannot hold it"),
            ("1e39", .float, "a float cannot hold it"),
            ("999999999999999999999999999999999999999", .decimal, "more digits"),
            ("2", .boolean, "0 and 1"), ("maybe", .boolean, "true, false"),
            ("2024-02-30", .date, "2024-05-01"), ("yesterday", .date, "2024-05-01"),
            ("x", .uuid, "UUID"), ("a b", .uri, "URI"), ("?", .binary, "base64"),
            ("x", .transformable, "transformable"),
        ] as [(String, AttributeType, String)])
    func misfit(text: String, type: AttributeType, reason: String) {
        for kind in [ListRecord.Kind.text, .string] {
            guard case .failure(let found) = convert(text, kind, type) else {
                Issue.record("\(text) fits \(type)")
                continue
            }
            #expect(found.contains(reason), "\(found)")
        }
    }

    @Test("digits that a person writes, or that stand in CSV, may be bytes or a URI")
    func digits() throws {
        let bytes = Value.binary(try #require(Data(base64Encoded: "1234")))
        let uri = Value.uri(try #require(URL(string: "1234")))
        for (type, value) in [(AttributeType.binary, bytes), (.uri, uri)] {
            #expect(convert("1234", .text, type) == .value(value))
            #expect(CellConversion(text: "1234", as: type, isKey: true) == .value(value))
        }
    }

    @Test("a number is never a date, and says what to do")
    func numberAsDate() {
        guard case .failure(let reason) = convert("1397476327000", .number, .date) else {
            Issue.record("a number became a date")
            return
        }
        #expect(reason.contains("is ambiguous as a date"))
    }
}
