// What is calculated from values before it is compared.

import CairnModel

extension ConditionTable {
    static let calculations = [
        ConditionTable("Arithmetic", arithmetic), ConditionTable("Functions", functions),
        ConditionTable("Functions of many values and of bits", aggregates),
        ConditionTable("Choices and casts", choices),
    ]

    private static let arithmetic = [
        Condition("small + 1 == 2", "a"), .init("small - 1 == 0", "a"),
        .init("small * 2 == 4", "b"),
        .init("amount / 2 == 5", "a"), .init("small + amount == 11", "a"),
        .init("0 - small == 3", "c"),
        .init("-small == 3", "c"), .init("small * -1 == 3", "c"), .init("small ** 2 == 9", "c"),
        .init("2 + small * 3 == 5", "a"), .init("(2 + small) * 3 == 9", "a"),
        .init("modulus:by:(small, 2) == 0", "b e g j"), .init("price * 2 == 5", "b"),
        .init("price + cost > 2.5", "a b"), .init("price - 1.5 == 0", "a"),
        .init("amount / 0 == nil", "a b c d e f g h i j"),
        .init("small + large > 9007199254740993", "b i"),
        .init("amount + 1 == 2147483648", "i"),
        .init("bitwiseAnd:with:(small, 1) == 1", "a c f h i"), .init("small | 8 == 9", "a"),
        .init("leftshift:by:(small, 2) == 16", "e"),
    ]

    private static let functions = [
        Condition("abs:(small) == 3", "c"), .init("floor:(price) == 1", "a"),
        .init("ceiling:(price) == 3", "b"),
        .init("trunc:(price) == 2", "b"), .init("sqrt:(small) == 2", "e"),
        .init("uppercase:(name) == 'ANVIL'", "a b"),
        .init("lowercase:(name) == 'strasse'", "h"), .init("canonical:(name) == 'ather'", "c"),
        .init("length:(name) == 5", "a b c"), .init("length:(note) == 0", "c"),
        .init("length:(name) == nil", "d"),
        .init("uppercase:(owner.name) == 'BOB'", "b h"), .init("length:(owner.city) == 4", "a e"),
        .init("since < now()", "a b e"), .init("noindex:(small) == 1", "a"),
        .init("raise:toPower:(small, 3) == 8", "b"),
    ]

    private static let aggregates = [
        Condition("sum:(items.amount) == 27", "Bob", of: "Person"),
        .init("average:(items.amount) == 13.5", "Bob", of: "Person"),
        .init("median:(items.amount) == 13.5", "Bob", of: "Person"),
        .init("stddev:(items.amount) == 6.5", "Bob", of: "Person"),
        .init("max:(items.amount) == 10", "Ada", of: "Person"),
        .init("min:(items.amount) == -5", "Cyd", of: "Person"),
        .init("count:(items) == 0", "Dot", of: "Person"), .init("max:({small, 6}) == 7", "h"),
        .init("log:(amount) == 1", "a"), .init("exp:(small - 1) == 1", "a"),
        .init("onesComplement:(small) == -2", "a"), .init("bitwiseXor:with:(small, 3) == 2", "a"),
    ]

    private static let choices = [
        Condition("TERNARY(small > 5, 1, 0) == 1", "g h i"),
        .init("TERNARY(note == nil, 'none', note) == 'none'", "b d"),
        .init("TERNARY(owner == nil, 'nobody', owner.name) == 'Bob'", "b h"),
        .init("CAST(small, 'NSString') == '1'", "a"), .init("CAST(code, 'NSString') == 'b'", "b"),
        .init("TERNARY(open == YES, amount, small) == 10", "a"),
    ]
}
