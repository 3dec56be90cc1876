// Values of each type beside constants: numbers, truth values, moments, bytes and names.

import CairnModel
import FoundationEssentials

extension ConditionTable {
    static let comparisons = [
        ConditionTable("Whole numbers", wholeNumbers),
        ConditionTable("Large numbers", largeNumbers),
        ConditionTable("Numbers with a fraction", fractions),
        ConditionTable("What is no ordinary number", oddNumbers),
        ConditionTable("Exact decimals", decimals), ConditionTable("Truth values", truth),
        ConditionTable("Moments", moments), ConditionTable("Bytes, UUIDs and URIs", bytes),
        ConditionTable("Lists and bounds", lists), ConditionTable("Logic", logic),
    ]

    private static let wholeNumbers = [
        Condition("small == 1", "a"), .init("small = 2", "b"), .init("1 == small", "a"),
        .init("small != 1", "b c d e f g h i j"), .init("small <> 1", "b c d e f g h i j"),
        .init("small > 6", "h i"), .init("small >= 6", "g h i"), .init("small < 1", "c j"),
        .init("small <= 1", "a c j"), .init("small =< 1", "a c j"), .init("small => 7", "h i"),
        .init("6 < small", "h i"), .init("small == -3", "c"), .init("small == 32767", "i"),
        .init("small == -32768", "j"), .init("amount == 7", "g h"),
        .init("amount == 2147483647", "i"), .init("amount < -5", "j"),
        // A constant may have another kind than the property, and lie outside of its range.
        .init("small == 1.0", "a"), .init("small > 6.5", "h i"), .init("small == 1.5", ""),
        .init("small < 100000", "a b c e f g h i j"), .init("small == 100000", ""),
        .init("small > -100000.5", "a b c e f g h i j"), .init("amount == 0x0A", "a"),
        .init("amount == 1e1", "a"), .init("small == %@", "a", .integer(1)),
        .init("small == %@", "b", .double(2)), .init("small == %@", "b", .decimal(2)),
        .init("%K == %@", "b", .string("small"), .integer(2)),
        .init("small == %d", "e", .integer(4)),
        // Two properties.
        .init("small == large", "a d"), .init("small < amount", "a b g i"),
        .init("amount == small * 10", "a b d"), .init("small > price", "e h i"),
    ]

    private static let largeNumbers = [
        Condition("large == 9223372036854775807", "i"),
        .init("large == -9223372036854775808", "j"),
        .init("large > 9007199254740992", "b i"), .init("large == 9007199254740993", "b"),
        .init("large == 9007199254740992", "c"), .init("large >= 9007199254740993", "b i"),
        .init("large < 0", "e j"), .init("large == %@", "c", .double(9_007_199_254_740_992)),
        .init("large > %@", "b i", .double(9_007_199_254_740_992)),
        .init("large < 9223372036854775808", "a b c e f g h i j"),
        .init("large == 9223372036854775808", ""),
        .init("large < %@", "a b c e f g h i j", .double(1e300)),
        .init("large > %@", "a b c e f g h i j", .double(-1e300)),
        .init("large BETWEEN {9007199254740992, 9007199254740993}", "b c"),
        .init("large IN {9223372036854775807, -1}", "e i"),
    ]

    private static let fractions = [
        Condition("price == 1.5", "a"), .init("price > 1.5", "b g"), .init("price >= 1.5", "a b g"),
        .init("price == 0.1", "i"), .init("price == 0.3", ""),
        .init("price == 0.30000000000000004", "j"), .init("price < 0.3", "e h i"),
        .init("price > 2", "b g"), .init("price == %@", "a", .float(1.5)),
        .init("ratio == 0.5", "a"), .init("ratio == 2.25", "g"), .init("ratio > 0.4", "a b g"),
        .init("ratio == %@", "i", .float(0.1)), .init("ratio < 1", "a e i"),
        .init("price == ratio", "c d e"), .init("price > ratio", "a b g"),
        // A number near one of the attribute's type is another number, in a list and in what is asked with it.
        .init("ratio == 1e-100", ""), .init("ratio IN {1e-100}", ""),
        .init("ratio IN {1e-100, 0.5} AND length:(name) < 9", "a"),
        .init("price IN {0.12345678901234567890123, 0.1}", "i"),
        .init("size.width == 2", "a b"), .init("size.height > 2.5", "a"),
        .init("size.width == 2 AND size.height == nil", "b"),
    ]

    private static let oddNumbers = [
        // Both zeros are one number, and what is no number equals nothing and is in no order.
        Condition("price == 0", "e"), .init("price == -0.0", "e"), .init("price < 0", "h"),
        .init("price >= 0", "a b e g i j"), .init("ratio == 0", "e"),
        .init("1 / price > 0", "a b i j"),
        .init("price == %@", "", .double(.nan)),
        .init("price != %@", "a b c d e f g h i j", .double(.nan)),
        .init("price > %@", "", .double(.nan)), .init("price < %@", "", .double(.nan)),
        .init("price == price", "a b c d e g h i j"), .init("price != price", "f"),
        .init("price == %@", "g", .double(.infinity)),
        .init("price == %@", "h", .double(-.infinity)),
        .init("price < %@", "a b e h i j", .double(.infinity)),
        .init("price > %@", "a b e g i j", .double(-.infinity)),
        .init("price > 1e308", "g"), .init("price < -1e308", "h"),
        .init("small < %@", "a b c e f g h i j", .double(.infinity)),
        .init("price IN {0, 1.5}", "a e"), .init("price BETWEEN {-1, 0}", "e"),
        .init("price != nil", "a b e f g h i j"),
    ]

