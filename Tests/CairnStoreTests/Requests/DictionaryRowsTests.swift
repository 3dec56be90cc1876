import CairnModel
import CairnStore
import Foundation
import Testing

@Suite("Rows given as dictionaries")
struct DictionaryRowsTests {
    private func parse(_ json: String) throws -> [[String: Any]] {
        let any = try JSONSerialization.jsonObject(with: Data(json.utf8))
        return try #require(any as? [[String: Any]])
    }

    private func value(_ any: Any, _ type: AttributeType) throws -> Value {
        let entity = try Samples.entity([.init("a", type)])
        let batch = try fill(
            BatchInsertRequest(entityName: "Sample", objects: [["a": any]]), entity)
        return try Samples.value(batch, "a", row: 0)
    }

    private func failure(_ key: String, _ any: Any, _ entity: SchemaEntity) throws -> StoreError {
        var filler = try BatchInsertRequest(entityName: entity.name, objects: [[:], [key: any]])
            .makeFiller(for: entity)
        let batch = ColumnBatch(entity)
        let error = try storeError { _ = try filler.fill(batch, firstRow: 10) }
        #expect(error.code == .invalidRequest)
        #expect(error.context.row == 11 && error.context.key?.hasPrefix(key) == true)
        #expect(batch.rows == 1 && batch.columns.allSatisfy { $0.states[1] == 0 })
        return error
    }

    @Test("take every type of number that Swift has")
    func numbers() throws {
        let numbers: [Any] = [
            Int(5), Int8(5), Int16(5), Int32(5), Int64(5), UInt(5), UInt8(5), UInt16(5), UInt32(5),
            UInt64(5), Double(5), Float(5), CGFloat(5), Decimal(5), Int128(5), NSNumber(value: 5),
            NSNumber(value: UInt64(5)), NSNumber(value: 5.0), NSDecimalNumber(value: 5),
        ]
        for number in numbers {
            #expect(try value(number, .integer16) == .integer(5), "\(type(of: number))")
            #expect(try value(number, .integer64) == .integer(5), "\(type(of: number))")
            #expect(try value(number, .double) == .double(5), "\(type(of: number))")
            #expect(try value(number, .float) == .float(5), "\(type(of: number))")
            #expect(try value(number, .decimal) == .decimal(5), "\(type(of: number))")
        }
    }

    @Test("take texts, bytes and Foundation's classes")
    func others() throws {
        #expect(try value("abc".dropFirst(), .string) == .string("bc"))
        #expect(try value(Character("x"), .string) == .string("x"))
        #expect(try value(NSString(string: "abc"), .string) == .string("abc"))
        #expect(try value([UInt8]([1, 2]), .binary) == .binary(Data([1, 2])))
        #expect(try value(NSData(data: Data([1])), .binary) == .binary(Data([1])))
        let date = Date(timeIntervalSinceReferenceDate: 3)
        #expect(try value(date, .date) == .date(date))
        #expect(try value(NSDate(timeIntervalSinceReferenceDate: 3), .date) == .date(date))
        let uuid = UUID()
        #expect(try value(uuid, .uuid) == .uuid(uuid))
        #expect(try value(NSUUID(uuidString: uuid.uuidString)!, .uuid) == .uuid(uuid))
        #expect(try value(URL(string: "a:b")!, .uri) == .uri(URL(string: "a:b")!))
        #expect(try value(true, .boolean) == .boolean(true))
        #expect(try value(NSNumber(value: true), .boolean) == .boolean(true))
        #expect(try value(1, .boolean) == .boolean(true))
        #expect(try value(true, .integer16) == .integer(1))
    }

