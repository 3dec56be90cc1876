// Archived expressions and predicates, as the trees that their texts are read into.

import CairnTestSupport
import Foundation
import Testing

@testable import CairnModel

@Suite("Archived expressions and predicates")
struct ArchivedTreeTests {
    private static func tree(_ node: ArchivedNode) throws -> ExpressionNode {
        let archive = try #require(KeyedArchive(node.archive))
        return try ArchivedTree.expression(try #require(archive.top))
    }

    private static func tree(_ condition: ArchivedCondition) throws -> PredicateNode {
        let archive = try #require(KeyedArchive(condition.archive))
        return try ArchivedTree.predicate(try #require(archive.top))
    }

    private static let expressions: [(ArchivedNode, String)] = [
        (.itself, "SELF"), (.variable("source"), "$source"), (.path("name"), "name"),
        (.source("maker.name"), "$source.maker.name"),
        (.source("cars.@count"), "$source.cars.@count"),
        (.source("cars.@max.price"), "$source.cars.@max.price"),
        (.path("@count"), "SELF.@count"), (.path("in"), "#in"), (.path("objectID"), "SELF"),
        (.constant(.text("it's")), #"'it\'s'"#), (.constant(.integer(25)), "25"),
        (.constant(.boolean(true)), "YES"), (.constant(.null), "NULL"),
        (.constant(.real(1.5)), "1.5"), (.constant(.real(0.1)), "0.1"),
        (.list([.constant(.integer(1)), .constant(.text("x"))]), "{1, 'x'}"),
        (.list([.constant(.integer(1)), .source("age")]), "{1, $source.age}"),
        (
            .destinations("CarToCar", .source("cars")),
            "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'CarToCar', $source.cars)"
        ),
        (
            .call(.variable("entityPolicy"), "fullNameOf:", [.variable("source")]),
            "FUNCTION($entityPolicy, 'fullNameOf:', $source)"
        ),
        (.function("add:to:", [.source("age"), .constant(.integer(1))]), "$source.age + 1"),
        (.function("uppercase:", [.source("name")]), "uppercase:($source.name)"),
        (.function("count:", [.path("cars")]), "cars.@count"),
        (
            .function("max:", [.list([.constant(.integer(1)), .source("a")])]),
            "max:({1, $source.a})"
        ),
        (.function("now", []), "now()"),
        (
            .function("castObject:toType:", [.source("age"), .constant(.text("NSString"))]),
            "CAST($source.age, 'NSString')"
        ),
        (
            .ternary(
                .compared(.source("name"), 4, .constant(.null)), .constant(.text("")),
                .source("name")), "TERNARY($source.name == NULL, '', $source.name)"
        ),
        (
            .subquery(
                .source("cars"), "c",
                .compared(.path("price", of: .variable("c")), 2, .constant(.integer(9)))),
            "SUBQUERY($source.cars, $c, $c.price > 9)"
        ),
        (.set(5, .source("cars"), .source("vans")), "$source.cars UNION $source.vans"),
        (.set(7, .source("cars"), .source("vans")), "$source.cars MINUS $source.vans"),
    ]

    @Test("An expression is the one that its text is read into")
    func expressions() throws {
        for (node, format) in Self.expressions {
            let tree = try Self.tree(node)
            #expect(try tree == ExpressionNode(format: format), "\(tree), not \(format)")
        }
    }

    @Test("A predicate is the one that its text is read into")
    func predicates() throws {
        let name = ArchivedNode.path("name")
        let conditions: [(ArchivedCondition, String)] = [
            (.always(true), "TRUEPREDICATE"),
            (.compound(1, []), "TRUEPREDICATE"), (.compound(2, []), "FALSEPREDICATE"),
            (.compared(name, 5, .constant(.text("x"))), "name != 'x'"),
            (.compared(name, 8, .constant(.text("x")), options: 3), "name BEGINSWITH[cd] 'x'"),
            (
                .compared(.path("cars.price"), 3, .constant(.integer(1)), modifier: 2),
                "ANY cars.price >= 1"
            ),
            (.compared(name, 10, .list([.constant(.text("a"))])), "name IN {'a'}"),
            (.compared(name, 99, .constant(.text("a"))), "name CONTAINS 'a'"),
            (
                .compound(
                    1,
                    [
                        .compared(name, 4, .constant(.null)),
                        .compound(
                            2,
                            [
                                .compared(.path("a"), 0, .constant(.integer(1))),
                                .compound(0, [.compared(.path("b"), 1, .constant(.integer(2)))]),
                            ]),
                    ]), "name == NULL AND (a < 1 OR NOT b <= 2)"
            ),
        ]
        for (condition, format) in conditions {
            let tree = try Self.tree(condition)
            #expect(try tree == PredicateNode(format: format), "\(tree), not \(format)")
        }
    }

    @Test("What has no form is refused with what it is")
    func refused() throws {
        func sentence(_ node: ArchivedNode) throws -> String? {
            let archive = try #require(KeyedArchive(node.archive))
            let top = try #require(archive.top)
            do throws(ArchivedTreeError) {
                return "\(try ArchivedTree.expression(top))"
            } catch {
                return error.description
            }
        }
        #expect(
            try sentence(.other("NSBlockExpression"))
                == "it has an expression of the class NSBlockExpression")
        #expect(
            try sentence(.function("launchMissiles:", [.itself]))
                == "it calls the function launchMissiles:")
        #expect(
            try sentence(.function("add:to:", [.itself])) == "it calls the function add:to:")
        #expect(
            try sentence(.source("a.@secret")) == "the key path a.@secret has the operator @secret")
        #expect(
            try sentence(.source("a..b")) == "the key path a..b has a key without a name")
        #expect(
            try sentence(.ternary(.other("NSBlockPredicate"), .itself, .itself))
                == "it has a predicate of the class NSBlockPredicate")
        #expect(
            try sentence(.ternary(.compared(.itself, 11, .itself), .itself, .itself))
                == "it has a comparison of the type 11")
        #expect(try sentence(.constant(.real(.nan))) == "it has a constant that is not a value")
        #expect(
            try sentence(
                .call(
                    .other(
                        "NSConstantValueExpression", [("NSConstantValueClassName", .text("NSTask"))]
                    ), "launch", []))
                == "it names the class NSTask")
    }

    @Test("Archives that lead in a circle, or to one part in very many ways, are refused")
    func circles() throws {
        var writer = ArchiveWriter()
        let own = writer.room()
        let argument = writer.array([.reference(own)])
        writer.fill(
            own, "NSFunctionExpression",
            [("NSSelectorName", .text("abs:")), ("NSArguments", argument)])
        let circle = try #require(KeyedArchive(writer.bytes(of: .reference(own)))?.top)
        #expect(throws: ArchivedTreeError(description: "it is too deep or too large")) {
            try ArchivedTree.expression(circle)
        }
        // Twice as many ways with each level.
        writer = ArchiveWriter()
        var node = ArchivedNode.itself.add(to: &writer)
        for _ in 0..<50 {
            let arguments = writer.array([node, node])
            node = writer.object(
                "NSFunctionExpression",
                [("NSSelectorName", .text("add:to:")), ("NSArguments", arguments)])
        }
        let bomb = try #require(KeyedArchive(writer.bytes(of: node))?.top)
        #expect(throws: ArchivedTreeError(description: "it is too deep or too large")) {
            try ArchivedTree.expression(bomb)
        }
    }

    @Test("What a model keeps reads back as it was, or is refused with the reason")
    func written() throws {
        let more: [ArchivedNode] = [
            .constant(.real(1e200)), .constant(.real(-2.5e-200)), .constant(.real(123_456.75)),
            .constant(.real(1e30)), .constant(.real(-0.0)), .constant(.data([0, 1, 255])),
            .constant(.integer(.min)), .constant(.text("\u{0}'\\\u{1F600}")), .list([]),
            .list([.constant(.real(1e-3)), .constant(.boolean(false))]),
            // Names that are no words.
            .variable("a + b"), .variable("("), .path("a b.c+d"), .call(.itself, "'", []),
            .subquery(.path("c"), "x y", .compound(2, [])),
        ]
        for node in Self.expressions.map(\.0) + more {
            let archive = try #require(KeyedArchive(node.archive))
            let top = try #require(archive.top)
            let tree = try Self.tree(node)
            #expect(try ArchivedTree.writtenExpression(top) == tree)
            let condition = ArchivedCondition.compared(node, 4, .constant(.null))
            let other = try #require(KeyedArchive(condition.archive))
            #expect(
                try ArchivedTree.writtenPredicate(try #require(other.top))
                    == .compare(tree, .equal, .constant(.null)))
        }
        for seconds in [1.25, -1e15, 0.1, .greatestFiniteMagnitude] {
            var writer = ArchiveWriter()
            let date = writer.object("NSDate", [("NS.time", .real(seconds))])
            let constant = writer.object("NSConstantValueExpression", [("NSConstantValue", date)])
            let archive = try #require(KeyedArchive(writer.bytes(of: constant)))
            #expect(
                try ArchivedTree.writtenExpression(try #require(archive.top))
                    == .constant(.date(Date(timeIntervalSinceReferenceDate: seconds))))
        }
        let condition = ArchivedCondition.compared(.path("a"), 4, .constant(.null))
        let joins: [ArchivedCondition] = [
            .compound(1, []), .compound(2, []), .compound(0, [.compound(1, [])]),
            .compound(1, [.compound(1, [condition, condition]), condition]),
            .compound(2, [condition, .compound(2, [condition, .compound(1, [condition])])]),
        ]
        for join in joins {
            let archive = try #require(KeyedArchive(join.archive))
            #expect(
                try ArchivedTree.writtenPredicate(try #require(archive.top)) == Self.tree(join))
        }
        func reason(_ node: ArchivedNode) throws -> String {
            let archive = try #require(KeyedArchive(node.archive))
            let top = try #require(archive.top)
            return try #require(throws: ArchivedTreeError.self) {
                try ArchivedTree.writtenExpression(top)
            }.description
        }
        let chain = Array(repeating: "@count", count: 450).joined(separator: ".")
        #expect(try reason(.path(chain)).hasPrefix("its format could not be parsed: "))
    }

    @Test("A chain of operators that is too long is refused before it is built")
    func chains() throws {
        func tree(_ count: Int) throws -> ExpressionNode {
            try Self.tree(.path(Array(repeating: "@count", count: count).joined(separator: ".")))
        }
        _ = try tree(400)
        for count in [600, 100_000] {
            #expect(throws: ArchivedTreeError(description: "it is too deep or too large")) {
                try tree(count)
            }
        }
    }

    @Test(
        "What one constant or name has counts as often as it is led to",
        arguments: [
            ListNode.data([UInt8](repeating: 7, count: 1 << 16)),
            .text(String(repeating: "x", count: 1 << 16)),
        ])
    func shared(_ value: ListNode) throws {
        func tree(_ count: Int) throws -> ExpressionNode {
            var writer = ArchiveWriter()
            let constant = ArchivedNode.constant(value).add(to: &writer)
            let list = writer.array(Array(repeating: constant, count: count))
            let root = writer.object("NSAggregateExpression", [("NSCollection", list)])
            return try ArchivedTree.expression(
                try #require(KeyedArchive(writer.bytes(of: root))?.top))
        }
        guard case .list(let values) = try tree(64) else {
            Issue.record("it is no list")
            return
        }
        #expect(values.count == 64)
        #expect(throws: ArchivedTreeError(description: "it is too deep or too large")) {
            try tree(65)
        }
    }

    @Test("Archives whose bytes are changed are expressions or none, never a trap")
    func mutations() throws {
        let originals = Self.expressions.map(\.0.archive)
        let words = ["NSOperand", "$class", "NSArguments", "NSTernaryExpression", "@count", "."]
            .map { Array($0.utf8) }
        var trees = 0
        Rounds.run("fuzzed archived expressions", everyDay: 2_000, whole: 1_000_000) { random in
            var bytes = originals.randomElement(using: &random) ?? []
            random.mutate(&bytes, words: words)
            guard let top = KeyedArchive(bytes)?.top, let tree = try? ArchivedTree.expression(top)
            else { return }
            trees += 1
            if (try? ExpressionNode(format: tree.expressionFormat)) != tree {
                Issue.record("seed \(random.seed): \(tree) is not read back as it was")
            }
        }
        #expect(trees > 0)
    }
}
