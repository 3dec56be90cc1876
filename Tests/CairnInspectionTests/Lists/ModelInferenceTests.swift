// The model that is made from a list.

import CairnModel
import Foundation
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
            (["\"2024-05-01\""], .date), (["[1]", "1"], .string),
            (["\"yes\"", "\"NO\""], .boolean),
            (["true", "\"false\""], .boolean), (["\"2024-05-01\"", "1"], .string),
            (["\"2024-05-01\"", "true"], .string), (["[1]", "true"], .string),
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
            (["1.5e3"], .double), (["true"], .boolean), (["2024-05-01"], .date),
            (["true", "False", "", "yes", "NO"], .boolean), (["yes", "No"], .boolean),
            (["yes", "Yes"], .string), (["NO", "NO"], .string), (["NO", "SE"], .string),
            (["true", "1"], .string), (["yes", "no", "0"], .string), (["yes", "no", "y"], .string),
            (["true", "2024-05-01"], .string), ([" true"], .string), (["nO\u{E}"], .string),
            (["2024-05-01", "2024-05-01T12:30:00.25+02:00", "2024-05-01 12:30"], .date),
            (["2024-05-01T00:00:00.123456Z"], .date), (["2024-02-30"], .string),
            (["2024-05-01T00:00:00.123456789Z"], .string), (["2024-05-01", "2024"], .string),
            (["2024-05-01", "soon"], .string), (["2024-05"], .string), (["20240501"], .integer64),
            (["99999999999999999999"], .decimal), (["NaN", "1.5"], .string), (["", ""], .string),
        ] as [([String], AttributeType)])
    func csv(cells: [String], type: AttributeType) throws {
        #expect(try attribute("a,b\n" + cells.map { "\($0),x\n" }.joined()).type == type)
    }

    @Test(
        "a number that a double would round makes a decimal, or a string beyond 38 digits",
        arguments: [
            (["1234567890123456.78", "1234567890123456.79"], .decimal),
            (["1234567890123456.8"], .double), (["1234567890123456.7"], .decimal),
            (["0.1234567890123456789"], .decimal), (["0.30000000000000004"], .double),
            (["0.1000000000000000000000"], .double), (["0.10000000000000001"], .decimal),
            (["-0.10000000000000001"], .decimal), (["1.5", "1.00000000000000000001"], .decimal),
            (["1.2345678901234567e+30"], .double), (["1.23456789012345678e+30"], .decimal),
            (["1.23456789012345678e-30"], .decimal), (["1.23456789012345678e-200"], .string),
            (["2.5e-310", "1.0"], .double), (["2.123456789e-320"], .string),
            (["18446744073709551616"], .double), (["18446744073709551617"], .decimal),
            (["1.8446744073709552e+19"], .double),
            (["9007199254740993.0"], .decimal), (["9007199254740992.0"], .double),
            (["9223372036854774784", "0.5"], .double),
            (["0.1000000000000000055511151231257827021181583404541015625"], .string),
            (["-0", "0.5"], .double), (["-0", "0.10000000000000001"], .string),
            (["0.10000000000000001", "-0.00"], .string), (["-0", "9007199254740993"], .string),
            (["1000000000000000000000000"], .decimal), (["100000000000000000000"], .double),
            (["0.5", "1234567890123450000"], .decimal), (["1234567890123450000.0"], .decimal),
            (["-1234567890123450000.5"], .decimal), (["123456789012345.5"], .double),
        ] as [([String], AttributeType)])
    func rounding(values: [String], type: AttributeType) throws {
        let rows = values.map { "{\"a\":\($0)}" }.joined(separator: ",")
        #expect(try attribute("[\(rows)]").type == type)
        #expect(try attribute("a,b\n" + values.map { "\($0),x\n" }.joined()).type == type)
        // The store takes the list that its model was read off.
        let source = list("[\(rows)]")
        let model = try ModelInference.model(
            of: source, form: .array, entity: "Item", unique: [], mapping: FieldMapping())
        #expect(try imported(source, Schema(model)).count == values.count)
    }

    @Test(
        "a key of CSV is no number if two of its texts could be one: 1.1 and 1.10 are two versions",
        arguments: [
            (["1.1", "1.2", "1.10"], .string), (["1.0"], .string), (["1.5e3"], .string),
            (["99999999999999999999.5", "1.50"], .string), (["1.1", "1.2"], .double),
            (["10", "20"], .integer64),
        ] as [([String], AttributeType)])
    func keys(cells: [String], type: AttributeType) throws {
        let source = list("a,b\n" + cells.map { "\($0),\($0)\n" }.joined())
        let model = try ModelInference.model(
            of: source, form: try ListForm(of: source), entity: "Item", unique: [["a"]],
            mapping: FieldMapping())
        let attributes = model.entities[0].attributes
        #expect(attributes[0].type == type)
        // What is no key is a number all the same.
        #expect(attributes[1].type != .string)
    }

    @Test(
        "a key is no date and no truth value if two of its texts could be one",
        arguments: [
            (["2024-05-01", "2024-05-02"], .date),
            (["2024-05-01", "2024-05-01T00:00:00Z"], .string),
            (["2024-05-01T12:00:00Z", "2024-05-01T12:00:01Z"], .date),
            (["2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00"], .string),
            (["2024-05-01T14:00:00+02:00", "2024-05-01T13:00:00+01:00"], .string),
            (["2024-05-01T12:00+02", "2024-05-01T10:00:00"], .string),
            (["2024-05-01T12:00:00", "2024-05-01 12:00:00"], .string),
            (["2024-05-01T12:00:00.5Z", "2024-05-01T12:00:00.50Z"], .string),
            (["2024-05-01T12:00:00.5Z", "2024-05-01T12:00:00.7Z"], .date),
            (["2024-05-01T12:00:00Z", "2024-05-01T12:00:00z"], .string),
            (["true", "false"], .boolean), (["True", "False"], .boolean),
            (["YES", "NO"], .boolean), (["true", "no"], .string), (["true", "TRUE"], .string),
            (["yes", "yEs", "no"], .string),
        ] as [([String], AttributeType)])
    func keysOfOneForm(cells: [String], type: AttributeType) throws {
        let rows = cells.map { "{\"a\":\"\($0)\",\"b\":\"\($0)\"}" }
        let texts = list("[\(rows.joined(separator: ","))]")
        for source in [list("a,b\n" + cells.map { "\($0),\($0)\n" }.joined()), texts] {
            let model = try ModelInference.model(
                of: source, form: try ListForm(of: source), entity: "Item", unique: [["a"]],
                mapping: FieldMapping())
            #expect(model.entities[0].attributes[0].type == type)
            #expect(model.entities[0].attributes[1].type != .string)
        }
    }

    @Test("JSON's own truth values and words are two forms of a key")
    func truthAndWords() throws {
        for (text, type) in [
            (#"[{"a":true},{"a":false}]"#, AttributeType.boolean),
            (#"[{"a":true},{"a":"true"}]"#, .string),
        ] {
            let model = try ModelInference.model(
                of: list(text), form: .array, entity: "Item", unique: [["a"]],
                mapping: FieldMapping())
            #expect(model.entities[0].attributes[0].type == type)
        }
    }

    @Test("a sample is of its records alone, and says what a key becomes")
    func sample() throws {
        func types(_ text: String, _ limit: Int, _ mapping: [String] = []) throws -> [String] {
            let source = list(text)
            let sample = try ModelInference.sample(
                of: source, form: try ListForm(of: source), unique: [["a"]],
                mapping: try FieldMapping(mapping), types: FieldTypes(), limit: limit)
            return sample.fields.map { "\($0.name) \($0.type.rawValue)" } + ["\(sample.isWhole)"]
        }
        let lines = "{\"a\":1}\n{\"a\":2,\"b\":3}\n"
        #expect(try types(lines, 1) == ["a integer64", "false"])
        #expect(try types(lines, 2) == ["a integer64", "b integer64", "true"])
        // What is broken behind the sample is none of it.
        #expect(try types(lines + "{\"a\"", 2) == ["a integer64", "b integer64", "false"])
        #expect(throws: ListError.self) { try types(lines + "{\"a\"", 3) }
        #expect(try types("a,b\n1.10,1.10\n", 5) == ["a string", "b double", "true"])
        let twice = #expect(throws: ListError.self) { try types("a,b\n1,2\n", 5, ["b=a"]) }
        #expect(twice?.message.contains("two fields would be named a") == true)
    }

    @Test("the 100,000th record counts like the first")
    func lastRecord() throws {
        let few = (1..<100_000).map { "\($0 % 1000).5" }
        for (last, type) in [
            ("1234567890123456.78", AttributeType.decimal), ("7.25", .double),
            ("1.23456789012345678e-200", .string),
        ] {
            let values = few + [last]
            #expect(try attribute("a\n" + values.map { "\($0)\n" }.joined()).type == type)
            let rows = values.map { "{\"a\":\($0)}\n" }.joined()
            #expect(try attribute(rows).type == type)
        }
    }

    @Test("numbers that were told apart when the model was made are told apart in the store")
    func keysOfDigits() throws {
        let texts = ["1234567890123456.78", "1234567890123456.79", "0.1", "2e-3"]
        let source = list("[" + texts.map { "{\"a\":\($0)}" }.joined(separator: ",") + "]")
        let model = try ModelInference.model(
            of: source, form: .array, entity: "Item", unique: [["a"]], mapping: FieldMapping())
        let values = try imported(source, Schema(model)).compactMap { $0["a"] }
        #expect(
            values == texts.map { .decimal(Decimal(string: $0) ?? .nan) }, "\(values)")
    }

    @Test("a type that is said takes the place of the one that the list gives")
    func types() throws {
        func model(_ types: [String], _ text: String = "code,delay,time,open\n1,2,2024-05-01,yes\n")
            throws -> [String]
        {
            let source = list(text)
            let model = try ModelInference.model(
                of: source, form: try ListForm(of: source), entity: "Item", unique: [["code"]],
                mapping: try FieldMapping(["time=when"]), types: try FieldTypes(types))
            return model.entities[0].attributes.map { "\($0.name) \($0.type.rawValue)" }
        }
        #expect(
            try model(["delay=int16,when=String", "code=text"]) == [
                "code string", "delay integer16", "when string", "open string",
            ])
        #expect(try model([]) == ["code integer64", "delay integer64", "when date", "open string"])
        #expect(
            try model(["open=bool"]) == [
                "code integer64", "delay integer64", "when date", "open boolean",
            ])
        let missing = #expect(throws: ListError.self) { try model(["time=date"]) }
        #expect(missing?.message.contains("time, which is not in the list") == true)
        #expect(missing?.message.contains("code, delay, when, open") == true)
        for (text, message) in [
            ("delay", "write attribute=type"), ("=int", "no name"),
            ("a=word", "The types are: boolean"),
            ("a=composite", "not a type for lists"), ("a=int,a=date", "twice"),
            ("a=", "“” is not a type"),
        ] {
            let problem = #expect(throws: FieldPairs.Problem.self) { try FieldTypes([text]) }
            #expect(problem?.description.contains(message) == true, "\(text)")
        }
    }

    @Test("values that do not fit a type that was said are refused when the list is stored")
    func wrongType() throws {
        let source = list("a,b\n1,x\n")
        let model = try ModelInference.model(
            of: source, form: .csv, entity: "Item", unique: [], mapping: FieldMapping(),
            types: try FieldTypes(["b=int32"]))
        let error = try #require(try problems(source, Schema(model)))
        #expect(error.misfits.map(\.field) == ["b"])
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
                "c, which is not in the list. It has: a, b"))
        #expect(try message("a,b\n", ["a"], []).contains("empty"))
        #expect(try message("a,b\n1,2\n", ["a"], ["b=a"]).contains("two fields would be named a"))
    }

    @Test(
        "a list of very many fields is looked at in a time that grows as they do",
        .timeLimit(.minutes(1)))
    func wide() throws {
        let names = (0..<100_000).map { "column\($0)" }
        let source = list(
            names.joined(separator: ",") + "\n" + names.map { _ in "1" }.joined(separator: ",")
                + "\n")
        let model = try ModelInference.model(
            of: source, form: .csv, entity: "Item", unique: [["column0"]],
            mapping: FieldMapping())
        #expect(model.entities[0].attributes.count == names.count)
        #expect(try Schema(model).entities[0].columnIndex(named: "column99999") == 99_999)
    }
}
