// Lists with something changed: records, or an error that names the list; never a trap, a hang, or memory
// without a limit. What is read does not depend on the size of the window.

import CairnModel
import CairnTestSupport
import Testing

@testable import CairnInspection

@Suite("Fuzzed lists")
struct ListFuzzTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let ending: String
        let text: String
        let words: String

        var testDescription: String { name }
    }

    private static let jsonWords = """
        { } [ ] , : " null true false -1 1e999 1e-999 0.1e+5 -0 01 99999999999999999999 \\u0000 \\ud83d \\udeeb \\u \\
        \u{1} \u{0} é 🛫 "a" "" "features" "type" "geometry" "properties" "id" // NaN [[[[[[[[[[[[[[[[ {"a":{"a":{"a":
        """

    static let samples = [
        Sample(
            name: "CSV", ending: "csv",
            text: """
                code,name,"long, name",size,date
                LOWW,Wien,"says ""hello"\",-12.5e3,2024-02-29T12:00:00Z
                RJTT,羽田,,9223372036854775808,

                "multi
                line",x,true,0.1,1e400
                """, words: ", \" \"\" \r \n \r\n \u{feff} ; \t é 🛫 \u{0} code name \",\" ,,,,,,"),
        Sample(
            name: "JSON array", ending: "json",
            text:
                #"[{"a":1,"b":"zwei","c":{"x":[1,{"y":null}]}}, {"b":null,"a":true,"d":-1.5e-7},{}]"#,
            words: jsonWords),
        Sample(
            name: "JSON lines", ending: "jsonl",
            text:
                "{\"a\":1,\"b\":\"\\u00e9\\n\"}\n\n{\"a\":2.50,\"c\":[1,2]}\r\n{\"a\":12345678901234567890}",
            words: jsonWords + " \n \r\n"),
        Sample(
            name: "JSON member", ending: "",
            text:
                #"{"count":1,"bounds":[1,2],"items":[{"a":1,"t":"x"},{"a":null}],"more":{"x":[{}]}}"#,
            words: jsonWords + #" "items":[{"a":1}]"#),
        Sample(
            name: "GeoJSON", ending: "geojson",
            text: """
                {"type":"FeatureCollection","metadata":{"count":2},"features":[{"type":"Feature","id":"ak1",\
                "properties":{"mag":4.5,"place":"10 km N","time":1397520000000,"tsunami":null},\
                "geometry":{"type":"Point","coordinates":[-151.5,61.25,35]}},{"type":"Feature","properties":null,\
                "geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}},\
                {"type":"Feature","geometry":null,"properties":{"mag":1}}]}
                """, words: jsonWords + #" "coordinates":[1,2] "Point" "MultiPoint" "Feature""#),
    ]

    private static let types: [AttributeType] = [
        .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date,
        .binary, .uuid, .uri,
    ]

    /// All that happens to a list before its rows are stored, as text.
    private func read(_ source: ListSource, capacity: Int?) throws(ListError) -> String {
        let form = try ListForm(of: source)
        let reader: any ListReader
        let fields = FieldTable(plan: TakeAll())
        switch (form, capacity) {
        case (.csv, let capacity?):
            reader = CSVListReader(source.open(), fields: fields, capacity: capacity)
        case (.array, let capacity?):
            reader = try JSONListReader(
                source.open(), layout: .array, fields: fields, capacity: capacity)
        case (.lines, let capacity?):
            reader = try JSONListReader(
                source.open(), layout: .lines, fields: fields, capacity: capacity)
        default: reader = try source.makeReader(form, plan: TakeAll())
        }
        var record = ListRecord()
        var text = form.title
        while try reader.next(&record) {
            for cell in record.cells {
                text += "\n\(reader.fields.fields[cell.field].name)=\(record.text(cell))"
                for type in Self.types { _ = record.value(of: cell, as: type, keepsNested: true) }
            }
        }
        return text
    }

    @Test("A changed list gives records or an error that names it", arguments: samples)
    func changed(_ sample: Sample) throws {
        let words = sample.words.split(separator: " ").map { Array($0.utf8) }
        var read = 0
        var refused = 0
        try Rounds.run("fuzzed \(sample.name)", everyDay: 400, whole: 500_000) { random in
            var bytes = Array(sample.text.utf8)
            random.mutate(&bytes, words: words)
            let ending = random.oneIn(10) ? "" : sample.ending
            let source = ListSource(bytes, name: "list", ending: ending)
            var results: [Result<String, ListError>] = []
            for capacity in [nil, Int.random(in: 1...40, using: &random)] {
                do throws(ListError) {
                    results.append(.success(try self.read(source, capacity: capacity)))
                } catch {
                    results.append(.failure(error))
                }
            }
            switch (results[0], results[1]) {
            case (.success(let one), .success(let two)):
                read += 1
                if one != two {
                    Issue.record("seed \(random.seed): the window changes what is read")
                }
            case (.failure(let one), .failure(let two)):
                refused += 1
                if "\(one.naming(source))" != "\(two.naming(source))" {
                    Issue.record("seed \(random.seed): the window changes \(one) to \(two)")
                }
            default: Issue.record("seed \(random.seed): the window changes whether it is a list")
            }
            if random.oneIn(4), let form = try? ListForm(of: source) {
                do {
                    let mapping = try FieldMapping([])
                    let model = try ModelInference.model(
                        of: source, form: form, entity: "Thing", unique: [], mapping: mapping)
                    _ = try Schema(model)
                } catch is ListError {
                    // Refused, with the list's name.
                } catch is ModelError {
                    // Names that are none, or that meet.
                }
            }
        }
        #expect(read > 0 && refused > 0)
    }
}
