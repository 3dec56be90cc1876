// Rows that are handed over some at a time are those that a fetch gives, byte by byte.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Rows on their way to objects")
struct StreamedRowsTests {
    /// Compares what is streamed with what is fetched.
    private func compare(
        _ snapshot: any StoreSnapshot, _ entity: SchemaEntity, _ predicate: PredicateNode?,
        _ comment: String
    ) throws {
        var fetch = StoreFetch(entity: entity.index, predicate: predicate)
        fetch.includesRows = true
        let expected = try snapshot.fetch(fetch).rows
        let stream = try #require(snapshot as? any RowStream)
        var found: [UInt64: (entity: Int, version: UInt32, cells: RowCells)] = [:]
        try stream.streamRows(fetch) { rows in
            for row in 0..<rows.count {
                let old = found.updateValue(
                    (rows.entity, rows.versions[row], rows.cells(row)),
                    forKey: rows.references[row])
                #expect(old == nil, "a row comes once; \(comment)")
            }
        }
        #expect(found.count == expected.count, "\(comment)")
        for row in expected {
            let streamed = try #require(found[row.id.reference], "\(comment)")
            #expect(streamed.entity == row.entity && streamed.version == row.version, "\(comment)")
            #expect(streamed.cells == row.cells, "\(comment)")
        }
    }

    @Test("have the values that a fetch gives, large ones and nils among them")
    func mixedRows() throws {
        try Rounds.run("streamed rows", everyDay: 4, whole: 100) { random in
            let shop = try ReadableStore()
            try shop.fill(&random)
            let snapshot = try shop.store.snapshot()
            let limit = Int64.random(in: 0..<2000, using: &random)
            let predicates: [PredicateNode?] = [
                nil, .compare("count", .less, .integer(limit)),
                .compare("category", .equal, .string("category 3")),
                .compare("key", .equal, .string("key \(limit)")),
            ]
            for predicate in predicates {
                try compare(snapshot, shop.thing, predicate, "seed \(random.seed)")
                try compare(snapshot, shop.special, predicate, "seed \(random.seed)")
            }
        }
    }

    @Test(
        "may have more columns than a word has bits, and more bytes than a slab",
        arguments: [1, 63, 64, 65, 130])
    func wideRows(columns: Int) throws {
        var random = RandomSource()
        let types: [AttributeType] = [.string, .integer64, .double, .boolean, .uuid, .float]
        let attributes = (0..<columns).map {
            AttributeDescription("a\($0)", types[$0 % types.count])
        }
        let schema = try Schema(
            ManagedObjectModel(entities: [EntityDescription("Wide", attributes: attributes)]))
        let store = try LogStore.open(
            at: "/store", schema: schema,
            options: SampleStore.options(on: MemoryFileSystem(), durability: .relaxed))
        let rows = (0..<200).map { _ in
            var row: [String: Any] = [:]
            for attribute in attributes {
                row[attribute.name] = value(attribute.type, &random)
            }
            return row
        }
        _ = try store.execute(BatchInsertRequest(entityName: "Wide", objects: rows))
        try compare(
            try store.snapshot(), schema.entities[0], nil, "seed \(random.seed)")
    }

    private func value(_ type: AttributeType, _ random: inout RandomSource) -> Any {
        if random.oneIn(4) { return NSNull() }
        switch type {
        case .string:
            return String(repeating: "x", count: Int.random(in: 0..<300, using: &random))
        case .integer64: return Int.random(in: .min ... .max, using: &random)
        case .double: return Double.random(in: -1...1, using: &random)
        case .boolean: return random.oneIn(2)
        case .uuid: return ReadableStore.uuid(Int.random(in: 0..<1000, using: &random))
        default: return Float.random(in: -1...1, using: &random)
        }
    }
}
