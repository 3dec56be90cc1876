// Predicates are fitted to an entity: keys exist, operators make sense, values convert exactly.

import CairnModel
import Foundation
import Testing

@Suite("Binding predicates to an entity")
struct PredicateBindingTests {
    private static let entity: SchemaEntity = {
        var thing = EntityDescription(
            "Thing",
            attributes: [
                .init("i16", .integer16), .init("i64", .integer64), .init("decimal", .decimal),
                .init("double", .double), .init("float", .float), .init("string", .string),
                .init("boolean", .boolean), .init("date", .date), .init("binary", .binary),
                .init("uuid", .uuid), .init("uri", .uri), .init("object", .transformable),
            ])
        var temporary = AttributeDescription("temporary", .string)
        temporary.isTransient = true
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("lat", .double), .init("lon", .double)]
        thing.attributes += [temporary, place]
        thing.relationships = [
            .init("parent", to: "Thing", inverse: "children"),
            .init("children", to: "Thing", toMany: true, inverse: "parent"),
        ]
        do {
            return try Schema(ManagedObjectModel(entities: [thing])).entities[0]
        } catch {
            preconditionFailure("the model of this test is good: \(error)")
        }
    }()

    private func bound(_ format: String, _ arguments: [Value] = []) throws -> Value {
        let node = try PredicateNode(format: format, arguments).bound(to: Self.entity)
        guard case .comparison(let comparison) = node else { return .null }
        return try #require(comparison.simple?.values.first)
    }

    @Test(
        "A literal becomes a value of the column's type",
        arguments: [
            ("i16 == 5", Value.integer(5)), ("i16 == 5.0", .integer(5)),
            ("i64 == 1e3", .integer(1000)),
            ("i64 == TRUE", .integer(1)), ("double == 5", .double(5)),
            ("double == 0.1", .double(0.1)),
            ("double == 'nan'", .double(.nan)), ("double == 1e300", .double(1e300)),
            ("float == 0.1", .float(0.1)), ("float == 3", .float(3)),
            ("boolean == 1", .boolean(true)), ("boolean == 0.0", .boolean(false)),
            ("boolean == YES", .boolean(true)), ("string == '5'", .string("5")),
            ("place.lat < 5", .double(5)), ("i16 == nil", .null), ("object == nil", .null),
            ("uri == 'https://a.b/c'", .uri(URL(string: "https://a.b/c") ?? URL(filePath: "/"))),
            ("binary == 'AQI='", .binary(Data([1, 2]))), ("parent != nil", .null),
        ])
    func conversions(_ format: String, value: Value) throws {
        #expect(try bound(format) == value)
    }

    @Test(
        "A number that no float or double equals is refused, not rounded",
        arguments: [
            "float == 1e-100", "float IN {1e-100}", "float == 0.123456789012345",
            "double IN {0.1, 0.12345678901234567890123}",
        ])
    func near(_ format: String) throws {
        let node = try PredicateNode(format: format)
        #expect(throws: PredicateFormatError.self) { try node.bound(to: Self.entity) }
    }

    @Test("A decimal keeps all digits of the text")
    func decimal() throws {
        let text = "12345678901234567890.12345678901234567"
        #expect("\(try bound("decimal == \(text)"))" == text)
        #expect(try bound("decimal == 7") == .decimal(7))
        #expect(
            try bound("decimal == %@", [.double(0.1)])
                == .decimal(try #require(Decimal(string: "0.1"))))
    }

    @Test(
        "A text becomes a date",
        arguments: [
            ("2001-01-01", 0.0), ("2001-01-01T00:00:00Z", 0), ("2001-01-01 00:00", 0),
            ("2001-01-01T01:00:00+01:00", 0), ("2000-12-31T19:30:00-0430", 0),
            ("2001-01-02T03:04:05.5Z", 97445.5), ("2000-12-31T23:59:59.25", -0.75),
            ("2024-02-29", 730_857_600), ("1970-01-01", -978_307_200),
        ])
    func dates(_ text: String, seconds: Double) throws {
        #expect(
            try bound("date > '\(text)'") == .date(Date(timeIntervalSinceReferenceDate: seconds)))
    }

    @Test("An id is taken as itself, as a text and as a URI")
    func ids() throws {
        let id = ObjectID(store: UUID(), hierarchy: 0, reference: 12)
        let uri = id.uriRepresentation
        #expect(try bound("SELF == '\(uri.absoluteString)'") == .objectID(id))
        #expect(try bound("parent == %@", [.objectID(id)]) == .objectID(id))
        #expect(try bound("parent IN {%@}", [.uri(uri)]) == .objectID(id))
        let uuid = UUID()
        #expect(try bound("uuid == '\(uuid.uuidString)'") == .uuid(uuid))
    }

    @Test(
        "What does not fit is refused, naming it",
        arguments: [
            ("missing == 1", "missing"), ("i16 == 2.5", "integer16"), ("i16 == 40000", "integer16"),
            ("i64 == 9223372036854775808", "integer64"), ("i64 == '5'", "integer64"),
            ("string == 5", "string"), ("boolean == 2", "boolean"), ("boolean == 'YES'", "boolean"),
            ("date == 5", "date"), ("date == '2023-02-29'", "date"), ("date == '5 May'", "date"),
            ("date == '2023-01-01T25:00'", "date"), ("uuid == 'x'", "uuid"), ("uri == ''", "uri"),
            ("double == 9007199254740993", "double"), ("decimal == 1e200", "decimal"),
            ("boolean < TRUE", "no order"), ("binary > 'AQI='", "no order"),
            ("uuid >= nil", "no order"),
            ("parent < nil", "no order"), ("SELF > nil", "no order"), ("object == 'x'", "nil"),
            ("object IN {}", "nil"), ("temporary == 'x'", "transient"),
            ("place == nil", "composite"),
            ("children == nil", "to-many"), ("parent.i16 == 1", "crosses a relationship"),
            ("parent == 5", "object id"), ("SELF == 'x'", "object id"),
            ("i16 IN {1, 'x'}", "integer16"), ("string CONTAINS 'x'", "CONTAINS is not supported"),
            ("string BEGINSWITH 'x'", "BEGINSWITH is not supported"),
            ("string LIKE 'x'", "LIKE is not supported"),
            ("string MATCHES 'x'", "MATCHES is not supported"), ("ANY i16 == 1", "ANY is not"),
            ("ALL i16 == 1", "ALL is not"), ("NONE parent.i16 == 1", "ANY is not supported"),
            ("SUBQUERY(children, $x, $x.i16 == 1).@count > 0", "@count is not supported"),
            ("date == now()", "now is not supported"),
            ("uppercase:(string) == 'A'", "uppercase: is not supported"),
            ("CAST(i16, 'NSDate') == nil", "CAST is not supported"),
            ("children.@count > 1", "@count is not supported"), ("children[0] == nil", "index"),
            ("string ==[c] 'x'", "[c] is not supported"), ("i16 + 1 == 2", "operator + between"),
            ("i16 == $x", "the variable $x"), ("i16 == i64", "comparing two properties"),
            ("'x' IN string", "left of IN"), ("i16 IN i64", "comparing two properties"),
            ("i16 IN {i64}", "a property in a list"), ("i16 == {1}", "one value"),
            ("i16 BETWEEN {1, 2.5}", "integer16"),
        ])
    func refusals(_ format: String, text: String) throws {
        let node = try PredicateNode(format: format)
        let error = try #require(throws: PredicateFormatError.self) {
            _ = try node.bound(to: Self.entity)
        }
        #expect(error.message.contains(text), "\(error)")
    }

    @Test("A tree that no text can say is refused as well")
    func shapes() {
        for node in [
            PredicateNode.comparison(.init(.key("i16"), .equal, [])),
            .comparison(.init(.key("i16"), .less, [.integer(1), .integer(2)])),
            .not(.comparison(.init(.key("i16"), .between, [.integer(1)]))),
        ] {
            #expect(throws: PredicateFormatError.self) { try node.bound(to: Self.entity) }
        }
    }

    @Test("Logic is bound part by part")
    func logic() throws {
        let node = try PredicateNode(format: "NOT (double == 1 OR TRUEPREDICATE) AND boolean == 1")
        #expect(
            try node.bound(to: Self.entity)
                == .and([
                    .not(.or([.compare("double", .equal, .double(1)), .constant(true)])),
                    .compare("boolean", .equal, .boolean(true)),
                ]))
    }
}
