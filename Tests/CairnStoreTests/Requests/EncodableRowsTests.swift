import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

private enum Kind: String, Encodable { case toy, food }

private struct Everything: Encodable {
    var small: Int16 = -5
    var medium: UInt16 = 60_000
    var large: UInt64 = 1 << 62
    var exact = Decimal(string: "9.99")!
    var real = 1.5
    var short: Float = 0.25
    var text: String? = "abc"
    var flag = true
    var moment = Date(timeIntervalSinceReferenceDate: 12.25)
    var bytes = Data([1, 2])
    var key = UUID()
    var link = URL(string: "https://example.org/")!
    var archive: [UInt8] = [3, 4]
}

@Suite("Rows that encode themselves")
struct EncodableRowsTests {
    private func fillRows<Row: Encodable & Sendable>(_ rows: [Row], _ entity: SchemaEntity) throws
        -> ColumnBatch
    {
        try fill(BatchInsertRequest(entityName: entity.name, encodable: rows), entity)
    }

    @Test("give values of every type to their columns")
    func everyType() throws {
        let entity = try Samples.entity(Samples.everyType)
        let row = Everything()
        let batch = try fillRows([row, row], entity)
        #expect(batch.rows == 2)
        let expected: [String: Value] = [
            "small": .integer(-5), "medium": .integer(60_000), "large": .integer(1 << 62),
            "exact": .decimal(row.exact), "real": .double(1.5), "short": .float(0.25),
            "text": .string("abc"), "flag": .boolean(true), "moment": .date(row.moment),
            "bytes": .binary(row.bytes), "key": .uuid(row.key), "link": .uri(row.link),
            "archive": .binary(Data([3, 4])),
        ]
        for index in 0..<2 {
            for (name, value) in expected {
                #expect(try Samples.value(batch, name, row: index) == value, "\(name)")
            }
        }
    }