    @Test("nil comes in many forms")
    func nils() throws {
        let nils: [Any] = [
            NSNull(), String?.none as Any, Int?.none as Any, UInt8?.none as Any,
            Optional<Any>.none as Any, Optional<String?>.some(nil) as Any,
        ]
        for none in nils { #expect(try value(none, .string) == .null, "\(type(of: none))") }
        #expect(try value(Optional("a") as Any, .string) == .string("a"))
        #expect(try value(Optional(Optional("a")) as Any, .string) == .string("a"))
        #expect(try value(Optional(UInt8(3)) as Any, .integer16) == .integer(3))
    }

    @Test("parsed JSON goes in as it is, and comes back as it was")
    func json() throws {
        var attributes = Samples.everyType
        attributes.append(.init("other", .double))
        let entity = try Samples.entity(attributes)
        let rows = try parse(
            """
            [{"small": -32768, "medium": 2147483647, "large": 9223372036854775807, "exact": 9.99,
              "real": 1, "short": 0.1, "text": "t", "flag": true, "other": 1e300},
             {"small": 1.0, "large": null, "exact": 12345678901234567890.123456789, "real": 0.1,
              "flag": false, "text": "", "other": 18446744073709551615},
             {"flag": 0, "exact": 18446744073709551615, "real": 0.12345678901234567891, "small": true}]
            """)
        let batch = try fill(BatchInsertRequest(entityName: "Sample", objects: rows), entity)
        let expected: [(Int, String, Value)] = [
            (0, "small", .integer(-32768)), (0, "medium", .integer(2_147_483_647)),
            (0, "large", .integer(.max)), (0, "exact", .decimal(Decimal(string: "9.99")!)),
            (0, "real", .double(1)), (0, "short", .float(0.1)), (0, "text", .string("t")),
            (0, "flag", .boolean(true)), (0, "other", .double(1e300)),
            (1, "small", .integer(1)), (1, "large", .null), (1, "flag", .boolean(false)),
            (1, "exact", .decimal(Decimal(string: "12345678901234567890.123456789")!)),
            (1, "real", .double(0.1)), (1, "text", .string("")),
            (1, "other", .double(18_446_744_073_709_551_616)),
            (2, "flag", .boolean(false)), (2, "small", .integer(1)),
            (2, "exact", .decimal(Decimal(string: "18446744073709551615")!)),
            (2, "real", .double(0.12345678901234567891)), (2, "text", .null),
        ]
        for (row, name, value) in expected {
            #expect(try Samples.value(batch, name, row: row) == value, "row \(row), \(name)")
        }
    }

    @Test("nested dictionaries give the leaves of a composite attribute")
    func composites() throws {
        let entity = try Samples.rich()
        let rows = try parse(
            """
            [{"name": "a", "color": {"primary": "red", "count": 2, "shade": {"depth": 0.5}}},
             {"name": "b", "color.primary": "blue", "color.shade.label": "light"},
             {"name": "c", "color": null}, {"color": {}}, {"color": {"shade": null}}]
            """)
        let batch = try fill(BatchInsertRequest(entityName: "Rich", objects: rows), entity)
        #expect(try Samples.value(batch, "color.primary", row: 0) == .string("red"))
        #expect(try Samples.value(batch, "color.count", row: 0) == .integer(2))
        #expect(try Samples.value(batch, "color.shade.depth", row: 0) == .double(0.5))
        #expect(try Samples.value(batch, "color.primary", row: 1) == .string("blue"))
        #expect(try Samples.value(batch, "color.shade.label", row: 1) == .string("light"))
        let primary = try #require(entity.columnIndex(named: "color.primary"))
        let label = try #require(entity.columnIndex(named: "color.shade.label"))
        let states = batch.columns[primary].states
        #expect((0..<5).map { states[$0] } == [1, 1, 2, 0, 0])
        #expect((0..<5).map { batch.columns[label].states[$0] } == [0, 1, 2, 0, 2])
    }

    @Test("what does not fit is refused, naming row and key")
    func refused() throws {
        struct Odd: Sendable {}
        let entity = try Samples.entity(Samples.everyType)
        #expect(try failure("nothing", 5, entity).message.contains("no stored attribute"))
        #expect(try failure("large", "5", entity).message.contains("string"))
        #expect(try failure("large", 0.5, entity).message.contains("integer64"))
        #expect(try failure("large", UInt64.max, entity).message.contains("integer64"))
        #expect(try failure("small", 40_000, entity).message.contains("integer16"))
        #expect(try failure("real", (1 << 53) + 1, entity).message.contains("double"))
        #expect(try failure("exact", Double.infinity, entity).message.contains("decimal"))
        #expect(try failure("flag", 2, entity).message.contains("boolean"))
        #expect(try failure("text", true, entity).message.contains("string"))
        #expect(try failure("text", Odd(), entity).message.contains("Odd"))
        #expect(try failure("text", ["a"], entity).message.contains("list"))
        #expect(try failure("text", ["a": 1], entity).message.contains("dictionary"))
        #expect(try failure("text", [String: Any](), entity).message.contains("dictionary"))
        let rich = try Samples.rich()
        #expect(try failure("upper", "A", rich).message.contains("derived"))
        #expect(try failure("cache", "A", rich).message.contains("transient"))
        #expect(try failure("parent", Odd(), rich).message.contains("Odd"))
        #expect(try failure("parent", ["text": ["a": 1]], rich).message.contains("single value"))
        #expect(try failure("color", "red", rich).message.contains("composite"))
        #expect(try failure("color", ["nothing": 1], rich).context.key == "color.nothing")
        #expect(try failure("other", [String: Any](), rich).message.contains("no stored attribute"))
    }
}
