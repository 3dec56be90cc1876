// The validation predicates of an attribute: what they are asked, how they are kept, which a schema refuses.

import FoundationEssentials
import Testing

@testable import CairnModel

@Suite("Validation predicates")
struct ValidationPredicateTests {
    private func attribute(
        _ type: AttributeType, _ formats: String..., warnings: [String] = []
    ) throws -> AttributeDescription {
        var attribute = AttributeDescription("a", type)
        attribute.setValidationPredicates(
            try formats.map { try PredicateParser.parse($0) }, withValidationWarnings: warnings)
        return attribute
    }

    private func schema(_ attribute: AttributeDescription) throws -> Schema {
        try Schema(
            ManagedObjectModel(entities: [EntityDescription("E", attributes: [attribute])]))
    }

    private static let rules: [(AttributeType, String, good: Value, bad: Value)] = [
        (.integer32, "SELF BETWEEN {1, 3}", .integer(2), .integer(4)),
        (.double, "SELF > 0", .double(0.5), .double(0)),
        (.decimal, "SELF != 1", .decimal(2), .decimal(1)),
        (.string, "length > 2", .string("abc"), .string("ab")),
        (.string, "SELF MATCHES '[a-z]+' OR SELF == ''", .string(""), .string("A")),
        (.string, "SELF IN {'a', 'b'}", .string("b"), .string("c")),
        (.string, "uppercase(SELF) == SELF", .string("A"), .string("a")),
        (.boolean, "SELF == YES", .boolean(true), .boolean(false)),
        (
            .date, "SELF < '2001-01-02T00:00:00Z'",
            .date(Date(timeIntervalSinceReferenceDate: 0)),
            .date(Date(timeIntervalSinceReferenceDate: 86_400))
        ),
        (
            .uuid, "SELF != '00000000-0000-0000-0000-000000000000'",
            .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
            .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        ),
    ]

    @Test("SELF is the value, and a key is one of the value's", arguments: rules)
    func values(_ rule: (AttributeType, String, good: Value, bad: Value)) throws {
        let (good, bad) = (rule.good, rule.bad)
        let attribute = try attribute(rule.0, rule.1)
        let entity = try schema(attribute).entities[0]
        #expect(attribute.validate(good) == nil && entity.columns[0].validate(good) == nil)
        #expect(entity.attributes[0].validate(good) == nil)
        for failure in [attribute.validate(bad), entity.columns[0].validate(bad)] {
            #expect(failure?.code == .generic && failure?.value == bad)
        }
        #expect(attribute.validate(.null) == nil, "nil is judged by 'optional' alone")
    }

    @Test("The words of the model's author are the message, each beside its predicate")
    func warnings() throws {
        let attribute = try attribute(
            .integer64, "SELF > 0", "SELF < 10", "SELF != 5", warnings: ["too small", "", "five"])
        #expect(attribute.validationWarnings == ["too small", "", "five"])
        #expect(
            attribute.validationPredicates.map(\.predicateFormat) == [
                "SELF > 0", "SELF < 10", "SELF != 5",
            ])
        #expect(attribute.validate(.integer(0))?.message == "too small")
        #expect(attribute.validate(.integer(10))?.message.contains("SELF < 10") == true)
        #expect(attribute.validate(.integer(5))?.message == "five")
    }

    @Test("Limits come before them")
    func order() throws {
        var attribute = try attribute(.integer64, "SELF != 11")
        attribute.maximumValue = .integer(10)
        #expect(attribute.validate(.integer(11))?.code == .numberTooLarge)
    }

    @Test("A model that is written and read is equal, and has them still")
    func coding() throws {
        var attribute = AttributeDescription("a", .double)
        attribute.setValidationPredicates(
            [
                .compare(.evaluatedObject, .greater, .constant(.double(1.5))),
                .compare(.evaluatedObject, .in, .list([.float(2.5), .integer(3)])),
            ], withValidationWarnings: ["w"])
        let data = try JSONEncoder().encode(attribute)
        let read = try JSONDecoder().decode(AttributeDescription.self, from: data)
        #expect(read == attribute)
        #expect(read.validationPredicates.count == 2 && read.validationWarnings == ["w", ""])
        #expect(read.validate(.double(2.5)) == nil && read.validate(.double(1.5)) != nil)
        let broken = Data(
            String(decoding: data, as: UTF8.self).replacing("SELF >", with: "SELF > >").utf8)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(AttributeDescription.self, from: broken)
        }
    }

    @Test(
        "A schema refuses what a value cannot be asked, and names the attribute",
        arguments: [
            (AttributeType.integer64, "name == 'x'"), (.string, "shop.name == 'x'"),
            (.integer64, "SELF BEGINSWITH 'a'"), (.date, "SELF > 'no date'"),
            (.string, "SELF MATCHES '('"), (.double, "ANY SELF > 3"), (.integer64, "SELF > $LIMIT"),
        ])
    func refused(_ type: AttributeType, _ format: String) throws {
        let attribute = try attribute(type, format)
        let error = #expect(throws: ModelError.self) { try schema(attribute) }
        #expect(error?.code == .invalidValue && error?.element == "E.a")
    }

    @Test("A composite attribute has none of its own, its elements may")
    func composite() throws {
        var outer = try attribute(.composite, "SELF == 1")
        outer.elements = [AttributeDescription("leaf", .integer64)]
        #expect(throws: ModelError.self) { try schema(outer) }
        outer.setValidationPredicates([])
        outer.elements[0].setValidationPredicates([try PredicateParser.parse("SELF == 1")])
        let column = try schema(outer).entities[0].columns[0]
        #expect(column.validate(.integer(1)) == nil && column.validate(.integer(2)) != nil)
    }
}
