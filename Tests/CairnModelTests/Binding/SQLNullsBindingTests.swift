// What binding with the nil of SQL makes of conditions, and what it refuses.

import CairnModel
import Foundation
import Testing

@Suite("Binding with the nil of SQL")
struct SQLNullsBindingTests {
    private let schema: Schema

    init() throws {
        var named = EntityDescription(
            "Named", attributes: [.init("entity", .string), .init("size", .integer32)])
        named.relationships = [
            .init("plain", to: "Plain", inverse: "owner"),
            .init("items", to: "Plain", toMany: true, inverse: "holder"),
        ]
        var plain = EntityDescription("Plain", attributes: [.init("price", .integer32)])
        plain.relationships = [
            .init("owner", to: "Named", inverse: "plain"),
            .init("holder", to: "Named", inverse: "items"),
        ]
        schema = try Schema(ManagedObjectModel(entities: [named, plain]))
    }

    private func bound(
        _ format: String, to entity: String = "Named", _ nullSemantics: NullSemantics = .sql
    ) throws -> PredicateNode {
        try PredicateNode(format: format).bound(
            to: try #require(schema.entity(named: entity)), in: schema,
            nullSemantics: nullSemantics)
    }

    @Test("A property that has the name of what every object answers may be nil")
    func ownNames() throws {
        let entity = try #require(schema.entity(named: "Named"))
        let object = Thing(1, entity)
        let box = Thing(2, entity, ["entity": .string("Box")])
        let other = Thing(3, entity, ["entity": .string("Crate")])
        for format in ["entity != 'Box'", "NOT entity == 'Box'", "NOT entity IN {'Box'}"] {
            let evaluator = try PredicateEvaluator(try bound(format))
            let found = [object, box, other].map { evaluator.matches($0) }
            #expect(found == [false, false, true], "\(format)")
        }
        // Of others it is never nil, and no test stands beside it.
        #expect(
            try bound("entity != 'Box'", to: "Plain") == PredicateNode(format: "entity != 'Box'"))
        #expect(
            try bound("entity.name != 'Box'") == PredicateNode(format: "entity.name != 'Box'"))
    }

    @Test(
        "A condition that gives a variable a value is refused, wherever it stands",
        arguments: [
            "ANY items.price != ($m := size) AND $m > 3", "($m := size) > 3 AND $m < 9",
            "NOT size IN {($m := 3)}", "TERNARY(($m := size) > 1, 1, 2) == 1",
            "SUBQUERY(items, $i, $i.price > ($m := 2)).@count > 0",
        ])
    func assignments(_ format: String) throws {
        #expect(throws: Never.self) { try bound(format, .twoValued) }
        let error = #expect(throws: PredicateFormatError.self) { try bound(format) }
        #expect(error?.key == "$m")
        #expect(error?.message.contains("SQL's null semantics") == true)
    }

    @Test("What its tests make too deep is refused at once, in words that say so")
    func depth() throws {
        let entity = try #require(schema.entity(named: "Named"))
        func nested(_ levels: Int) -> PredicateNode {
            var node = ExpressionNode.keyPath("size")
            for _ in 0..<levels - 2 { node = .function(.absolute, [node]) }
            return .compare(node, .notEqual, .constant(.integer(5)))
        }
        // A key path counts as one more level than it has steps.
        let deepest = PredicateNode.deepest - 1
        #expect(throws: Never.self) { try nested(deepest).bound(to: entity, in: schema) }
        let tooDeep = #expect(throws: PredicateFormatError.self) {
            try nested(deepest + 1).bound(to: entity, in: schema, nullSemantics: .sql)
        }
        #expect(tooDeep?.message.contains("SQL") == false)
        // The test that it is not nil stands beside it.
        let grown = #expect(throws: PredicateFormatError.self) {
            try nested(deepest).bound(to: entity, in: schema, nullSemantics: .sql)
        }
        #expect(grown?.message.contains("SQL's null semantics add") == true)
        let whole = try nested(deepest - 1).bound(to: entity, in: schema, nullSemantics: .sql)
        #expect(try whole.boundForStore(to: entity, in: schema) == whole)
    }
}
