// Expressions and comparisons that are put together of objects.

import CoreData
import Testing

@Suite("Expressions of objects")
struct ExpressionTests {
    private func key(_ path: String) -> NSExpression { NSExpression(forKeyPath: path) }
    private func value(_ any: Any?) -> NSExpression { NSExpression(forConstantValue: any) }

    @Test(
        "each operator, put together, is what a format says",
        arguments: [
            ("==", NSComparisonPredicate.Operator.equalTo), ("!=", .notEqualTo), ("<", .lessThan),
            ("<=", .lessThanOrEqualTo), (">", .greaterThan), (">=", .greaterThanOrEqualTo),
            ("MATCHES", .matches), ("LIKE", .like), ("BEGINSWITH", .beginsWith),
            ("ENDSWITH", .endsWith), ("IN", .in), ("CONTAINS", .contains),
        ])
    func operators(_ word: String, _ type: NSComparisonPredicate.Operator) {
        for (letters, options) in [
            ("", []), ("[c]", .caseInsensitive),
            ("[cd]", [.caseInsensitive, .diacriticInsensitive]),
            ("[n]", .normalized),
        ] as [(String, NSComparisonPredicate.Options)] {
            for (prefix, modifier) in [("", .direct), ("ANY ", .any), ("ALL ", .all)]
                as [(String, NSComparisonPredicate.Modifier)]
            {
                let made = NSComparisonPredicate(
                    leftExpression: key("a.b"), rightExpression: value("x"), modifier: modifier,
                    type: type, options: options)
                let read = NSPredicate(format: "\(prefix)a.b \(word)\(letters) 'x'")
                #expect(made == read)
                #expect(made.description == read.description)
            }
        }
    }

    @Test("BETWEEN takes a list")
    func between() {
        let made = NSComparisonPredicate(
            leftExpression: key("age"), rightExpression: value([1, 5]), modifier: .direct,
            type: .between)
        #expect(made == NSPredicate(format: "age BETWEEN {1, 5}"))
        #expect(made.evaluate(with: ["age": 3]))
        let parts = NSExpression(forAggregate: [value(1), key("most")])
        let other = NSComparisonPredicate(
            leftExpression: key("age"), rightExpression: parts, modifier: .direct, type: .between)
        #expect(other == NSPredicate(format: "age BETWEEN {1, most}"))
    }

    @Test("each kind of expression is what a format says, and gives its parts")
    func kinds() throws {
        let sum = NSExpression(forFunction: "add:to:", arguments: [key("a"), value(1)])
        #expect(sum == NSExpression(format: "a + 1"))
        #expect(sum.expressionType == .function)
        #expect(sum.function == "add:to:")
        #expect(sum.arguments?.first?.keyPath == "a")

        let count = NSExpression(forFunction: "count:", arguments: [key("tags")])
        #expect(count == NSExpression(format: "count:(tags)"))

        let union = NSExpression(forUnionSet: key("a"), with: key("b"))
        #expect(union == NSExpression(format: "a UNION b"))
        #expect(union.expressionType == .unionSet)
        #expect(union.left.keyPath == "a")
        #expect(union.right.keyPath == "b")
        #expect(
            NSExpression(forIntersectSet: key("a"), with: key("b"))
                == NSExpression(format: "a INTERSECT b"))
        #expect(
            NSExpression(forMinusSet: key("a"), with: key("b")) == NSExpression(format: "a MINUS b")
        )

        let condition = NSPredicate(format: "$x.n > 2")
        let some = NSExpression(
            forSubquery: key("items"), usingIteratorVariable: "x", predicate: condition)
        #expect(some == NSExpression(format: "SUBQUERY(items, $x, $x.n > 2)"))
        let large = NSComparisonPredicate(
            leftExpression: key("$x.n"), rightExpression: value(2), modifier: .direct,
            type: .greaterThan)
        #expect(
            NSExpression(
                forSubquery: key("items"), usingIteratorVariable: "x", predicate: large) == some)
        #expect(some.variable == "x")
        #expect(some.predicate == condition)
        #expect((some.collection as? NSExpression)?.keyPath == "items")

        let choice = NSExpression(
            forConditional: NSPredicate(format: "a > 1"), trueExpression: value("x"),
            falseExpression: value("y"))
        #expect(choice == NSExpression(format: "TERNARY(a > 1, 'x', 'y')"))
        #expect(choice.true.constantValue as? String == "x")
        #expect(choice.false.constantValue as? String == "y")

        #expect(NSExpression(forVariable: "v") == NSExpression(format: "$v"))
        #expect(NSExpression(forVariable: "v").variable == "v")
        #expect(NSExpression.expressionForEvaluatedObject() == NSExpression(format: "SELF"))
        #expect(NSExpression.expressionForAnyKey() == NSExpression(format: "ANYKEY"))
        #expect(key("items.@sum.price") == NSExpression(format: "items.@sum.price"))
        #expect(key("items.@sum.price").keyPath == "items.@sum.price")
        #expect(NSExpression(format: "a").expressionType == .keyPath)
        #expect(value(nil).constantValue == nil)
        let list = NSExpression(forAggregate: [1, "x", key("k")])
        #expect(list.expressionType == .aggregate)
        #expect((list.collection as? [NSExpression])?.count == 3)
    }

    @Test("expressions give values")
    func values() {
        let order: [String: Any] = ["price": 3, "count": 4, "name": "tea", "parts": [1, 2, 6]]
        #expect(
            NSExpression(format: "price * count").expressionValue(with: order, context: nil) as? Int
                == 12)
        #expect(
            NSExpression(format: "uppercase:(name)").expressionValue(with: order, context: nil)
                as? String == "TEA")
        #expect(
            NSExpression(forKeyPath: "parts.@avg.self").expressionValue(with: order, context: nil)
                as? Double == 3)
        #expect(
            NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "parts")])
                .expressionValue(with: order, context: nil) as? Int == 6)
        #expect(
            NSExpression(format: "$n + 1").expressionValue(with: nil, context: ["n": 2]) as? Int
                == 3)
        #expect(
            NSExpression(format: "2 ** 3").expressionValue(with: nil, context: nil) as? Int == 8)
    }

    @Test("an expression that is a closure is asked in memory, and refused by stores")
    func closures() {
        let length = NSExpression(
            block: { object, arguments, _ in
                ((object as? [String: Any])?["name"] as? String ?? "").count + arguments.count
            }, arguments: [NSExpression(forConstantValue: 1)])
        #expect(length.expressionType == .block)
        #expect(length.expressionValue(with: ["name": "abc"], context: nil) as? Int == 4)
        let comparison = NSComparisonPredicate(
            leftExpression: length, rightExpression: NSExpression(forConstantValue: 4),
            modifier: .direct, type: .equalTo)
        #expect(comparison.evaluate(with: ["name": "abc"]))
        #expect(!comparison.evaluate(with: ["name": "ab"]))
    }

    @Test("a function that there is not ends the program")
    func unknownFunction() async throws {
        let function = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = NSExpression(forFunction: "nonsense:", arguments: []) }
        #expect(function.says("unknown function nonsense:"))
        let part = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { _ = NSExpression(forConstantValue: 1).keyPath }
        #expect(part.says("has no key path"))
    }
}