    @Test("leave out what is an empty optional, and set nil by encodeNil")
    func optionals() throws {
        struct Row: Encodable {
            var a: String?
            var b: String? = "b"
            var c: String?
            var isExplicit: Bool
            enum CodingKeys: String, CodingKey { case a, b, c }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                if isExplicit {
                    try container.encodeNil(forKey: .a)
                    try container.encode(c, forKey: .c)
                } else {
                    try container.encodeIfPresent(a, forKey: .a)
                    try container.encodeIfPresent(b, forKey: .b)
                }
            }
        }
        let entity = try Samples.entity([
            .init("a", .string, default: .string("default")), .init("b", .string),
            .init("c", .string),
        ])
        let batch = try fillRows([Row(isExplicit: false), Row(isExplicit: true)], entity)
        #expect(try Samples.value(batch, "a", row: 0) == .string("default"))
        #expect(batch.columns[0].states[0] == ColumnBuffer.State.untouched)
        #expect(try Samples.value(batch, "a", row: 1) == .null)
        #expect(batch.columns[0].states[1] == ColumnBuffer.State.null)
        #expect(batch.columns[1].states[1] == ColumnBuffer.State.untouched)
        #expect(batch.columns[2].states[1] == ColumnBuffer.State.null)
    }

    @Test("find their columns whatever the order of the keys, row by row")
    func order() throws {
        var random = RandomSource()
        let names = (0..<30).map { "a\($0)" }
        let entity = try Samples.entity(names.map { .init($0, .integer64) })
        let rows = (0..<300).map { _ in
            Shuffled(
                pairs: names.shuffled(using: &random).prefix(Int.random(in: 0...30, using: &random))
                    .map { ($0, Int.random(in: 0...9, using: &random)) })
        }
        let batch = try fillRows(rows, entity)
        for (index, row) in rows.enumerated() {
            let given = Dictionary(uniqueKeysWithValues: row.pairs)
            for name in names {
                let value = given[name].map { Value.integer(Int64($0)) } ?? .null
                #expect(try Samples.value(batch, name, row: index) == value, "seed \(random.seed)")
            }
        }
    }

    private struct Shuffled: Encodable, Sendable {
        let pairs: [(String, Int)]
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (name, value) in pairs {
                try container.encode(value, forKey: Key(stringValue: name))
            }
        }
    }

    @Test("enums, dictionaries and superclasses work by themselves")
    func shapes() throws {
        class Base: Encodable {
            let text = "base"
        }
        final class Derived: Base, @unchecked Sendable {
            // Only constants.
            enum CodingKeys: String, CodingKey { case real }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(2.5, forKey: .real)
                try super.encode(to: container.superEncoder())
            }
        }
        struct WithKind: Encodable { var text = Kind.food }
        let entity = try Samples.entity(Samples.everyType)
        let kinds = try fillRows([WithKind()], entity)
        #expect(try Samples.value(kinds, "text", row: 0) == .string("food"))
        let dictionaries = try fillRows([["large": 5, "small": 6]], entity)
        #expect(try Samples.value(dictionaries, "small", row: 0) == .integer(6))
        let classes = try fillRows([Derived()], entity)
        #expect(try Samples.value(classes, "text", row: 0) == .string("base"))
        #expect(try Samples.value(classes, "real", row: 0) == .double(2.5))
    }

    @Test("nested objects give the leaves of a composite attribute")
    func composites() throws {
        struct Shade: Encodable { var depth = 0.5, label = "dark" }
        struct Color: Encodable { var primary = "red", count = 3, shade: Shade? = Shade() }
        struct Row: Encodable { var name = "n", color: Color? = Color() }
        let entity = try Samples.rich()
        let batch = try fillRows([Row(), Row(color: nil), Row(color: Color(shade: nil))], entity)
        #expect(try Samples.value(batch, "color.primary", row: 0) == .string("red"))
        #expect(try Samples.value(batch, "color.count", row: 0) == .integer(3))
        #expect(try Samples.value(batch, "color.shade.depth", row: 0) == .double(0.5))
        #expect(try Samples.value(batch, "color.shade.label", row: 0) == .string("dark"))
        #expect(try Samples.value(batch, "color.primary", row: 1) == .null)
        #expect(try Samples.value(batch, "color.shade.label", row: 2) == .null)
        #expect(try Samples.value(batch, "color.primary", row: 2) == .string("red"))
    }

    private struct Pair<Value: Encodable & Sendable>: Encodable, Sendable {
        let key: String
        let value: Value
        func encode(to encoder: any Encoder) throws {
            try [key: value].encode(to: encoder)
        }
    }

    private func failure<Value: Encodable & Sendable>(
        _ key: String, _ value: Value, in entity: SchemaEntity
    ) throws -> StoreError {
        var filler = try BatchInsertRequest(
            entityName: entity.name, encodable: [Pair(key: key, value: value)]
        ).makeFiller(for: entity)
        let batch = ColumnBatch(entity)
        let error = try storeError { _ = try filler.fill(batch, firstRow: 41) }
        #expect(error.code == .invalidRequest && error.context.row == 41)
        #expect(error.context.key == key && error.context.entity == entity.name)
        #expect(batch.rows == 0 && batch.columns.allSatisfy { $0.states[0] == 0 })
        return error
    }

    @Test("what does not fit is refused, naming row, key, and both types")
    func refused() throws {
        let entity = try Samples.entity(Samples.everyType)
        #expect(try failure("nothing", 5, in: entity).message.contains("no stored attribute"))
        let text = try failure("large", "5", in: entity)
        #expect(text.message.contains("String") && text.message.contains("integer64"))
        #expect(try failure("small", 32_768, in: entity).message.contains("integer16"))
        #expect(try failure("large", 0.5, in: entity).message.contains("Double"))
        #expect(try failure("large", UInt64.max, in: entity).message.contains("integer64"))
        #expect(try failure("flag", 2, in: entity).message.contains("boolean"))
        #expect(try failure("real", (1 << 53) + 1, in: entity).message.contains("double"))
        #expect(try failure("text", 5, in: entity).message.contains("Int"))
        #expect(try failure("text", ["a", "b"], in: entity).message.contains("list"))
        #expect(try failure("text", [String](), in: entity).message.contains("list"))
        #expect(try failure("text", ["a": 1], in: entity).message.contains("object"))
        #expect(try failure("text", [String: Int](), in: entity).message.contains("object"))
        #expect(try failure("key", Date(), in: entity).message.contains("Date"))
        #expect(try failure("moment", 5.0, in: entity).message.contains("date"))
        let rich = try Samples.rich()
        #expect(try failure("upper", "A", in: rich).message.contains("derived"))
        #expect(try failure("cache", "A", in: rich).message.contains("transient"))
        #expect(try failure("color", "red", in: rich).message.contains("composite"))
    }

    @Test("a row that is a list or a single value is refused")
    func notAnObject() throws {
        let entity = try Samples.entity(Samples.everyType)
        for request in [
            BatchInsertRequest(entityName: "Sample", encodable: [[1, 2]]),
            BatchInsertRequest(entityName: "Sample", encodable: [[Int]()]),
            BatchInsertRequest(entityName: "Sample", encodable: [5]),
            BatchInsertRequest(entityName: "Sample", encodable: ["text"]),
        ] {
            var filler = try request.makeFiller(for: entity)
            let error = try storeError { _ = try filler.fill(ColumnBatch(entity), firstRow: 0) }
            #expect(error.code == .invalidRequest && error.context.row == 0)
        }
    }

    @Test("a container that somebody kept gives an error later")
    func keptContainer() throws {
        struct Keeper: Encodable {
            let kept: Kept
            func encode(to encoder: any Encoder) throws {
                kept.container = encoder.singleValueContainer()
                kept.keyed = encoder.container(keyedBy: Key.self)
                try kept.keyed?.encode("a", forKey: .text)
            }
        }
        enum Key: String, CodingKey { case text, moment }
        final class Kept: @unchecked Sendable {
            // Used by this test's thread alone.
            var container: (any SingleValueEncodingContainer)?
            var keyed: KeyedEncodingContainer<Key>?
        }
        let entity = try Samples.entity(Samples.everyType)
        let kept = Kept()
        let batch = try fillRows([Keeper(kept: kept)], entity)
        #expect(batch.rows == 1)
        #expect(throws: StoreError.self) { try kept.keyed?.encode("b", forKey: .text) }
        #expect(throws: StoreError.self) { try kept.keyed?.encodeNil(forKey: .moment) }
        #expect(throws: StoreError.self) { try kept.container?.encode(["text": "b"]) }
        #expect(try Samples.value(batch, "text", row: 0) == .string("a"))
    }

    @Test("numbers convert if that is exact")
    func conversions() throws {
        struct Row: Encodable {
            var large = 5.0
            var real = 7
            var flag = 1
            var exact = 0.1
            var small = true
            var short = 0.1
        }
        let entity = try Samples.entity(Samples.everyType)
        let batch = try fillRows([Row()], entity)
        #expect(try Samples.value(batch, "large", row: 0) == .integer(5))
        #expect(try Samples.value(batch, "real", row: 0) == .double(7))
        #expect(try Samples.value(batch, "flag", row: 0) == .boolean(true))
        #expect(try Samples.value(batch, "exact", row: 0) == .decimal(Decimal(string: "0.1")!))
        #expect(try Samples.value(batch, "small", row: 0) == .integer(1))
        #expect(try Samples.value(batch, "short", row: 0) == .float(0.1))
    }

    @Test("the same request can be filled twice")
    func twice() throws {
        let entity = try Samples.entity(Samples.everyType)
        let request = BatchInsertRequest(
            entityName: "Sample", encodable: [["text": "a"], ["text": "b"]])
        for _ in 0..<2 { #expect(try fill(request, entity).rows == 2) }
    }
}
