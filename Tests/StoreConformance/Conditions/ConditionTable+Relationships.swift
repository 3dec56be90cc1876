// Ways to other objects, and what is asked of many of them.

import CairnModel

extension ConditionTable {
    static let relationships = [
        ConditionTable("Ways through to-one relationships", ways),
        ConditionTable("ANY, ALL and NONE", quantified),
        ConditionTable("Aggregates of members", aggregates),
        ConditionTable("SUBQUERY", subqueries),
        ConditionTable("Entities and subentities", entities),
    ]

    private static let ways = [
        Condition("owner.name == 'Ada'", "a e"), .init("owner.city == 'Bern'", "a e"),
        .init("owner.city == nil", "c d f g i j"), .init("owner.age > 30", "a e"),
        .init("owner == nil", "c d g i j"), .init("owner != nil", "a b e f h"),
        .init("owner.boss.name == 'Ada'", "b h"), .init("owner.boss.boss.name == 'Ada'", "f"),
        .init("owner.boss == nil", "a c d e g i j"), .init("owner.desk.number == 1", "a e"),
        .init("owner.desk == nil", "b c d f g h i j"), .init("whole.code == 'a'", "b c"),
        .init("whole.whole.code == 'a'", "g"), .init("rival.code == 'e'", "a"),
        .init("rival.rival.owner.name == 'Ada'", "c"), .init("whole.amount < amount", "b"),
        .init("owner.name BEGINSWITH[c] 'b'", "b h"), .init("owner.itemCount == 2", "a b e h"),
        .init("ownerCity == 'BERN'", "a e"), .init("boss.city == 'Bern'", "Bob", of: "Person"),
        .init("desk.number == 1", "Ada", of: "Person"), .init("person.age == 40", "1", of: "Desk"),
        .init("person == nil", "2", of: "Desk"), .init("itemCount == 0", "Dot", of: "Person"),
        .init("total == 27", "Bob", of: "Person"), .init("total == 10", "Ada", of: "Person"),
    ]

    private static let quantified = [
        Condition("ANY tags.label == 'red'", "a b g"), .init("SOME tags.label == 'old'", "g h"),
        .init("ALL tags.label == 'red'", "b c d f i j"),
        .init("NONE tags.label == 'red'", "c d e f h i j"),
        .init("ANY tags.label != 'red'", "a e g h"),
        .init("NOT ANY tags.label == 'red'", "c d e f h i j"),
        .init("ANY parts.small > 1", "a b"), .init("ALL parts.small > 1", "b c d e f g h i j"),
        .init("ANY mates.code == 'a'", "b"), .init("ANY mates.code IN {'e', 'b'}", "a f"),
        .init("ANY fans.name == 'Bob'", "e"), .init("ANY fans.city == 'Ulm'", "e"),
        .init("ANY tags.label BEGINSWITH 'b'", "a e g"),
        .init("ANY tags.label IN {'old', 'blue'}", "a e g h"),
        .init("tags.label CONTAINS 'old'", "g h"), .init("'blue' IN tags.label", "a e g"),
        .init("ANY owner.items.code == 'b'", "b h"),
        .init("ANY items.tags.label == 'old'", "Bob", of: "Person"),
        .init("ANY staff.name == 'Bob'", "Ada", of: "Person"),
        .init("ANY staff.staff.name == 'Cyd'", "Ada", of: "Person"),
        .init("ANY items.owner.name == 'Ada'", "blue red", of: "Tag"),
        .init("ALL items.amount > 5", "old red", of: "Tag"),
        .init("ANY tags.label LIKE '?e?'", "a b g"),
    ]

    private static let aggregates = [
        Condition("tags.@count == 3", "g"), .init("tags.@count == 0", "c d f i j"),
        .init("tags.@count > 1", "a g"),
        .init("parts.@count == 2", "a"), .init("count:(tags) == 1", "b e h"),
        .init("mates.@count == 1", "a b e f"),
        .init("fans.@count == 2", "e"), .init("items.@count == 2", "Ada Bob", of: "Person"),
        .init("items.@sum.amount == 27", "Bob", of: "Person"),
        .init("items.@sum.amount == 0", "Dot", of: "Person"),
        .init("items.@max.amount == 20", "Bob", of: "Person"),
        .init("items.@min.amount == 0", "Ada", of: "Person"),
        .init("items.@avg.amount == 13.5", "Bob", of: "Person"),
        .init("items.@avg.amount == 5", "Ada", of: "Person"),
        .init("items.@max.amount == nil", "Dot", of: "Person"),
        .init("parts.@sum.small == -1", "a"),
        .init("parts.@max.small == 6", "b"),
        .init("items.@count > staff.@count", "Ada Bob Cyd", of: "Person"),
        .init("parts.@sum.amount > amount", "a f j"),
        .init("items.@min.name == 'Anvil'", "blue red", of: "Tag"),
    ]

    private static let subqueries = [
        Condition("SUBQUERY(tags, $t, $t.label == 'red').@count == 1", "a b g"),
        .init("SUBQUERY(tags, $t, $t.label BEGINSWITH 'b' OR $t.label == 'old').@count == 2", "g"),
        .init("SUBQUERY(parts, $p, $p.small > 1 AND $p.open == NO).@count > 0", "a"),
        .init(
            "SUBQUERY(items, $i, $i.amount > 5 AND $i.open == YES).@count == 1", "Ada", of: "Person"
        ),
        .init("SUBQUERY(items, $i, ANY $i.tags.label == 'old').@count > 0", "Bob", of: "Person"),
        .init(
            "SUBQUERY(staff, $s, SUBQUERY($s.items, $i, $i.amount == 20).@count > 0).@count > 0",
            "Ada", of: "Person"),
        .init("SUBQUERY(parts, $p, $p.amount > SELF.amount).@count == 1", "a"),
        .init("SUBQUERY(tags, $t, TRUEPREDICATE).@count == 0", "c d f i j"),
    ]

    private static let entities = [
        Condition("seats > 3", "g", of: "Vehicle"), .init("TRUEPREDICATE", "e f", of: "Tool"),
        .init("TRUEPREDICATE", "g h", of: "Vehicle"),
        .init("small > 4", "f", of: "Tool"), .init("power == 7", "e", of: "Tool"),
        .init("power == nil", "f", of: "Tool"),
        .init("seats == nil", "h", of: "Vehicle"), .init("code == 'a'", "", of: "Tool"),
        .init("ANY tags.label == 'old'", "g h", of: "Vehicle"),
        .init("owner.name == 'Cyd'", "f", of: "Tool"),
    ]
}