    private static let decimals = [
        Condition("cost == 1.1", "a"), .init("cost == 1.10", "a"), .init("cost > 1.1", "b f"),
        .init("cost == 0", "e"), .init("cost == 0.1", "i"),
        .init("cost == %@", "f", .decimal(SampleObjects.decimal("100000000000000000000.5"))),
        .init("cost > %@", "f", .decimal(SampleObjects.decimal("100000000000000000000.4"))),
        .init("cost < %@", "a b e i", .decimal(SampleObjects.decimal("100000000000000000000.5"))),
        .init("cost == 2.25", "b"), .init("cost == %@", "b", .double(2.25)),
        .init("cost < 1", "e i"), .init("cost BETWEEN {0.1, 1.1}", "a i"),
        .init("cost IN {0.1, 2.25, 9}", "b i"), .init("cost == small", "d"),
        .init("cost < price", "a b"), .init("cost + 1 == 2.1", "a"),
    ]

    private static let truth = [
        Condition("open == YES", "a e"), .init("open == TRUE", "a e"), .init("open == 1", "a e"),
        .init("open == NO", "b f"), .init("open != YES", "b c d f g h i j"),
        .init("open != NO", "a c d e g h i j"), .init("open IN {YES, NO}", "a b e f"),
        .init("open == %@", "b f", .boolean(false)), .init("TRUEPREDICATE", "a b c d e f g h i j"),
        .init("FALSEPREDICATE", ""),
    ]

    private static let moments = [
        Condition("since == %@", "a", .date(SampleObjects.date(0))),
        .init("since > %@", "b f", .date(SampleObjects.date(0))),
        .init("since >= %@", "a b f", .date(SampleObjects.date(0))),
        .init("since < %@", "e", .date(SampleObjects.date(0))),
        .init("since == %@", "b", .date(SampleObjects.date(100.5))),
        .init("since == %@", "", .date(SampleObjects.date(100))),
        .init("since != %@", "b c d e f g h i j", .date(SampleObjects.date(0))),
        .init(
            "since BETWEEN {%@, %@}", "a b e", .date(SampleObjects.date(-1)),
            .date(SampleObjects.date(100.5))),
        .init(
            "since IN {%@, %@}", "a f", .date(SampleObjects.date(0)),
            .date(SampleObjects.date(1e9))),
        .init("since == nil", "c d g h i j"),
    ]

    private static let bytes = [
        Condition("plan == %@", "a", .binary(Data([0, 255]))),
        .init("plan == %@", "b", .binary(Data())), .init("plan == %@", "", .binary(Data([0]))),
        .init("plan != %@", "b c d e f g h i j", .binary(Data([0, 255]))),
        .init("plan == nil", "c d e f g h i j"), .init("plan != nil", "a b"),
        .init("mark == %@", "a", .uuid(SampleObjects.uuid(1))),
        .init("mark != %@", "a c d e f g h i j", .uuid(SampleObjects.uuid(2))),
        .init(
            "mark IN {%@, %@}", "a b", .uuid(SampleObjects.uuid(1)), .uuid(SampleObjects.uuid(2))),
        .init("link == %@", "b", .uri(SampleObjects.url("https://b.example/"))),
        .init("link != %@", "a c d e f g h i j", .uri(SampleObjects.url("https://b.example/"))),
        .init("link == %@", "", .uri(SampleObjects.url("https://b.example"))),
    ]

    private static let lists = [
        Condition("small IN {1, 2, 99}", "a b"), .init("small IN {}", ""),
        .init("small IN {nil, 1}", "a"), .init("NOT small IN {1, 2}", "c d e f g h i j"),
        .init("small NOT IN {1, 2}", "c d e f g h i j"), .init("name IN {'Anvil', 'Z'}", "a j"),
        .init("amount IN {7, 7, 7}", "g h"), .init("small BETWEEN {1, 2}", "a b"),
        .init("small BETWEEN {2, 1}", ""), .init("small BETWEEN {1.5, 4.5}", "b e"),
        .init("small BETWEEN {nil, 4}", ""), .init("name BETWEEN {'A', 'Z'}", "a e f h j"),
        .init("amount BETWEEN {small, 15}", "a g h"), .init("amount IN {small, 7}", "g h"),
        .init("NOT small BETWEEN {-3, 32767}", "d j"),
    ]

    private static let logic = [
        Condition("small == 1 AND open == YES", "a"), .init("small == 1 && open == NO", ""),
        .init("small == 1 OR small == 2", "a b"), .init("small == 1 || open == NO", "a b f"),
        .init("small == 1 OR small == 2 AND open == YES", "a"),
        .init("(small == 1 OR small == 2) AND open == NO", "b"),
        .init("NOT small == 1 AND small < 3", "b c j"),
        .init("NOT (small == 1 AND small < 3)", "b c d e f g h i j"),
        .init("!(small > 1)", "a c d j"), .init("NOT NOT small == 1", "a"),
        .init("small == 1 AND TRUEPREDICATE", "a"), .init("small == 1 OR FALSEPREDICATE", "a"),
    ]
}
