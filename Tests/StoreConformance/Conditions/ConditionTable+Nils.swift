// Nil, as Swift and as SQL see it.

import CairnModel

extension ConditionTable {
    static let nils = [
        ConditionTable("Nil beside a value", beside), ConditionTable("Nil and logic", logic),
        ConditionTable("Nil among members", members),
    ]

    private static let beside = [
        Condition("note == nil", "b d", sql: "b d"), .init("note == NULL", "b d", sql: "b d"),
        .init("note == %@", "b d", sql: "b d", .null),
        .init("note != nil", "a c e f g h i j", sql: "a c e f g h i j"),
        .init("nil == note", "b d", sql: "b d"),
        .init("amount != 7", "a b c d e f i j", sql: "a b e f i j"),
        .init("amount == 7", "g h", sql: "g h"), .init("amount < 0", "f j", sql: "f j"),
        .init("amount < nil", "", sql: ""), .init("amount >= nil", "", sql: ""),
        .init("amount IN {7, nil}", "g h", sql: "g h"),
        .init("amount BETWEEN {1, 10}", "a g h", sql: "a g h"),
        .init("note CONTAINS nil", "", sql: ""), .init("note LIKE nil", "", sql: ""),
        .init("note != ''", "a b d e f g h i j", sql: "a e f g h i j"),
        .init("name == note", "d", sql: ""),
        .init("name != note", "a b c e f g h i j", sql: "a c e f g h i j"),
        .init("open != YES", "b c d f g h i j", sql: "b f"),
        .init("owner == nil", "c d g i j", sql: "c d g i j"),
        .init("owner.city != 'Bern'", "b c d f g h i j", sql: "b h"),
        .init("amount + 1 > 7", "a b g h i", sql: "a b g h i"),
        .init("amount + 1 == nil", "c d", sql: "c d"),
        .init("amount + 1 != 8", "a b c d e f i j", sql: "a b e f i j"),
    ]

    private static let logic = [
        Condition("NOT amount > 5", "c d e f j", sql: "e f j"),
        .init("NOT NOT amount > 5", "a b g h i", sql: "a b g h i"),
        .init("NOT amount IN {7, nil}", "a b c d e f i j", sql: ""),
        .init("NOT amount IN {7}", "a b c d e f i j", sql: "a b e f i j"),
        .init("NOT amount IN {}", "a b c d e f g h i j", sql: "a b c d e f g h i j"),
        .init("NOT amount BETWEEN {1, 10}", "b c d e f i j", sql: "b e f i j"),
        .init("NOT note CONTAINS 'heavy'", "b c d e f h i j", sql: "c e f h i j"),
        .init("NOT note LIKE '*e*'", "b c d e f j", sql: "c e f j"),
        .init("NOT note == nil", "a c e f g h i j", sql: "a c e f g h i j"),
        .init("amount > 5 OR NOT amount > 5", "a b c d e f g h i j", sql: "a b e f g h i j"),
        .init("NOT (amount > 5 AND small > 5)", "a b c d e f j", sql: "a b c e f j"),
        .init("NOT (amount > 5 OR small > 5)", "c d e f j", sql: "e f j"),
        .init("amount == nil OR amount != 7", "a b c d e f i j", sql: "a b c d e f i j"),
        .init("NOT amount < nil", "a b c d e f g h i j", sql: ""),
    ]

    private static let members = [
        Condition("ANY items.amount > 5", "Ada Bob", sql: "Ada Bob", of: "Person"),
        .init("NONE items.amount > 5", "Cyd Dot", sql: "Cyd Dot", of: "Person"),
        .init("ALL items.amount > -9", "Ada Bob Cyd Dot", sql: "Ada Bob Cyd Dot", of: "Person"),
        .init("ALL parts.amount > 5", "b c d e f g h i j", sql: "b c d e f g h i j"),
        .init("NOT ALL parts.amount > 5", "a", sql: ""),
        .init("ANY parts.amount == nil", "a", sql: "a"),
        .init("ANY parts.amount != 7", "a", sql: "a"),
        .init("ANY tags.hue == nil", "g h", sql: "g h"),
        .init("ALL tags.hue != nil", "a b c d e f i j", sql: "a b c d e f i j"),
        .init("NONE tags.hue == 'red'", "c d e f h i j", sql: "c d e f h i j"),
        .init("SUBQUERY(tags, $t, $t.hue != 'red').@count > 0", "a e g h", sql: "a e g"),
        .init("NOT tags.hue CONTAINS 'red'", "c d e f h i j", sql: "c d e f i j"),
    ]
}
