// Values are judged by what the model says of their property, with Core Data's numbers.

import CairnModel
import Foundation
import Testing

@Suite("Validating single values")
struct ValidationTests {
    private static let column: @Sendable (AttributeDescription) throws -> SchemaColumn = {
        let entity = EntityDescription("Thing", attributes: [$0])
        return try Schema(ManagedObjectModel(entities: [entity])).entities[0].columns[0]
    }

    private static func attribute(
        _ type: AttributeType, optional: Bool = false,
        _ change: (inout AttributeDescription) -> Void
    ) -> AttributeDescription {
        var attribute = AttributeDescription("x", type, optional: optional)
        change(&attribute)
        return attribute
    }

    private static let short = attribute(.string) {
        $0.minimumLength = 2
        $0.maximumLength = 4
    }
    private static let lower = attribute(.string) { $0.regularExpression = "[a-z]+" }
    private static let percent = attribute(.integer16) {
        $0.minimumValue = .integer(0)
        $0.maximumValue = .integer(100)
    }
    private static let ratio = attribute(.double) {
        $0.minimumValue = .double(0)
        $0.maximumValue = .double(1)
    }
    private static let price = attribute(.decimal) { $0.minimumValue = .decimal(1) }
    private static let day = attribute(.date) {
        $0.minimumValue = .date(Date(timeIntervalSinceReferenceDate: 10))
        $0.maximumValue = .date(Date(timeIntervalSinceReferenceDate: 20))
    }
    private static func date(_ seconds: Double) -> Value {
        .date(Date(timeIntervalSinceReferenceDate: seconds))
    }

    @Test(
        "A value is good, or fails with its number",
        arguments: [
            (AttributeDescription("x", .string, optional: false), Value.null, 1570),
            (AttributeDescription("x", .string, optional: true), .null, nil),
            (AttributeDescription("x", .string, optional: false), .string(""), nil),
            (AttributeDescription("x", .string), .integer(1), 1550),
            (AttributeDescription("x", .integer16), .integer(40000), 1550),
            (percent, .integer(0), nil), (percent, .integer(100), nil),
            (percent, .integer(-1), 1620), (percent, .integer(101), 1610),
            (ratio, .double(0.5), nil), (ratio, .double(1.5), 1610), (ratio, .double(-0.1), 1620),
            (ratio, .double(.nan), 1550), (ratio, .double(-0.0), nil),
            (attribute(.double) { $0.maximumValue = .double(1) }, .double(.nan), 1550),
            (price, .decimal(1), nil), (price, .decimal(0), 1620),
            (day, date(10), nil), (day, date(20), nil), (day, date(9.5), 1640),
            (day, date(20.5), 1630),
            (short, .string("ab"), nil), (short, .string("a"), 1670),
            (short, .string("abcde"), 1660),
            (short, .string("👩‍👩‍👧"), 1670), (short, .string("e\u{301}e\u{301}e\u{301}e\u{301}"), nil),
            (lower, .string("abc"), nil), (lower, .string("abc1"), 1680),
            (lower, .string(""), 1680),
            (attribute(.string, optional: true) { $0.minimumLength = 2 }, .null, nil),
            (attribute(.date) { $0.derivationExpression = "now()" }, .null, nil),
            (AttributeDescription("x", .boolean), .boolean(true), nil),
            (AttributeDescription("x", .binary), .binary(Data()), nil),
            (AttributeDescription("x", .transformable), .binary(Data([1])), nil),
        ] as [(AttributeDescription, Value, Int?)])
    func values(_ attribute: AttributeDescription, value: Value, code: Int?) throws {
        let failure = try Self.column(attribute).validate(value)
        #expect(failure?.code.rawValue == code, "\(String(describing: failure))")
        #expect(attribute.validate(value)?.code.rawValue == code)
        if let failure {
            #expect(failure.key == "x")
            #expect(failure.value == value)
            #expect(!failure.message.isEmpty)
            #expect(failure.description.contains("(\(failure.code.rawValue))"))
        }
    }

    @Test("A date that is no moment is refused, and its text does not trap")
    func noMoment() throws {
        // Not an argument above: the test library prints arguments, and Foundation's text traps.
        let column = try Self.column(AttributeDescription("x", .date))
        for seconds in [Double.nan, .infinity, -.infinity] {
            let failure = column.validate(Self.date(seconds))
            #expect(failure?.code.rawValue == 1650)
            #expect(failure?.fullDescription.contains("since 2001") == true)
        }
    }

    @Test("A pattern of a real app accepts addresses only")
    func realPattern() throws {
        let column = try Self.column(
            Self.attribute(.string) {
                $0.regularExpression = "\\A[^@]+@([^@\\.]+\\.)+[^@\\.]+\\z"
            })
        #expect(column.validate(.string("me@example.com")) == nil)
        #expect(column.validate(.string("me@example"))?.code == .stringPatternMismatch)
    }

    @Test("One pattern is used by many tasks at once")
    func concurrent() async throws {
        let column = try Self.column(Self.lower)
        await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<200).count { index in
                        column.validate(.string(index % 2 == 0 ? "abc" : "\(task)")) == nil
                    }
                }
            }
            for await good in group { #expect(good == 100) }
        }
    }

    @Test("A to-one relationship that is mandatory must not be nil")
    func relationship() throws {
        var owned = RelationshipDescription("owner", to: "Thing")
        owned.isOptional = false
        let free = RelationshipDescription("other", to: "Thing")
        let entity = EntityDescription("Thing", relationships: [owned, free])
        let columns = try Schema(ManagedObjectModel(entities: [entity])).entities[0].columns
        let id = ObjectID(store: UUID(), hierarchy: 0, reference: 1)
        #expect(columns[0].validate(.null)?.code == .missingMandatoryProperty)
        #expect(columns[0].validate(.objectID(id)) == nil)
        #expect(columns[0].validate(.integer(1))?.code == .generic)
        #expect(columns[1].validate(.null) == nil)
    }

    @Test("A transient attribute is judged by its attribute, an element by its column")
    func transientAndComposite() throws {
        var temporary = Self.lower
        temporary.isTransient = true
        var free = AttributeDescription("any", .undefined, optional: true)
        free.isTransient = true
        var place = AttributeDescription("place", .composite, optional: false)
        place.elements = [Self.ratio, AttributeDescription("name", .string, optional: true)]
        let entity = EntityDescription("Thing", attributes: [temporary, free, place])
        let schema = try Schema(ManagedObjectModel(entities: [entity])).entities[0]
        #expect(schema.attributes[0].columns.isEmpty)
        #expect(schema.attributes[0].validate(.string("A"))?.code == .stringPatternMismatch)
        #expect(schema.attributes[0].validate(.null)?.code == .missingMandatoryProperty)
        #expect(schema.attributes[1].validate(.integer(5)) == nil)
        #expect(schema.columns.map(\.name) == ["place.x", "place.name"])
        #expect(schema.columns[0].validate(.double(2))?.key == "place.x")
        #expect(schema.columns[0].validate(.null)?.code == .missingMandatoryProperty)
        #expect(schema.columns[1].validate(.null) == nil)
    }

    @Test("A pattern that does not compile makes no schema, and matches nothing by itself")
    func brokenPattern() {
        let broken = Self.attribute(.string) { $0.regularExpression = "(a" }
        let error = #expect(throws: ModelError.self) { _ = try Self.column(broken) }
        #expect(error?.element == "Thing.x")
        #expect(error?.code == .invalidValue)
        #expect(broken.validate(.string("a"))?.code == .stringPatternMismatch)
        #expect(broken.validate(.null)?.code == .missingMandatoryProperty)
    }
}
