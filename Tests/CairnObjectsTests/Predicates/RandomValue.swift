// Values at the edges, few enough that two of them are often the same.

import CairnModel
import CairnTestSupport
import FoundationEssentials

enum RandomValue {
    static let texts: [String] = [
        "", "a", "A", "ab", "aab", "aaab", "abc", "Café", "CAFE", "cafe\u{301}", "cafe", "straße",
        "STRASSE", "ﬁne", "İstanbul", "istanbul", "ΣΑΣ", "σας", "日本語", "日本", "👩‍👩‍👧", "a\r\nb", "a\nb",
        "a*b?c\\", "Ångström", "\u{212A}elvin", "kelvin", "\u{0}x", "%_", "한글", "한글", "नमस्ते",
        "x y z",
        "10", "E1", String(repeating: "long and longer ", count: 9) + "é",
        String(repeating: "PLAIN ", count: 20), "a.c", "Zażółć",
        // Right to left, with points and without; joiners; marks without a letter and many of them; other digits.
        "שָׁלוֹם", "שלום", "مرحبا", "مَرْحَبًا", "\u{202E}abc", "a\u{200D}b", "a\u{200B}b", "\u{301}",
        "\u{FEFF}a",
        "e\u{327}\u{301}", "e\u{301}\u{327}", "a\u{36F}\u{36F}\u{36F}", "१२", "١٢", "Ⅷ", "ẞ", "ß",
        "ss", "ı",
        "i", "I", "İ", "i\u{307}", "ﬀ", "ǅ", "ΐ", "ſ", "ŉ", "ᾳ", "Ω", "ω", "Ω", "ทดสอบ", "ไทย",
        "漢字", "ｶﾞ", "ガ",
        "🇩🇪", "🇩", "👍🏽", "👍", "✌︎", "✌️", "\u{10FFFF}", "\u{FFFF}", "\u{E000}", "\u{D7FF}", "x\u{0}",
        "file 2", "file 10", "file 010",
    ]
    private static let patterns: [String] = [
        "*", "?", "a*", "*b", "*a*", "?a*", "caf?", "*\\**", "日*", "??", "*É", "a??b", "", "*\\",
    ]
    private static let expressions: [String] = [
        ".*", "a.*", "[A-Z]+", ".*é.*", "caf.", "\\\\d+", "(a|b)+c?", "日.", "(?i)CAFE", "a.b",
    ]
    private static let integers: [Int64] = [
        0, 1, -1, 2, 3, 4, 5, 10, 100, 32767, -32768, 2_147_483_647, -2_147_483_648,
        9_007_199_254_740_993, .max, .min,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 1, 2.5, -2.5, 0.1, 3, 4, 1e300, 1e-300, .leastNonzeroMagnitude, .infinity,
        -.infinity, .nan,
        9_007_199_254_740_992, 9.3e18, 1e127, 1e-127, 0.30000000000000004,
    ]
    private static let decimals: [String] = [
        "0", "1", "-1", "0.1", "2.5", "3", "4", "12345678901234567890.123", "-0.000001", "1e100",
        "1e-100", "9007199254740993", "99999999999999999999999999999999999999", "0.3",
        "340282366920938463463374607431768211455e127",
        "-340282366920938463463374607431768211455e127", "1e-127", "-1e-127",
    ]

    /// A value that an attribute of a type can have.
    static func stored(_ type: AttributeType, _ random: inout RandomSource) -> Value {
        switch type {
        case .integer16: .integer(Int64(Int16(truncatingIfNeeded: pick(integers, &random))))
        case .integer32: .integer(Int64(Int32(truncatingIfNeeded: pick(integers, &random))))
        case .integer64: .integer(pick(integers, &random))
        case .decimal: .decimal(decimal(&random))
        case .double: .double(pick(doubles, &random))
        case .float: .float(Float(pick(doubles, &random)))
        case .string: .string(text(&random))
        case .boolean: .boolean(random.oneIn(2))
        case .date: .date(Date(timeIntervalSinceReferenceDate: date(&random)))
        case .binary, .transformable: .binary(Data(text(&random).utf8))
        case .uuid:
            .uuid(
                UUID(
                    uuid: (
                        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        UInt8.random(in: 0..<6, using: &random)
                    )))
        case .uri:
            .uri(
                URL(string: "https://example.org/\(Int.random(in: 0..<6, using: &random))")
                    ?? .temporaryDirectory)
        case .undefined, .composite, .objectID: .null
        }
    }

    /// A constant that may be compared with values of a type; numbers are of any kind.
    static func constant(_ type: AttributeType, _ random: inout RandomSource) -> Value {
        if random.oneIn(12) { return .null }
        switch type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean:
            let kinds: [AttributeType] = [
                type, type, .integer64, .double, .decimal, .float, .boolean,
            ]
            return stored(pick(kinds, &random), &random)
        default: return stored(type, &random)
        }
    }

    static func text(_ random: inout RandomSource) -> String {
        random.oneIn(5) ? pick(texts, &random) + pick(texts, &random) : pick(texts, &random)
    }

    static func pattern(_ random: inout RandomSource) -> String {
        random.oneIn(2) ? pick(patterns, &random) : "*" + pick(texts, &random)
    }

    static func expression(_ random: inout RandomSource) -> String { pick(expressions, &random) }

    static func pick<T>(_ items: [T], _ random: inout RandomSource) -> T {
        items[Int.random(in: 0..<items.count, using: &random)]
    }

    private static func decimal(_ random: inout RandomSource) -> Decimal {
        Decimal(string: pick(decimals, &random)) ?? 0
    }

    private static func date(_ random: inout RandomSource) -> Double {
        // Far from now, which differs from question to question.
        pick(
            [
                0, 86_400, -86_400, 0.5, -1e9, 1e10, 63_113_904_000, -0.0, -63_114_076_800, 1e15,
                -1e15, .leastNonzeroMagnitude,
            ], &random)
    }
}
