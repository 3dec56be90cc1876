// The model that is made from a list.

import CairnModel
import Testing

@testable import CairnInspection

@Suite("A model inferred from a list")
struct ModelInferenceTests {
    private func attribute(_ text: String) throws -> AttributeDescription {
        let source = list(text)
        let model = try ModelInference.model(
            of: source, form: try ListForm(of: source), entity: "Item", unique: [],
            mapping: FieldMapping())
        return try #require(model.entities[0].attributes.first)
    }

    @Test(
        "JSON values give the narrowest type that holds them all",
        arguments: [
            (["true", "false", "null"], .boolean), (["1", "-5"], .integer64),
            (["1", "9223372036854775807"], .integer64), (["1", "1.5"], .double),
            (["1.0"], .double), (["1e3"], .double), (["-0"], .double),
            (["9007199254740993", "0.5"], .decimal), (["18446744073709551615"], .decimal),
            (["1e400"], .string), (["1", "\"1\""], .string), (["\"x\""], .string),
            (["true", "1"], .string), (["null"], .string), (["{\"a\":1}"], .string),
            (["\"2024-05-01\""], .string), (["[1]", "1"], .string),
        ] as [([String], AttributeType)])
    func json(values: [String], type: AttributeType) throws {
        let rows = values.map { "{\"a\":\($0)}" }.joined(separator: ",")
        #expect(try attribute("[\(rows)]").type == type)
    }

    @Test(
        "CSV cells are numbers only if they are written as numbers",
        arguments: [
            (["1", "-5", ""], .integer64), (["1", "2.50"], .double), (["007", "1"], .string),
            (["+1"], .string), ([" 1"], .string), (["1E5"], .string), (["1e+16"], .double),
            (["1.5e3"], .double), (["true"], .string), (["2024-05-01"], .string),
            (["99999999999999999999"], .decimal), (["NaN", "1.5"], .string), (["", ""], .string),
        ] as [([String], AttributeType)])
    func csv(cells: [String], type: AttributeType) throws {
        #expect(try attribute("a,b\n" + cells.map { "\($0),x\n" }.joined()).type == type)
    }

    @Test("attributes are optional, but for keys that every record has")
    func optional() throws {
        let source = list(#"[{"a":1,"b":1,"c":1},{"a":2,"b":2,"c":null}]"#)
        let model = try ModelInference.model(
            of: source, form: .array, entity: "Item", unique: [["a"], ["c"]],
            mapping: FieldMapping())
        let entity = model.entities[0]
        #expect(entity.attributes.map(\.name) == ["a", "b", "c"])
        #expect(entity.attributes.map(\.isOptional) == [false, true, true])
        #expect(entity.uniquenessConstraints == [["a"], ["c"]])
        _ = try Schema(model)
    }

    @Test("fields are renamed and dropped before the model is made")
    func mapping() throws {
        let source = list("x,y,z\n1,2,3\n")
        let model = try ModelInference.model(
            of: source, form: .csv, entity: "Item", unique: [["a"]],
            mapping: try FieldMapping(["x=a,z="]))
        #expect(model.entities[0].attributes.map(\.name) == ["a", "y"])
    }

    @Test("a property of GeoJSON may be named with or without its prefix")
    func features() throws {
        let source = list(
            #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"code":"a","m":1},"geometry":null}]}"#
        )
        let model = try ModelInference.model(
            of: source, form: try ListForm(of: source), entity: "Quake",
            unique: [["properties.code"]], mapping: try FieldMapping(["properties.m=magnitude"]))
        #expect(model.entities[0].uniquenessConstraints == [["code"]])
        #expect(model.entities[0].attributes.map(\.name) == ["code", "magnitude"])
        let twice = #expect(throws: ListError.self) {
            try ModelInference.model(
                of: source, form: try ListForm(of: source), entity: "Quake", unique: [],
                mapping: try FieldMapping(["properties.m=a", "m=b"]))
        }
        #expect(twice?.description.contains("m is properties.m") == true)
    }

    @Test("what was kept as JSON text is taken again under the stored model")
    func nestedAgain() throws {
        let source = list(#"[{"a":{"x":[1, 2]}},{"a":null}]"#)
        let model = try ModelInference.model(
            of: source, form: .array, entity: "Item", unique: [], mapping: FieldMapping())
        let rows = try imported(source, Schema(model))
        #expect(rows.map { $0["a"] } == [.string(#"{"x":[1,2]}"#), .null])
    }

    @Test("a key that the list lacks, an empty list and two fields of one name are refused")
    func refused() throws {
        func message(_ text: String, _ unique: [String], _ mapping: [String]) throws -> String {
            let source = list(text)
            do {
                _ = try ModelInference.model(
                    of: source, form: try ListForm(of: source), entity: "Item", unique: [unique],
                    mapping: try FieldMapping(mapping))
                return ""
            } catch let error as ListError {
                return error.description
            }
        }
        #expect(
            try message("a,b\n1,2\n", ["c"], []).contains(
                "c, which the list does not have. It has: a, b"))
        #expect(try message("a,b\n", ["a"], []).contains("empty"))
        #expect(try message("a,b\n1,2\n", ["a"], ["b=a"]).contains("two fields would be called a"))
    }
}
