// Variables of predicates get their values.

import CairnModel
import Testing

@Suite("Variables in predicates")
struct PredicateVariableTests {
    @Test("Values take the place of variables, also inside paths, lists and functions")
    func substitution() throws {
        let template = try PredicateNode(
            format: "a < $LIMIT AND b IN {$X, 2} AND $OBJECT.name == 'n' AND abs:($X) > 1")
        let node = try template.substituting(variables: [
            "LIMIT": .constant(.integer(10)), "X": .constant(.integer(1)),
            "OBJECT": .keyPath("owner"),
        ])
        #expect(
            try node
                == PredicateNode(
                    format: "a < 10 AND b IN {1, 2} AND owner.name == 'n' AND abs:(1) > 1"))
        #expect(template.variables == ["LIMIT", "X", "OBJECT"])
        #expect(node.variables.isEmpty)
    }

    @Test("A list and nil are values")
    func lists() throws {
        let template = try PredicateNode(format: "a IN $LIST OR b == $NOTHING")
        let node = try template.substituting(variables: [
            "LIST": .list([.integer(1)]), "NOTHING": .constant(.null),
        ])
        #expect(try node == PredicateNode(format: "a IN {1} OR b == NULL"))
        let plain = try PredicateNode(format: "a == $X").substituting(variables: [
            "X": .string("x")
        ])
        #expect(try plain == PredicateNode(format: "a == 'x'"))
    }

    @Test("A variable without value is an error that names it")
    func missing() throws {
        let template = try PredicateNode(format: "a == $X OR b == $Y")
        let error = #expect(throws: PredicateFormatError.self) {
            _ = try template.substituting(variables: ["X": .integer(1)])
        }
        #expect(error?.message.contains("$Y") == true)
        #expect(error?.key == "$Y")
    }

    @Test("The variable of a subquery, and one that is given a value, are not to be substituted")
    func own() throws {
        let template = try PredicateNode(
            format: "SUBQUERY(a, $x, $x.b == $y).@count > 0 AND ($z := 5) == $z")
        #expect(template.variables == ["y"])
        let node = try template.substituting(variables: [
            "x": .integer(1), "y": .integer(2), "z": .integer(3),
        ])
        #expect(
            try node
                == PredicateNode(
                    format: "SUBQUERY(a, $x, $x.b == 2).@count > 0 AND ($z := 5) == $z"))
    }

    @Test("Predicates are joined by signs, and joins of one kind become one")
    func joins() throws {
        let (a, b, c) = (
            PredicateNode.compare("a", .equal, .null), PredicateNode.compare("b", .equal, .null),
            PredicateNode.compare("c", .equal, .null)
        )
        #expect((a && b && c) == .and([a, b, c]))
        #expect((a || b || !c) == .or([a, b, .not(c)]))
        #expect((a && (b || c)) == .and([a, .or([b, c])]))
        #expect((.and([]) && a) == .and([.and([]), a]))
    }

    @Test(
        "Without its values a predicate says what it asks, not for whom",
        arguments: [
            ("name == 'x' AND price < 10", "name == $value AND price < $value"),
            ("name == NULL", "name == NULL"),
            (
                "name IN {'a', 'b'} OR NOT name BEGINSWITH[cd] 'a'",
                "name IN $values OR NOT name BEGINSWITH[cd] $value"
            ),
            ("price BETWEEN {1, 2}", "price BETWEEN $values"),
            ("name IN {'a', other}", "name IN {$values, other}"),
            ("name IN {'a', other, 'b', 'c', nil}", "name IN {$values, other, NULL}"),
            ("ANY tags.label == 'x'", "ANY tags.label == $value"),
            (
                "SUBQUERY(tags, $t, $t.label == 'x').@count > 0",
                "SUBQUERY(tags, $t, $t.label == $value).@count > $value"
            ),
            ("lowercase:(name) == 'x'", "lowercase:(name) == $value"),
            ("TERNARY(a == 1, b, 'x') == c", "TERNARY(a == $value, b, $value) == c"),
            ("TRUEPREDICATE", "TRUEPREDICATE"),
        ])
    func withoutValues(_ format: String, _ expected: String) throws {
        #expect(try PredicateNode(format: format).withoutValues.predicateFormat == expected)
    }
}
