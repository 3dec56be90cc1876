import CairnFormat
import Foundation
import Testing

@Suite("Schema frames")
struct SchemaTests {
    static let entities = [
        SchemaDocumentEntity(
            id: 1, name: "Place", tree: 1, abstract: true,
            properties: [.init(id: 1, name: "name", kind: .string, optional: true)]),
        SchemaDocumentEntity(
            id: 2, name: "Airport", tree: 1, parent: 1,
            properties: [
                .init(id: 1, name: "name", kind: .string, optional: true),
                .init(id: 2, name: "icao", kind: .string, optional: false),
                .init(id: 3, name: "country", kind: .reference, optional: true, target: 3),
            ], constraints: [["icao"]]),
        SchemaDocumentEntity(
            id: 3, name: "Country", tree: 3,
            properties: [.init(id: 1, name: "area", kind: .decimal, optional: true)]),
        SchemaDocumentEntity(
            id: 4, name: "Airport.partners", tree: 4, hidden: true,
            properties: [
                .init(id: 1, name: "source", kind: .reference, optional: false, target: 1),
                .init(id: 2, name: "destination", kind: .reference, optional: false, target: 1),
            ]),
    ]

    static func document(_ entities: [SchemaDocumentEntity]) -> SchemaDocument<IgnoredModel> {
        SchemaDocument(
            version: 1, entities: entities,
            relationships: [
                .init(entity: 3, name: "airports", form: .inverse, through: 2, property: 3),
                .init(entity: 2, name: "partners", form: .pairs, through: 4, property: 1),
            ], model: IgnoredModel())
    }

    @Test("F-701: a document comes back through JSON, and unknown keys are passed over")
    func roundTrip() throws {
        let document = Self.document(Self.entities)
        try document.check()
        let data = try JSONEncoder().encode(document)
        let back = try JSONDecoder().decode(SchemaDocument<IgnoredModel>.self, from: data)
        #expect(back.entities == document.entities)
        #expect(back.relationships == document.relationships)
        let text = """
            {"later":[1],"format":1,"version":3,"entities":[{"id":1,"name":"E","tree":1,"abstract":false,\
            "hidden":false,"properties":[],"constraints":[],"more":{}}],"relationships":[],"model":{"x":[1,{}]}}
            """
        let other = try JSONDecoder().decode(
            SchemaDocument<IgnoredModel>.self, from: Data(text.utf8))
        #expect(other.version == 3)
        #expect(other.entities[0].parent == nil)
    }

    struct Change: Sendable {
        let rule: String
        let change: @Sendable (inout [SchemaDocumentEntity]) -> Void
    }

    static let changes: [Change] = [
        Change(rule: "F-703") { $0[1].id = 1 },
        Change(rule: "F-703") { $0[1].id = 0 },
        Change(rule: "F-703") { $0[2].name = "Airport" },
        Change(rule: "F-703") { $0[1].parent = 9 },
        Change(rule: "F-703") { $0[1].parent = 3 },
        Change(rule: "F-703") { $0[0].parent = 2 },
        Change(rule: "F-704") { $0[1].properties[1].id = 1 },
        Change(rule: "F-704") { $0[1].properties[1].name = "name" },
        Change(rule: "F-704") { $0[1].properties[1].id = 0xffff_ff00 },
        Change(rule: "F-704") { $0[1].properties[0].kind = .uri },
        Change(rule: "F-705") { $0[1].properties[1].column = "integer" },
        Change(rule: "F-706") { $0[1].properties[2].target = nil },
        Change(rule: "F-706") { $0[1].properties[2].target = 2 },
        Change(rule: "F-707") { $0[3].properties[1].name = "other" },
        Change(rule: "F-708") { $0[1].constraints = [["iata"]] },
    ]

    @Test("A document that contradicts itself is refused", arguments: changes.indices)
    func contradictions(_ index: Int) {
        var entities = Self.entities
        Self.changes[index].change(&entities)
        let error = #expect(throws: FormatError.self) { try Self.document(entities).check() }
        #expect(error?.rule == Self.changes[index].rule)
    }

    @Test("F-702: another format version is refused")
    func version() {
        var document = Self.document(Self.entities)
        for format in [0, FormatVersion.current + 1] {
            document.format = format
            #expect(throws: FormatError.self) { try document.check() }
        }
        document = Self.document(Self.entities)
        document.version = 0
        #expect(throws: FormatError.self) { try document.check() }
    }

    @Test("Every kind of property has the column that chapter 50 says")
    func kinds() {
        let columns = PropertyKind.allCases.map { "\($0.rawValue) \($0.column.name)" }
        #expect(
            columns == [
                "integer16 integer", "integer32 integer", "integer64 integer", "decimal bytes",
                "double double", "float float", "string bytes", "boolean integer", "date double",
                "binary bytes", "uuid fixed16", "uri bytes", "transformable bytes",
                "reference integer", "order integer",
            ])
    }
}
