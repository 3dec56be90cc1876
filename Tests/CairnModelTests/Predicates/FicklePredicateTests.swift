// Which conditions may say something else of the same objects the next time.

import CairnModel
import Testing

@Suite("Fickle conditions")
struct FicklePredicateTests {
    @Test(
        "One that asks for the moment or for chance anywhere is fickle",
        arguments: [
            "day > now()", "random() < 0.5", "size < random(3)", "NOT (a == 1 AND b < now())",
            "ANY tags.day > now()", "a + random(2) == 3", "CAST(now(), 'NSNumber') > 5",
            "TERNARY(day > now(), 1, 2) == 1", "TERNARY(a == 1, random(), 2) == 1",
            "SUBQUERY(tags, $t, $t.day < now()).@count > 1", "a IN {1, random(5)}",
            "a BETWEEN {1, random(5)}", "list[random(3)] == 1", "now() != nil",
        ])
    func fickle(_ format: String) throws {
        #expect(try PredicateNode(format: format).isFickle)
    }

    @Test(
        "All others are not",
        arguments: [
            "TRUEPREDICATE", "a == 1", "ANY tags.name LIKE[cd] 'now()*'", "a + b * 2 > sum(c)",
            "SUBQUERY(tags, $t, $t.name == 'random').@count > 1", "a IN {1, 2}", "list[FIRST] == 1",
            "CAST(a, 'NSDate') > CAST(0, 'NSDate')", "TERNARY(a == 1, 1, 2) == 1",
            "uppercase(name) == 'NOW' OR NOT random == 1",
        ])
    func steady(_ format: String) throws {
        #expect(try !PredicateNode(format: format).isFickle)
    }
}
