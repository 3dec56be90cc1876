// A store with fetch indexes and the same store without them, side by side.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

/// Products whose values follow from their numbers, opened with indexes and without.
struct PlannedStore {
    let indexed: LogStore
    let plain: LogStore
    let schema: Schema

    static let rows = 4000

    static func model(hasIndexes: Bool) -> ManagedObjectModel {
        typealias Index = FetchIndexDescription
        var product = EntityDescription(
            "Product",
            attributes: [
                .init("code", .string), .init("category", .string), .init("price", .double),
                .init("name", .string), .init("stock", .integer32), .init("released", .date),
                .init("retired", .boolean), .init("note", .string),
            ], uniquenessConstraints: [["code"]])
        if hasIndexes {
            product.indexes = [
                Index("byCategoryAndPrice", elements: [.init("category"), .init("price")]),
                Index("byName", elements: [.init("name")]),
                Index("byStock", elements: [.init("stock", ascending: false)]),
                Index("byReleased", elements: [.init("released")]),
                Index("byNote", elements: [.init("note")]),
            ]
        }
        var gadget = EntityDescription("Gadget", attributes: [.init("watts", .integer16)])
        gadget.superentityName = "Product"
        if hasIndexes { gadget.indexes = [Index("byWatts", elements: [.init("watts")])] }
        return ManagedObjectModel(entities: [product, gadget])
    }

    /// What the keys of long notes are cut in.
    static let long = String(repeating: "x", count: 70)

    /// Every tenth is a gadget.
    private static func row(_ number: Int) -> [String: Any] {
        var row: [String: Any] = [
            "code": "P\(number)", "category": "c\(number % 40)",
            "price": Double(number * 7919 % 1000) / 10,
            "name": "name \(10000 + number * 37 % rows)",
            "stock": number % 500,
            "released": number % 4 == 0
                ? NSNull() : Date(timeIntervalSinceReferenceDate: Double(number / 10)) as Any,
            "retired": number % 2 == 0,
            "note": number % 100 == 5 ? "\(long)\(number / 100)" : "note \(number)",
        ]
        if number % 10 == 9 { row["watts"] = number / 10 }
        return row
    }

    init(hashBits: Int = 32) throws {
        let disk = MemoryFileSystem()
        var options = SampleStore.options(on: disk, durability: .relaxed)
        options.sizes.rowsPerBlock = 200
        options.sizes.hashBits = hashBits
        options.makeScheduler = { ManualScheduler() }
        schema = try Schema(Self.model(hasIndexes: true))
        let writer = try LogStore.open(at: "/store", schema: schema, options: options)
        for start in stride(from: 0, to: Self.rows, by: 1000) {
            let numbers = start..<start + 1000
            _ = try writer.execute(
                BatchInsertRequest(
                    entityName: "Product",
                    objects: numbers.filter { $0 % 10 != 9 }.map(Self.row)))
            _ = try writer.execute(
                BatchInsertRequest(
                    entityName: "Gadget",
                    objects: numbers.filter { $0 % 10 == 9 }.map(Self.row)))
        }
        try writer.close()
        options.isReadOnly = true
        options.followsWriter = false
        indexed = try LogStore.open(at: "/store", schema: schema, options: options)
        // Who only reads has an engine of its own beside that of who writes, and its own indexes.
        options.isReadOnly = false
        plain = try LogStore.open(
            at: "/store", schema: Schema(Self.model(hasIndexes: false)), options: options)
    }

    /// A fetch with a predicate in the format language, sorted by keys, a `-` before those that descend.
    func fetch(
        _ entity: String = "Product", _ format: String?, sort: [String] = [], limit: Int? = nil,
        offset: Int = 0
    ) throws -> StoreFetch {
        let entity = try #require(schema.entity(named: entity))
        var fetch = StoreFetch(entity: entity.index)
        fetch.predicate = try format.map {
            try PredicateNode(format: $0).bound(to: entity, in: schema)
        }
        fetch.sort = sort.map {
            $0.hasPrefix("-") ? SortKey(String($0.dropFirst()), ascending: false) : SortKey($0)
        }
        fetch.limit = limit
        fetch.offset = offset
        return fetch
    }
}
