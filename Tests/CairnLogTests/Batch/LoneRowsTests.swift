// Upserts of few rows of each of many blocks: the rows are read by themselves, and what comes of them is what it always was.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Upserts of few rows of each block")
struct LoneRowsTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Item",
            attributes: [
                .init("key", .string, optional: false), .init("text", .string),
                .init("kind", .string), .init("number", .integer64), .init("price", .double),
                .init("weight", .float), .init("mark", .uuid), .init("plan", .binary),
                .init("code", .integer32),
            ], uniquenessConstraints: [["key"], ["code"]])
    ])

    private typealias Item = [String: Value]

    private static func options(_ disk: any FileSystem) -> LogStoreOptions {
        var options = SampleStore.options(on: disk)
        options.sizes.rowsPerBlock = 512
        options.sizes.largeValueBytes = 600
        return options
    }

    private static func key(_ number: Int) -> String {
        String(UInt32(truncatingIfNeeded: number &* 2_654_435_761), radix: 36)
    }

    private static func value(_ name: String, _ number: Int, _ random: inout RandomSource) -> Value
    {
        switch name {
        case "key": return .string(key(number))
        case "code": return random.oneIn(9) ? .null : .integer(Int64(number))
        case _ where random.oneIn(9): return .null
        case "text":
            let words = ["red", "green", "blue", "yellow", "black", "white"]
            return .string(
                (0..<3).map { _ in words.randomElement(using: &random) ?? "" }
                    .joined(separator: " ") + " \(number)")
        case "kind": return .string("kind \(number % 7)")
        case "number": return .integer(Int64(number) * Int64(number) % 5000)
        case "price": return .double(Double(Int.random(in: 0..<100_000, using: &random)) / 100)
        case "weight": return .float(Float(Int.random(in: 0..<1000, using: &random)) / 8)
        case "mark":
            return .uuid(
                UUID(uuidString: "00000000-0000-0000-0000-\(String(format: "%012x", number))")!)
        default:
            // Some have frames of their own.
            return .binary(
                Data(
                    repeating: UInt8(truncatingIfNeeded: number), count: random.oneIn(20) ? 900 : 30
                ))
        }
    }

    private static let names = [
        "key", "text", "kind", "number", "price", "weight", "mark", "plan", "code",
    ]

    private static func row(_ number: Int, _ names: [String], _ random: inout RandomSource) -> Item
    {
        var row: Item = [:]
        for name in names { row[name] = value(name, number, &random) }
        return row
    }

    private static func upsert(_ store: LogStore, _ rows: [Item]) throws -> BatchInsertResult {
        var request = BatchInsertRequest(
            entityName: "Item", objects: rows.map { $0.mapValues(Self.given) })
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        return try store.execute(request)
    }

    private static func given(_ value: Value) -> Any {
        switch value {
        case .string(let value): value
        case .integer(let value): value
        case .double(let value): value
        case .float(let value): value
        case .uuid(let value): value
        case .binary(let value): value
        default: NSNull()
        }
    }

    /// All rows by key.
    private static func content(_ store: LogStore) throws -> [String: Item] {
        let entity = store.schema.entities[0]
        let snapshot = try store.snapshot()
        var content: [String: Item] = [:]
        for case let row? in try snapshot.rows(snapshot.fetch(StoreFetch(entity: 0)).ids) {
            var values: Item = [:]
            for (index, column) in entity.columns.enumerated() {
                values[column.name] = row.cells.value(index, of: entity, in: store.identity)
            }
            guard case .string(let key)? = values["key"] else { continue }
            content[key] = values
        }
        return content
    }

    private static func decodedBlocks(_ store: LogStore) throws -> (decoded: Int, all: Int) {
        let state = store.engine.registry.published()
        let handles = state.blocks.all(ofEntity: 0)
        let decoded = try handles.count { handle in
            try store.engine.reader.block(state.blocks.entry(handle), in: state).hasDecoded
        }
        return (decoded, handles.count)
    }

    @Test(
        "They say what a table would hold, whichever columns are named, and whether what is stored is decoded or not"
    )
    func values() throws {
        try Rounds.run("lone rows", everyDay: 2, whole: 200) { random in
            let disk = MemoryFileSystem()
            let first = try LogStore.open(
                at: "/store", schema: try Schema(Self.model), options: Self.options(disk))
            var expected: [String: Item] = [:]
            var rows: [Item] = []
            for number in 0..<3000 {
                let row = Self.row(number, Self.names, &random)
                expected[Self.key(number)] = row
                rows.append(row)
            }
            _ = try Self.upsert(first, rows)
            try first.close()
            let store = try LogStore.open(at: "/store", options: Self.options(disk))
            for _ in 0..<6 {
                let names =
                    ["key"] + Self.names.dropFirst().filter { _ in random.oneIn(2) }
                var batch: [Item] = []
                // Some of them twice, some new, some as they are.
                for _ in 0..<[1, 20, 150].randomElement(using: &random)! {
                    let number = Int.random(in: 0..<3100, using: &random)
                    let key = Self.key(number)
                    var row = Self.row(number, names, &random)
                    if random.oneIn(4), let known = expected[key] {
                        for name in names { row[name] = known[name] }
                    }
                    batch.append(row)
                    var whole = expected[key] ?? [:]
                    for name in Self.names { whole[name] = row[name] ?? whole[name] ?? .null }
                    expected[key] = whole
                }
                _ = try Self.upsert(store, batch)
            }
            #expect(try Self.content(store) == expected, "seed \(random.seed)")
            #expect(try store.check().findings.isEmpty, "seed \(random.seed)")
            try store.close()
        }
    }

    @Test("One row of each block decodes none of them, and many rows do")
    func decoding() throws {
        var random = RandomSource()
        let disk = MemoryFileSystem()
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                "Item",
                attributes: [
                    .init("key", .string, optional: false), .init("number", .integer64),
                ], uniquenessConstraints: [["key"]])
        ])
        let store = try LogStore.open(
            at: "/store", schema: try Schema(model), options: Self.options(disk))
        func rows(_ numbers: some Sequence<Int>, plus: Int64) -> [Item] {
            numbers.map {
                ["key": .string(Self.key($0)), "number": .integer(Int64($0) + plus)]
            }
        }
        _ = try Self.upsert(store, rows(0..<5120, plus: 0))
        // Of each block one row at a time, as it is stored.
        for start in 0..<4 {
            let numbers = stride(from: start * 100, to: 5120, by: 512).shuffled(using: &random)
            let result = try Self.upsert(store, rows(numbers, plus: 0))
            #expect(result.unchangedCount == numbers.count)
        }
        let before = try Self.decodedBlocks(store)
        #expect(before.decoded == 0 && before.all == 10)
        let many = (0..<1000).map { $0 * 5 }.shuffled(using: &random)
        #expect(try Self.upsert(store, rows(many, plus: 0)).unchangedCount == 1000)
        #expect(try Self.decodedBlocks(store).decoded == 10)
        try store.close()
    }
}
