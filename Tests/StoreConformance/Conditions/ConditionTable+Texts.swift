// Texts: what is part of another, patterns, and letters in upper and lower case, with and without accents, in one
// scalar and in two.

import CairnModel

extension ConditionTable {
    static let texts = [
        ConditionTable("Texts by their scalars", plain), ConditionTable("Parts of texts", parts),
        ConditionTable("Texts without regard to case and accents", folded),
        ConditionTable("Patterns with LIKE", like),
        ConditionTable("Patterns with MATCHES", matches),
        ConditionTable("A letter in one scalar and in two", composed),
    ]

    private static let plain = [
        Condition("name == 'Anvil'", "a"), .init("name == 'anvil'", "b"), .init("name == ''", ""),
        .init("note == ''", "c"), .init("note == ' '", "j"),
        .init("note != ''", "a b d e f g h i j"),
        .init("name != 'Anvil'", "b c d e f g h i j"), .init("name < 'B'", "a"),
        .init("name > 'Z'", "b c g i"), .init("name >= 'Z'", "b c g i j"),
        .init("name <= 'Anvil'", "a"),
        .init("name == '日本'", "i"), .init("note == '🙂 smile'", "i"),
        .init("note == %@", "h", .string("light\nline")), .init("name == note", "d"),
        .init("name == %@", "b", .string("anvil")), .init("state == 'new'", "a c d e f g h i j"),
        .init("folded == 'anvil'", "a b"), .init("code > 'g' AND code < 'i'", "h"),
    ]

    private static let parts = [
        Condition("name BEGINSWITH 'A'", "a"), .init("name BEGINSWITH 'an'", "b"),
        .init("name ENDSWITH 'vil'", "a b"), .init("name ENDSWITH ''", "a b c e f g h i j"),
        .init("name BEGINSWITH ''", "a b c e f g h i j"), .init("name CONTAINS 'vi'", "a b"),
        .init("name CONTAINS ''", "a b c e f g h i j"), .init("note CONTAINS 'heavy'", "a g"),
        .init("note CONTAINS '%'", "e"), .init("note CONTAINS '_'", "e"),
        .init("note CONTAINS '*'", "f"),
        .init("name CONTAINS '本'", "i"), .init("note CONTAINS '🙂'", "i"),
        .init("name IN 'Anvil anvil'", "a b"), .init("'heavy' IN note", "a g"),
        .init("'Anvil and more' BEGINSWITH name", "a"), .init("note BEGINSWITH name", ""),
        .init("note CONTAINS %@", "h", .string("\n")),
        .init("NOT name CONTAINS 'vi'", "c d e f g h i j"),
    ]

    private static let folded = [
        Condition("name ==[c] 'ANVIL'", "a b"), .init("name !=[c] 'ANVIL'", "c d e f g h i j"),
        .init("name ==[c] 'strasse'", "g h"), .init("name ==[c] 'STRASSE'", "g h"),
        .init("name ==[d] 'Ather'", "c"), .init("name ==[d] 'ather'", ""),
        .init("name ==[cd] 'ATHER'", "c"), .init("name ==[cd] 'cafe'", "e f"),
        .init("name BEGINSWITH[c] 'AN'", "a b"), .init("name ENDSWITH[c] 'VIL'", "a b"),
        .init("name CONTAINS[cd] 'AFÉ'", "e f"), .init("name IN[c] {'ANVIL', 'z'}", "a b j"),
        .init("name LIKE[c] 'AN*'", "a b"), .init("name LIKE[cd] 'a*'", "a b c"),
        .init("name MATCHES[c] 'AN.*'", "a b"), .init("name <[c] 'b'", "a b"),
        .init("name <[cd] 'b'", "a b c"), .init("name BETWEEN[c] {'a', 'b'}", "a b"),
        .init("name ==[n] 'Anvil'", "a"), .init("note CONTAINS[c] 'HEAVY'", "a g"),
        .init("name ==[c] 'Z'", "j"), .init("name ==[d] '日本'", "i"),
    ]

    private static let like = [
        Condition("name LIKE 'Anvil'", "a"), .init("name LIKE 'A*'", "a"),
        .init("name LIKE '*vil'", "a b"),
        .init("name LIKE '?nvil'", "a b"), .init("name LIKE '*'", "a b c e f g h i j"),
        .init("name LIKE '?'", "j"), .init("name LIKE '??'", "i"), .init("name LIKE ''", ""),
        .init("note LIKE ''", "c"), .init("name LIKE '*nv*l'", "a b"),
        .init("name LIKE 'nvil'", ""),
        // What SQL takes for a pattern is none here, and a stroke takes the meaning away.
        .init("note LIKE '50%*'", "e"), .init("note LIKE '%'", ""), .init("note LIKE '*off_'", "e"),
        .init("note LIKE '*off?'", "e"), .init("note LIKE %@", "f", .string("a\\*b\\?c")),
        .init("note LIKE 'a*c'", "f"), .init("note LIKE %@", "", .string("heav\\*")),
        .init("note LIKE 'light*line'", "h"), .init("NOT name LIKE 'A*'", "b c d e f g h i j"),
    ]

    private static let matches = [
        Condition("name MATCHES 'Anvil'", "a"), .init("name MATCHES '[Aa]nvil'", "a b"),
        .init("name MATCHES 'nvil'", ""), .init("name MATCHES '.*vil'", "a b"),
        .init("name MATCHES 'A.+l|Z'", "a j"), .init("name MATCHES '[A-Z]+'", "h j"),
        .init("note MATCHES '[0-9]+%.*'", "e"), .init("name MATCHES '..'", "i"),
        .init("name MATCHES 'stra(ß|ss)e'", "g"), .init("note MATCHES ''", "c"),
        .init("note MATCHES %@", "f", .string("a\\*b\\?c")),
        .init("note MATCHES %@", "j", .string("\\s")), .init("name MATCHES '[^a-z]*'", "h i j"),
        .init("name MATCHES '(a|A)n{1}v?i{1,2}l'", "a b"),
        .init("note MATCHES 'heavy( metal)?'", "a g"),
    ]

    private static let composed = [
        Condition("name == %@", "e", .string(SampleObjects.composed)),
        .init("name == %@", "f", .string(SampleObjects.decomposed)),
        .init("name ==[c] %@", "e f", .string(SampleObjects.composed)),
        .init("name ==[d] %@", "e f", .string(SampleObjects.decomposed)),
        .init("name CONTAINS %@", "f", .string("e\u{301}")),
        .init("name BEGINSWITH 'Cafe'", "f"), .init("name BEGINSWITH[d] 'Cafe'", "e f"),
        .init("name IN {%@}", "e", .string(SampleObjects.composed)),
        .init("name < %@", "a f", .string(SampleObjects.composed)),
        .init("length:(name) == 4", "e f"), .init("folded == 'cafe'", "e f"),
    ]
}
