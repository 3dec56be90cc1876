// Predicates of formats, as programs write them.

import CoreData
import Testing

@Suite("Predicates of formats")
struct PredicateFormatTests {
    /// What predicates are asked about here: as Core Data's users test their predicates without a store.
    private let people: [[String: Any]] = [
        ["name": "Ann", "age": 31, "tags": ["a", "b"], "born": Date(timeIntervalSince1970: 0)],
        ["name": "Bob", "age": 4, "tags": [String](), "home": ["city": "Bern"]],
        ["name": "Äsa", "age": 65, "tags": ["c"]],
    ]

    private func names(_ predicate: NSPredicate) -> [String] {
        people.filter { predicate.evaluate(with: $0) }.compactMap { $0["name"] as? String }
    }

    @Test("dictionaries are asked by their keys")
    func dictionaries() {
        #expect(names(NSPredicate(format: "age > 18")) == ["Ann", "Äsa"])
        #expect(names(NSPredicate(format: "name ==[cd] %@", "asa")) == ["Äsa"])
        #expect(names(NSPredicate(format: "home.city == %@", "Bern")) == ["Bob"])
        #expect(names(NSPredicate(format: "ANY tags IN %@", ["b", "c"])) == ["Ann", "Äsa"])
        #expect(names(NSPredicate(format: "tags.@count == 0")) == ["Bob"])
        #expect(names(NSPredicate(format: "born != nil")) == ["Ann"])
        #expect(names(NSPredicate(format: "SELF.name BEGINSWITH %@", "B")) == ["Bob"])
        #expect((people as NSArray).filtered(using: NSPredicate(format: "age < 5")).count == 1)
    }

    @Test("arguments are all that programs have")
    func arguments() {
        let date = Date(timeIntervalSince1970: 0)
        #expect(names(NSPredicate(format: "born == %@", date)) == ["Ann"])
        #expect(names(NSPredicate(format: "born == %@", date as NSDate)) == ["Ann"])
        #expect(names(NSPredicate(format: "%K == %d", "age", 4)) == ["Bob"])
        #expect(names(NSPredicate(format: "age IN %@", Set([4, 31]))) == ["Ann", "Bob"])
        #expect(names(NSPredicate(format: "age IN %@", NSSet(array: [4, 31]))) == ["Ann", "Bob"])
        #expect(names(NSPredicate(format: "age BETWEEN %@", [4, 31])) == ["Ann", "Bob"])
        #expect(names(NSPredicate(format: "age == %@", NSNumber(value: 65))) == ["Äsa"])
        #expect(names(NSPredicate(format: "born == %@", nil)) == ["Bob", "Äsa"])
        #expect(names(NSPredicate(format: "born == %@", NSNull())) == ["Bob", "Äsa"])
        let wanted: Int? = 31
        #expect(names(NSPredicate(format: "age == %@", wanted)) == ["Ann"])
        let given: [Any] = ["name", "Bob"]
        #expect(names(NSPredicate(format: "%K == %@", argumentArray: given)) == ["Bob"])
        #expect(names(NSPredicate(format: "age > 5", argumentArray: nil)) == ["Ann", "Äsa"])
        func ours(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
            NSPredicate(format: format, argumentArray: arguments)
        }
        #expect(names(ours("age == %d AND name == %@", 4, "Bob")) == ["Bob"])
        let uuid = UUID()
        let url = URL(string: "https://example.org/a")!
        #expect(NSPredicate(format: "id == %@", uuid).evaluate(with: ["id": uuid]))
        #expect(NSPredicate(format: "page == %@", url as NSURL).evaluate(with: ["page": url]))
        #expect(NSPredicate(format: "d == %@", Data([1])).evaluate(with: ["d": Data([1])]))
    }

    @Test("expressions are put in as they are")
    func expressions() {
        let age = NSExpression(forKeyPath: "age")
        #expect(names(NSPredicate(format: "%@ > 18", age)) == ["Ann", "Äsa"])
        let sum = NSExpression(
            forFunction: "add:to:", arguments: [age, NSExpression(forConstantValue: 5)])
        #expect(names(NSPredicate(format: "%@ == %@", sum, 9)) == ["Bob"])
        let wanted = NSPredicate(format: "age < %@", NSExpression(forVariable: "limit"))
        #expect(names(wanted.withSubstitutionVariables(["limit": 5])) == ["Bob"])
    }

