// A list on its way into an entity: names, conversions and what is wrong with them.

import CairnModel
import CairnStore
import Testing

@testable import CairnInspection

@Suite("Importing a list into an entity")
struct ListImportTests {
    @Test("fields find their attributes, renamed or dropped, and numbers are converted")
    func mapped() throws {
        let schema = try schema(
            .init("number", .integer64), .init("name", .string), .init("rate", .double))
        let rows = try imported(
            list(#"[{"no":"12","name":"x","rate":3,"junk":[1]},{"no":10.0,"name":null}]"#), schema,
            mapping: ["no=number,junk="])
        #expect(
            rows == [
                ["number": .integer(12), "name": .string("x"), "rate": .double(3)],
                ["number": .integer(10), "name": .null, "rate": .null],
            ])
    }

    @Test("objects fill composite attributes, and null empties them")
    func composite() throws {
        var place = AttributeDescription("place", .composite)
        place.elements = [.init("lat", .double), .init("lon", .double)]
        let schema = try schema(.init("a", .integer64), place)
        let rows = try imported(
            list(#"[{"a":1,"place":{"lat":1.5,"lon":2}},{"a":2,"place":null},{"a":3}]"#), schema)
        #expect(rows.map { $0["place.lat"] } == [.double(1.5), .null, .null])
        #expect(rows.map { $0["place.lon"] } == [.double(2), .null, .null])
        let other = try #require(try problems(list(#"[{"place":{"lat":1,"depth":3}}]"#), schema))
        #expect(other.unknown.map(\.field) == ["place.depth"])
        let single = try #require(try problems(list(#"[{"place":5}]"#), schema))
        #expect(single.misfits.map(\.field) == ["place"])
    }

    @Test("all unknown fields are named, with the option that drops them, and nothing is stored")
    func unknown() throws {
        let schema = try schema(.init("a", .integer64))
        let error = try #require(
            try problems(list(#"[{"a":1},{"a":2,"x":1},{"y":null,"a":3}]"#), schema))
        #expect(error.unknown.map(\.field) == ["x", "y"])
        #expect(error.description.contains("--map 'x=,y='"))
        let header = try #require(try problems(list("a,z\n"), schema))
        #expect(header.unknown.map(\.field) == ["z"])
    }

    @Test(
        "every field whose values do not fit is named once, with the first place and how many more")
    func misfits() throws {
        let schema = try schema(.init("a", .integer64), .init("b", .double))
        let error = try #require(
            try problems(list("a,b\n1,2\nx,3\n1.5,y\n2,\n"), schema))
        #expect(error.misfits.map(\.field) == ["a", "b"])
        #expect(error.misfits.map(\.record) == [2, 3])
        #expect(error.misfits.map(\.line) == [3, 4])
        #expect(error.misfits.map(\.count) == [2, 1])
        #expect(
            error.description.contains(
                "list:3: record 2, field a: “x” does not fit Item.a of type integer64: it is not a number (and in 1 more record)"
            ))
    }

    @Test(
        "transient attributes, unknown names and doubled targets are refused with the reason, relationships are not"
    )
    func refused() throws {
        var transient = AttributeDescription("t", .string)
        transient.isTransient = true
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Item", attributes: [.init("a", .integer64), transient],
                relationships: [RelationshipDescription("r", to: "Item")])
        ])
        let error = try #require(
            try problems(
                list(#"[{"a":1,"b":2,"t":"x","r":1,"c":1}]"#), Schema(model), mapping: ["b=a,c=d"]))
        let reasons = error.unknown.map { "\($0.field): \($0.reason)" }
        #expect(reasons.count == 3)
        #expect(reasons[0] == "b: a already takes its value from a")
        #expect(reasons[1].contains("transient"))
        #expect(reasons.last == "c: Item has no attribute d")
    }

    @Test("a broken list fails with its place, whatever was read before")
    func broken() throws {
        let schema = try schema(.init("a", .integer64))
        #expect(throws: ListError.self) {
            try imported(list(#"[{"a":1},{"a":2}"#), schema)
        }
    }

    @Test(
        "a mapping is read, or refused with the reason",
        arguments: [
            ("a", "--map: “a” has no =: write from=to"), ("=b", "“=b” has no name"),
            ("a=b,a=c", "a occurs twice"), ("a=b,c", "“c” has no ="),
        ])
    func mapping(text: String, message: String) {
        let problem = #expect(throws: FieldPairs.Problem.self) { try FieldMapping([text]) }
        #expect(problem?.description.contains(message) == true)
    }

    @Test("a field with commas and signs of equality in its name is dropped as the error says")
    func oddNames() throws {
        let schema = try schema(.init("a", .integer64))
        let text = "a,\"Last, first\",x=1\n1,2,3\n"
        let error = try #require(try problems(list(text), schema))
        #expect(error.description.hasSuffix("--map 'Last, first=,x=1='"))
        let rows = try imported(list(text), schema, mapping: ["Last, first=,x=1="])
        #expect(rows.map { $0["a"] } == [.integer(1)])
    }

    @Test("mapped fields that no record has are told")
    func unused() throws {
        let schema = try schema(.init("a", .integer64))
        let source = list("a\n1\n")
        let reading = try ListImport(
            source, form: .csv, entity: schema.entities[0], in: schema,
            mapping: try FieldMapping(["b=a", "c="]))
        let batch = ColumnBatch(schema.entities[0])
        while try !reading.fill(RowWriter(batch)) { batch.rows += 1 }
        #expect(reading.unusedMappings == ["b", "c"])
        #expect(reading.recordCount == 1)
    }

    @Test("a value of a key is not rounded; what is no key takes the nearest number")
    func roundedKeys() throws {
        for (type, text) in [
            (AttributeType.double, "1234567890123456.78"), (.float, "0.123456789"),
            (.date, "2024-05-01T12:00:00.123456789Z"),
        ] {
            for given in [list("a\n\(text)\n"), list(#"[{"a":"\#(text)"}]"#)] {
                let plain = try schema(.init("a", type))
                #expect(try imported(given, plain).count == 1)
                let keyed = try schema(.init("a", type), .init("b", .string), unique: [["b", "a"]])
                let error = try #require(try problems(given, keyed), "\(text)")
                #expect(error.misfits.map(\.text) == [text])
                #expect(error.misfits[0].reason.contains("a key must not be"))
            }
        }
        let exact = list("a,b,c\n0.1,0.1,2024-05-01T12:00:00.123456Z\n-0.0,16777216,2024-05-01\n")
        let schema = try schema(
            .init("a", .double), .init("b", .float), .init("c", .date),
            unique: [["a"], ["b"], ["c"]])
        #expect(try imported(exact, schema).count == 2)
    }
}
