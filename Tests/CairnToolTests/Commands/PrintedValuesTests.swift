// What the tool prints of values goes back in, to the last bit.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("What is printed goes back in")
struct PrintedValuesTests {
    private static let columns: [(name: String, type: AttributeType)] = [
        ("bytes", .binary), ("date", .date), ("decimal", .decimal), ("double", .double),
        ("float", .float), ("integer", .integer64), ("truth", .boolean), ("uri", .uri),
        ("uuid", .uuid), ("words", .string),
    ]

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Thing",
            attributes: [AttributeDescription("code", .integer64)]
                + columns.map { AttributeDescription($0.name, $0.type) },
            uniquenessConstraints: [["code"]])
    ])

    private static func date(_ random: inout RandomSource) -> Date {
        let seconds: Double =
            switch Int.random(in: 0..<8, using: &random) {
            case 0: Double.random(in: -1e12...1e12, using: &random)
            case 1: Double.random(in: -1e-20...1e-20, using: &random)
            case 2: -0.0
            case 3: Double(Int64.random(in: -1 << 40...1 << 40, using: &random)) / 1000
            case 4: 1e300
            case 5: Double.random(in: -1...1, using: &random)
            default: Double.random(in: -1e9...1e9, using: &random)
            }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    private static func double(_ random: inout RandomSource) -> Double {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            [0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude]
                .randomElement(using: &random) ?? 0
        case 1: Double(Int64.random(in: .min ... .max, using: &random))
        case 2: Double.random(in: -1e23...1e23, using: &random)
        case 3: Double.random(in: -1...1, using: &random)
        default: Double(bitPattern: UInt64.random(in: .min ... .max, using: &random))
        }
    }

    private static func decimal(_ random: inout RandomSource) -> Decimal {
        let digits = (0..<Int.random(in: 1...38, using: &random)).map { _ in
            "\(Int.random(in: 0...9, using: &random))"
        }
        let sign = random.oneIn(2) ? "-" : ""
        return Decimal(
            string: "\(sign)\(digits.joined())e\(Int.random(in: -15...15, using: &random))") ?? 0
    }

    /// A row with a value of each kind.
    private static func row(_ code: Int64, _ random: inout RandomSource) -> [String: Any] {
        let float = Float(bitPattern: UInt32.random(in: .min ... .max, using: &random))
        let whole = Float(Int64.random(in: .min ... .max, using: &random))
        return [
            "code": code, "date": date(&random), "double": double(&random),
            "float": random.oneIn(2) ? float : whole, "decimal": decimal(&random),
            "integer": Int64.random(in: .min ... .max, using: &random),
            "bytes": Data(random.bytes(Int.random(in: 1...30, using: &random))),
            "truth": random.oneIn(2),
            "uri": URL(
                string: "https://example.org/\(random.next() % 100_000)?a=\(random.next() % 1000)#x"
            )!,
            "uuid": UUID(uuidString: UUID.random(&random))!,
            "words": ["plain", "é \"quoted\", and more", "007", "1e5", "true", "NaN"]
                .randomElement(using: &random) ?? "",
        ]
    }

    /// The values of all objects by their codes, as texts that tell all bits.
    private func values(_ path: String) throws -> [Int64: [String]] {
        var options = LogStoreOptions()
        options.isReadOnly = true
        let store = try LogStore.open(at: path, options: options)
        defer { try? store.close() }
        let entity = try #require(store.schema.entity(named: "Thing"))
        var fetch = StoreFetch(entity: entity.index)
        fetch.includesRows = true
        var result: [Int64: [String]] = [:]
        for row in try store.snapshot().fetch(fetch).rows {
            let values = entity.columns.indices.map {
                row.cells.value($0, of: entity, in: store.identity)
            }
            guard case .integer(let code) = values[0] else { continue }
            result[code] = values.map { value in
                switch value {
                case .date(let date): "\(date.timeIntervalSinceReferenceDate.bitPattern)"
                case .double(let number): number.isNaN ? "NaN" : "\(number.bitPattern)"
                case .float(let number): number.isNaN ? "NaN" : "\(number.bitPattern)"
                case .binary(let data): data.base64EncodedString()
                default: "\(value)"
                }
            }
        }
        return result
    }

    private func filled(_ random: inout RandomSource) throws -> Workplace {
        let work = try Workplace()
        let store = try LogStore.open(at: work.store, schema: try Schema(Self.model))
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Thing", objects: (0..<60).map { Self.row($0, &random) }))
        try store.close()
        return work
    }

    /// Imports a list into a second store of the same model, and compares the two.
    private func expectSame(_ work: borrowing Workplace, _ name: String, _ text: String) throws {
        let copy = work.folder.path("copy-\(name).cairn")
        try LogStore.open(at: copy, schema: try Schema(Self.model)).close()
        let run = run([
            "import", copy, try work.list(name, text), "--entity", "Thing", "--map", "objectID=",
        ])
        #expect(run.code == 0, "\(run.errors)")
        #expect(try values(copy) == values(work.store), "\(name)")
    }

    @Test("objects that are printed as JSON are imported to the last bit")
    func json() throws {
        var random = RandomSource()
        let work = try filled(&random)
        try expectSame(
            work, "list.json", cairn("query", work.store, "Thing", "--json").output)
    }

    @Test("cells of a table are imported as CSV to the last bit")
    func table() throws {
        var random = RandomSource()
        let work = try filled(&random)
        var cells: [[String]] = []
        for name in ["code"] + Self.columns.map(\.name) {
            let run = cairn("query", work.store, "Thing", "--columns", name, "--sort", "code")
            cells.append(
                run.lines.dropFirst(2).map { line in
                    let cell = line.drop { $0 == " " }
                    return "\"\(cell.replacing("\"", with: "\"\""))\""
                })
        }
        #expect(cells.allSatisfy { $0.count == 60 })
        let header = (["code"] + Self.columns.map(\.name)).joined(separator: ",")
        let rows = (0..<60).map { row in cells.map { $0[row] }.joined(separator: ",") }
        try expectSame(work, "list.csv", ([header] + rows).joined(separator: "\n") + "\n")
    }

    @Test("a date that is no whole millisecond is printed as a date, wherever the tool prints one")
    func dates() throws {
        let work = try Workplace()
        let store = try LogStore.open(at: work.store, schema: try Schema(Self.model))
        let moments = [0.123_456_789, 1e16, -0.0, 0.5].map(
            Date.init(timeIntervalSinceReferenceDate:))
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Thing",
                objects: moments.enumerated().map { ["code": $0, "date": $1] }))
        try store.close()
        let texts = [
            "2001-01-01T00:00:00.123456789Z", "1e+16 s since 2001", "-0.0 s since 2001",
            "2001-01-01T00:00:00.500Z",
        ]
        let rows = cairn(
            "query", work.store, "Thing", "--columns", "date", "--sort", "code", "--json")
        #expect(rows.lines == texts.map { "{\"date\":\"\($0)\"}" })
        let table = cairn("query", work.store, "Thing", "--columns", "date", "--sort", "code")
        #expect(table.lines.dropFirst(2) == texts[...])
        #expect(cairn("get", work.store, "Thing", "0").output.contains(texts[0]))
        let greatest = cairn(
            "query", work.store, "Thing", "--columns", "last=max:(date)", "--json")
        #expect(greatest.lines == ["{\"last\":\"1e+16 s since 2001\"}"])
        for text in texts {
            let found = cairn(
                "query", work.store, "Thing", "--where", "date == '\(text)'", "--columns", "date")
            #expect(found.lines.last == text, "\(found.errors)")
        }
    }

    @Test("a model is printed as JSON with numbers and dates that people read, and is read back")
    func model() throws {
        let work = try Workplace()
        var model = Self.model
        let values: [String: Value] = [
            "date": .date(Date(timeIntervalSinceReferenceDate: 0.123_456_789)),
            "double": .double(0.1), "float": .float(16_777_216),
        ]
        for index in model.entities[0].attributes.indices {
            guard let value = values[model.entities[0].attributes[index].name] else { continue }
            model.entities[0].attributes[index].defaultValue = value
            model.entities[0].attributes[index].minimumValue = value
        }
        try LogStore.open(at: work.store, schema: try Schema(model)).close()
        let text = cairn("model", work.store, "--json").output
        for part in [
            #"{"date":"2001-01-01T00:00:00.123456789Z"}"#, #"{"double":"0.1"}"#,
            #"{"float":"16777216.0"}"#,
        ] {
            #expect(text.contains("\"defaultValue\":\(part)"), "\(text)")
            #expect(text.contains("\"minimumValue\":\(part)"), "\(text)")
        }
        let file = try work.list("model.json", text)
        let compared = cairn("model", work.store, "--to", file)
        #expect(compared.lines.last?.hasPrefix("no changes") == true, "\(compared.output)")
        #expect(cairn("model", file, "--json").output == text)
        let bad = try work.list("bad.json", text.replacing("\"0.1\"", with: "\"a tenth\""))
        let refused = cairn("model", bad)
        #expect(refused.code == 1 && refused.errors.contains("a tenth is not a number"))
    }
}

extension UUID {
    fileprivate static func random(_ random: inout RandomSource) -> String {
        let digits = random.bytes(16).map { String(format: "%02X", $0) }
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }
            .joined(separator: "-")
    }
}