    @Test("what is a CVarArg on Apple's platforms is one")
    func variadic() {
        func ours(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
            NSPredicate(format: format, argumentArray: arguments)
        }
        let uuid = UUID()
        let date = Date(timeIntervalSince1970: 0)
        #expect(ours("id == %@", uuid).evaluate(with: ["id": uuid]))
        #expect(NSPredicate(format: "id == %@", uuid as CVarArg).evaluate(with: ["id": uuid]))
        #expect(names(ours("born == %@", date)) == ["Ann"])
        #expect(
            names(ours("age IN %@ AND name != %@", [4, 31], "x" as NSString)) == ["Ann", "Bob"])
        #expect(names(ours("age IN %@", Set([4]))) == ["Bob"])
        #expect(names(ours("age == %@ AND born == %@", NSNumber(value: 31), date)) == ["Ann"])
        #expect(
            String(format: "%@ %@ %@", uuid, NSNumber(value: 1), "ä") == "\(uuid) 1 ä")
    }

    @Test("values are asked themselves")
    func values() {
        let numbers = [1, 5, 9]
        let large = NSPredicate(format: "SELF > 4")
        #expect(numbers.filter { large.evaluate(with: $0) } == [5, 9])
        #expect(NSPredicate(format: "SELF MATCHES %@", "[a-z]+\\d").evaluate(with: "abc1"))
        #expect(NSPredicate(format: "SELF CONTAINS[c] 'B'").evaluate(with: "abc"))
        #expect(NSPredicate(format: "SELF CONTAINS 2").evaluate(with: [1, 2]))
        #expect(!NSPredicate(format: "SELF == 'x'").evaluate(with: nil))
        #expect(NSPredicate(format: "SELF.length == 3").evaluate(with: "abc" as NSString))
    }

    @Test("a format becomes the class that says what it is made of")
    func classes() throws {
        let compared = try #require(
            NSPredicate(format: "age >= 18") as? NSComparisonPredicate)
        #expect(compared.leftExpression.keyPath == "age")
        #expect(compared.rightExpression.constantValue as? Int == 18)
        #expect(compared.predicateOperatorType == .greaterThanOrEqualTo)
        #expect(compared.comparisonPredicateModifier == .direct)
        let joined = try #require(
            NSPredicate(format: "a == 1 AND NOT (b == 2 OR c == 3)") as? NSCompoundPredicate)
        #expect(joined.compoundPredicateType == .and)
        #expect(joined.subpredicates.count == 2)
        let not = try #require(joined.subpredicates[1] as? NSCompoundPredicate)
        #expect(not.compoundPredicateType == .not)
        #expect((not.subpredicates[0] as? NSCompoundPredicate)?.compoundPredicateType == .or)
        let options = try #require(
            NSComparisonPredicate(format: "ANY tags.name ==[cd] 'x'") as NSComparisonPredicate?)
        #expect(options.options == [.caseInsensitive, .diacriticInsensitive])
        #expect(options.comparisonPredicateModifier == .any)
    }

    @Test("predicates that say the same are equal, and say how they are written")
    func equality() {
        let one = NSPredicate(format: "a == %@ AND b IN %@", "x", [1, 2])
        let same = NSPredicate(format: "a == 'x' && b IN {1, 2}")
        #expect(one == same)
        #expect(one.hash == same.hash)
        #expect(one != NSPredicate(format: "a == 'x' && b IN {1, 3}"))
        #expect(one.description == #"a == "x" AND b IN {1, 2}"#)
        #expect((one.copy() as? NSPredicate) == one)
        let joined = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "a == 'x'"), NSPredicate(format: "b IN {1, 2}"),
        ])
        #expect(one == joined)
        #expect(joined == one)
        #expect(joined.hash == one.hash)
        #expect(joined.description == one.description)
        let others = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "a == 'x'"), NSPredicate(format: "b IN {1, 3}"),
        ])
        #expect(joined != others)
        #expect(NSPredicate(format: "TRUEPREDICATE") == NSPredicate(value: true))
        #expect(Set([one, same]).count == 1)
    }

    @Test(
        "formats are written as Core Data writes them",
        arguments: [
            ("name == 'Foo'", #"name == "Foo""#),
            (#"name = "a'b\"c\\""#, #"name == "a'b\"c\\""#),
            ("name == NULL OR name != nil", "name == nil OR name != nil"),
            ("isAdmin == YES && isDone = false", "isAdmin == 1 AND isDone == 0"),
            ("cost > 3.0 AND cost < 3.5", "cost > 3 AND cost < 3.5"),
            ("name CONTAINS[cd] 'x'", #"name CONTAINS[cd] "x""#),
            ("NOT text BEGINSWITH[c] 'a'", #"NOT text BEGINSWITH[c] "a""#),
            ("NOT (a == 1 AND b == 2)", "NOT (a == 1 AND b == 2)"),
            ("NOT a == 1 AND NOT (b == 2 OR c == 3)", "(NOT a == 1) AND (NOT (b == 2 OR c == 3))"),
            ("(a == 1 OR b == 2) AND c == 3", "(a == 1 OR b == 2) AND c == 3"),
            ("(a == 1 AND b == 2) AND c == 3", "(a == 1 AND b == 2) AND c == 3"),
            ("age IN {5, 10}", "age IN {5, 10}"), ("age BETWEEN {1, 3}", "age BETWEEN {1, 3}"),
            ("ANY tags.name IN {'a', 'b'}", #"ANY tags.name IN {"a", "b"}"#),
            ("ALL age == 21", "ALL age == 21"), ("tags.@count == 0", "tags.@count == 0"),
            (
                "SUBQUERY(teams, $t, $t.key == 'x').@count > 0",
                #"SUBQUERY(teams, $t, $t.key == "x").@count > 0"#
            ), ("self LIKE $NAME", "SELF LIKE $NAME"), ("a + b * 2 > 3", "a + b * 2 > 3"),
            ("lowercase(name) == 'a'", #"lowercase:(name) == "a""#), ("@count > 0", "@count > 0"),
            ("TRUEPREDICATE", "TRUEPREDICATE"),
        ])
    func written(_ format: String, _ expected: String) {
        let predicate = NSPredicate(format: format)
        let again = NSPredicate(format: expected)
        #expect(predicate.predicateText == expected)
        #expect(again.predicateText == expected)
    }

    @Test("arguments are written as Core Data writes them")
    func writtenArguments() {
        let date = Date(timeIntervalSinceReferenceDate: 699_993_000.25)
        #expect(
            NSPredicate(format: "born >= %@ AND born < %@", date, Date.distantPast).predicateText
                == #"born >= CAST(699993000.250000, "NSDate") AND born < CAST(-63114076800.000000, "NSDate")"#
        )
        #expect(
            NSPredicate(format: "a == %@ AND b == %@ AND c == %@", true, nil, 1.5).predicateText
                == "a == 1 AND b == nil AND c == 1.5")
        let name = NSExpression(forKeyPath: "name")
        func comparison(_ value: Any?) -> NSPredicate {
            NSComparisonPredicate(
                leftExpression: name, rightExpression: NSExpression(forConstantValue: value),
                modifier: .direct, type: .equalTo)
        }
        #expect(comparison(NSNull()).predicateText == "name == <null>")
        #expect(comparison(nil).predicateText == "name == nil")
        #expect(
            NSCompoundPredicate(notPredicateWithSubpredicate: comparison(NSNull())).predicateText
                == "NOT name == <null>")
        #expect(NSExpression(forConstantValue: "a\n").description == #""a\n""#)
    }

    @Test("a combination is written as its parts are, be they closures")
    func writtenCombinations() {
        let closure = NSPredicate { _, _ in true }
        let one = NSPredicate(format: "a == 1")
        let both = NSCompoundPredicate(orPredicateWithSubpredicates: [one, closure])
        #expect(both.predicateText == "a == 1 OR BLOCKPREDICATE")
        let all = NSCompoundPredicate(andPredicateWithSubpredicates: [
            both, NSCompoundPredicate(andPredicateWithSubpredicates: [one]),
            NSPredicate(value: true),
        ])
        #expect(all.predicateText == "(a == 1 OR BLOCKPREDICATE) AND (a == 1) AND TRUEPREDICATE")
        #expect(
            NSCompoundPredicate(andPredicateWithSubpredicates: []).predicateText == "TRUEPREDICATE")
        #expect(
            NSCompoundPredicate(orPredicateWithSubpredicates: []).predicateText == "FALSEPREDICATE")
        #expect(both == NSCompoundPredicate(orPredicateWithSubpredicates: [one, closure]))
        #expect(both != NSCompoundPredicate(andPredicateWithSubpredicates: [one, closure]))
        #expect(both != one)
    }

    @Test("collections are compared by IN and BETWEEN however they are given")
    func collections() {
        func compare(_ type: NSComparisonPredicate.Operator, _ right: NSExpression) -> [String] {
            names(
                NSComparisonPredicate(
                    leftExpression: NSExpression(forKeyPath: "age"), rightExpression: right,
                    modifier: .direct, type: type))
        }
        let four = NSExpression(forConstantValue: 4)
        let more = NSExpression(format: "30 + 1")
        #expect(compare(.in, NSExpression(forConstantValue: [4, 31])) == ["Ann", "Bob"])
        #expect(compare(.in, NSExpression(forConstantValue: NSSet(array: [65]))) == ["Äsa"])
        #expect(compare(.in, NSExpression(forAggregate: [four, more])) == ["Ann", "Bob"])
        #expect(compare(.between, NSExpression(forConstantValue: [4, 31])) == ["Ann", "Bob"])
        #expect(compare(.between, NSExpression(forAggregate: [four, more])) == ["Ann", "Bob"])
        #expect(compare(.between, NSExpression(forAggregate: [5, 31])) == ["Ann"])
    }

    @Test("variables take values, when the predicate is asked or before")
    func variables() throws {
        let template = NSPredicate(format: "age > $LEAST AND name BEGINSWITH $START")
        let ready = template.withSubstitutionVariables(["LEAST": 5, "START": "A"])
        #expect(names(ready) == ["Ann"])
        #expect(ready == NSPredicate(format: "age > 5 AND name BEGINSWITH 'A'"))
        #expect(
            template.evaluate(
                with: people[0], substitutionVariables: ["LEAST": 30, "START": "An"]))
        #expect(
            !template.evaluate(
                with: people[0], substitutionVariables: ["LEAST": 31, "START": "An"]))
        let list = NSPredicate(format: "name IN $NAMES")
            .withSubstitutionVariables(["NAMES": ["Ann", "Bob"]])
        #expect(names(list) == ["Ann", "Bob"])
    }

    @Test("predicates that are closures join with those of formats in memory")
    func closures() {
        let even = NSPredicate { object, _ in
            ((object as? [String: Any])?["age"] as? Int ?? 0).isMultiple(of: 2)
        }
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "age < 10"), even,
        ])
        #expect(names(both) == ["Bob"])
        #expect(names(NSCompoundPredicate(notPredicateWithSubpredicate: both)) == ["Ann", "Äsa"])
    }

    @Test("many threads ask one predicate")
    func threads() {
        let predicate = NSPredicate(format: "age > 18 AND name BEGINSWITH 'A'")
        let people = people
        let counts = (0..<64).map { _ in 0 }
        let lock = NSLock()
        nonisolated(unsafe) var found = counts
        nonisolated(unsafe) let asked = predicate
        nonisolated(unsafe) let list = people
        DispatchQueue.concurrentPerform(iterations: 64) { place in
            let count = list.filter { asked.evaluate(with: $0) }.count
            lock.withLock { found[place] = count }
        }
        #expect(found.allSatisfy { $0 == 1 })
    }

    @Test("a format that cannot be read ends the program, and says where it is wrong")
    func wrongFormat() async throws {
        let format = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = NSPredicate(format: "age >") }
        #expect(format.says("expected a property or a value"))
        let argument = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = NSPredicate(format: "age > %@", NSObject()) }
        #expect(argument.says("NSObject cannot be an argument"))
        let variable = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = NSPredicate(format: "age > $x").evaluate(with: ["age": 3]) }
        #expect(variable.says("$x has no value"))
    }
}

extension NSPredicate {
    /// The format, which Foundation calls deprecated, since on Linux it knows none.
    fileprivate var predicateText: String {
        switch self {
        case let comparison as NSComparisonPredicate: comparison.predicateFormat
        case let compound as NSCompoundPredicate: compound.predicateFormat
        default: (self as any FormatOfPredicate).predicateFormat
        }
    }
}

/// What hides that Foundation calls the format deprecated.
private protocol FormatOfPredicate {
    var predicateFormat: String { get }
}

extension NSPredicate: FormatOfPredicate {}

extension ExitTest.Result {
    /// Whether the program has said something when it ended.
    func says(_ words: String) -> Bool {
        String(decoding: standardErrorContent, as: UTF8.self).contains(words)
    }
}
