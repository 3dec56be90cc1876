// Values at the edges, few enough that two of them are often the same.

import CairnModel
import CairnTestSupport
import FoundationEssentials

enum AskedValue {
    private static let texts: [String] = [
        "", "a", "A", "ab", "aab", "abc", "Café", "cafe\u{301}", "cafe", "straße", "日本語", "日本",
        "👩‍👩‍👧", "a\r\nb", "a\nb", "a*b?c\\", "\\", "%", "_", "%_", "a%b", "a_b", "\u{301}",
        "\u{FFFF}", "\u{10FFFF}", "\u{E000}", "\u{D7FF}", "'", "\"", "$1", "x y z", "\u{FEFF}a",
        // Longer than what an index has of a text.
        longText, longText + "a", longText + "\u{10FFFF}",
    ]
    private static let longText = String(repeating: "aé日", count: 70)
    private static let integers: [Int64] = [
        0, 1, -1, 2, 3, 10, 100, 32767, -32768, 40_000, 2_147_483_647, -2_147_483_648,
        9_007_199_254_740_993, -9_007_199_254_740_993, .max, .min,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 1, 2.5, -2.5, 0.1, 3, 1e300, 1e-300, .leastNonzeroMagnitude, .infinity, -.infinity,
        .nan, .nan, .nan, 9_007_199_254_740_992, 9.3e18, 0x1p63, -0x1p63, 0.30000000000000004,
        100.5,
    ]
    private static let decimals: [String] = [
        "0", "1", "-1", "0.1", "2.5", "3", "12345678901234567890.123", "-0.000001", "1e100",
        "1e-30",
        "9007199254740993", "99999999999999999999999999999999999999", "0.3", "1e30", "1e-100",
        "-2.5",
        "-9223372036854775808.5", "9223372036854775807.5",
    ]

    /// A value that a store can keep of an attribute.
    static func stored(_ type: AttributeType, _ random: inout RandomSource) -> Value {
        switch type {
        case .integer16: .integer(Int64(Int16(truncatingIfNeeded: pick(integers, &random))))
        case .integer32: .integer(Int64(Int32(truncatingIfNeeded: pick(integers, &random))))
        case .integer64: .integer(pick(integers, &random))
        case .decimal: .decimal(Decimal(string: pick(decimals, &random)) ?? 0)
        case .double: .double(pick(doubles, &random))
        case .float: .float(Float(pick(doubles, &random)))
        case .string: .string(text(&random))
        case .boolean: .boolean(random.oneIn(2))
        case .date:
            .date(
                Date(
                    timeIntervalSinceReferenceDate: pick(
                        [0, 86_400, -86_400, 0.5, -1e9, 1e10, -0.0, 1e15, .leastNonzeroMagnitude],
                        &random)))
        case .binary, .transformable: .binary(Data(text(&random).utf8))
        case .uuid:
            .uuid(
                UUID(
                    uuid: (
                        UInt8.random(in: 126..<130, using: &random), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        0,
                        0, 0, 0, UInt8.random(in: 0..<3, using: &random)
                    )))
        case .uri:
            URL(string: "https://example.org/\(Int.random(in: 0..<4, using: &random))").map {
                .uri($0)
            } ?? .null
        case .undefined, .composite, .objectID: .null
        }
    }

    static func text(_ random: inout RandomSource) -> String {
        random.oneIn(5) ? pick(texts, &random) + pick(texts, &random) : pick(texts, &random)
    }

    static func pick<T>(_ items: [T], _ random: inout RandomSource) -> T {
        items[Int.random(in: 0..<items.count, using: &random)]
    }
}
