// That an outline that is kept changes no plan: the constants still decide, and no outline outlives its indexes.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Plans of shapes that were asked before")
struct PlanCacheTests {
    private static func plans(_ store: LogStore) -> PlanCache {
        store.engine.registry.read { $0.catalog.plans }
    }

    /// The plan of a fetch of products.
    private static func steps(_ store: PlannedStore, _ predicate: PredicateNode) throws -> String {
        let entity = try #require(store.schema.entity(named: "Product"))
        let fetch = StoreFetch(entity: entity.index, predicate: predicate)
        let found = try store.indexed.snapshot().fetch(fetch)
        let expected = try store.plain.snapshot().fetch(fetch)
        #expect(found.ids == expected.ids, "\(predicate)")
        let count = try store.indexed.snapshot().count(fetch)
        #expect(count == expected.ids.count, "\(predicate)")
        return try store.indexed.snapshot().explain(fetch).steps
    }

    @Test("Fetches of one shape share an outline, and their values decide between its ways")
    func values() throws {
        let store = try PlannedStore()
        let plans = Self.plans(store.indexed)
        #expect(plans.count == 0)
        func ask(_ category: String, _ price: Double, _ stock: Int64) throws -> String {
            try Self.steps(
                store,
                .and([
                    .compare("category", .equal, .string(category)),
                    .compare("price", .less, .double(price)),
                    .compare("stock", .less, .integer(stock)),
                ]))
        }
        #expect(
            try ask("c7", 0.5, 400)
                == """
                index byCategoryAndPrice (category, price) for category = "c7", price < 0.5
                  filter: category == 'c7' AND price < 0.5 AND stock < 400
                """)
        #expect(
            try ask("c7", 80, 1)
                == """
                index byStock (stock) for stock < 1
                  filter: category == 'c7' AND price < 80.0 AND stock < 1
                """)
        #expect(plans.count == 1)
        let cheap = try Self.steps(store, .compare("stock", .less, .integer(3)))
        #expect(cheap == "covering index byStock (stock) for stock < 3")
        let wide = try Self.steps(store, .compare("stock", .less, .integer(450)))
        #expect(wide.hasPrefix("scan of Product, Gadget"))
        #expect(plans.count == 2)
        try store.indexed.close()
        try store.plain.close()
    }

    @Test("What is no value of a column, nil or no number is planned as if nobody had asked before")
    func otherConstants() throws {
        let store = try PlannedStore()
        func ask(_ key: String, _ relation: PredicateNode.Comparison.Operator, _ value: Value)
            throws -> String
        {
            try Self.steps(store, .compare(key, relation, value))
        }
        // Each time the usual constant is first.
        #expect(
            try ask("released", .equal, .date(Date(timeIntervalSinceReferenceDate: 40)))
                == "covering index byReleased (released) for released = 2001-01-01T00:00:40Z")
        let noDate = Value.date(Date(timeIntervalSinceReferenceDate: .nan))
        #expect(try ask("released", .equal, noDate).hasPrefix("scan of Product, Gadget"))
        #expect(try ask("released", .less, noDate).hasPrefix("scan of Product, Gadget"))
        #expect(try ask("released", .equal, .null).hasPrefix("scan of Product, Gadget"))
        #expect(
            try ask("stock", .equal, .integer(7)) == "covering index byStock (stock) for stock = 7")
        #expect(try ask("stock", .equal, .integer(1 << 40)).hasPrefix("scan of Product, Gadget"))
        #expect(try ask("stock", .equal, .double(7)).hasPrefix("scan of Product, Gadget"))
        #expect(
            try ask("name", .equal, .string("name 10037"))
                == #"covering index byName (name) for name = "name 10037""#)
        #expect(
            try ask("name", .equal, .null) == "covering index byName (name) for name = nil")

        let both = { (price: Double) -> PredicateNode in
            .and([
                .compare("category", .equal, .string("c7")),
                .compare("price", .equal, .double(price)),
            ])
        }
        #expect(
            try Self.steps(store, both(43.3))
                == #"covering index byCategoryAndPrice (category, price) for category = "c7", price = 43.3"#
        )
        let noNumber = try Self.steps(store, both(.nan)).split(separator: "\n")
        #expect(
            noNumber.first
                == #"index byCategoryAndPrice (category, price) for category = "c7""#)
        #expect(
            noNumber.count == 2 && noNumber[1].hasPrefix("  filter: category == 'c7' AND"))
        func list(_ values: [Value]) -> PredicateNode {
            .compare(.keyPath("name"), .in, .list(values))
        }
        let names = [Value.string("name 10037"), .string("name 10074")]
        #expect(
            try Self.steps(store, list(names))
                == "covering index byName (name) for name in 2 values")
        #expect(try Self.steps(store, list(names + [.null])).hasPrefix("scan of Product, Gadget"))
        try store.indexed.close()
        try store.plain.close()
    }

    @Test("A condition that cannot be asked is refused, though others of its shape were answered")
    func refused() throws {
        let store = try PlannedStore()
        let entity = try #require(store.schema.entity(named: "Product"))
        func count(_ values: [Value]) throws -> Int {
            try store.indexed.snapshot().count(
                StoreFetch(
                    entity: entity.index,
                    predicate: .and([
                        .compare("category", .equal, values[0]),
                        .compare("price", .equal, values[1]),
                    ])))
        }
        #expect(try count([.string("c7"), .double(43.3)]) == 4)
        #expect(throws: StoreError.self) { try count([.integer(7), .double(43.3)]) }
        #expect(throws: StoreError.self) { try count([.string("c7"), .string("43.3")]) }
        #expect(try count([.string("c7"), .double(43.3)]) == 4)
        try store.indexed.close()
        try store.plain.close()
    }

    @Test("Indexes that are added or dropped are planned with or without them")
    func otherIndexes() throws {
        let disk = MemoryFileSystem()
        var options = SampleStore.options(on: disk, durability: .relaxed)
        options.makeScheduler = { ManualScheduler() }
        func open(_ indexes: String...) throws -> LogStore {
            var item = EntityDescription(
                "Item", attributes: [.init("name", .string), .init("rank", .integer64)])
            item.indexes = indexes.map {
                FetchIndexDescription("by \($0)", elements: [.init($0)])
            }
            return try LogStore.open(
                at: "/store", schema: Schema(ManagedObjectModel(entities: [item])),
                options: options)
        }
        func plan(_ store: LogStore) throws -> String {
            let fetch = StoreFetch(
                entity: 0,
                predicate: .and([
                    .compare("rank", .equal, .integer(7)),
                    .compare("name", .equal, .string("name 7")),
                ]))
            #expect(try store.snapshot().count(fetch) == 1)
            return try store.snapshot().fetch(fetch).plan
        }
        let store = try open("name")
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Item", objects: (0..<1000).map { ["name": "name \($0)", "rank": $0] }))
        #expect(try plan(store) == #"index by name (name) for name = "name 7""#)
        #expect(try plan(store) == #"index by name (name) for name = "name 7""#)
        try store.close()
        let second = try open("rank")
        #expect(try plan(second) == "index by rank (rank) for rank = 7")
        try second.close()
        let third = try open()
        #expect(try plan(third) == "scan of Item")
        #expect(Self.plans(third).count == 0, "nothing is planned without indexes")
        try third.close()
        let fourth = try open("name", "rank")
        #expect(try plan(fourth) == #"index by name (name) for name = "name 7""#)
        try fourth.close()
    }

    @Test("There are no more outlines than places, whatever is asked")
    func bounded() throws {
        let store = try PlannedStore()
        let keys = ["category", "price", "name", "stock", "released", "retired", "note", "code"]
        let entity = try #require(store.schema.entity(named: "Product"))
        var shapes = 0
        for first in keys {
            for second in keys {
                for third in keys {
                    let fetch = StoreFetch(
                        entity: entity.index,
                        predicate: .and([first, second, third].map { .compare($0, .equal, .null) }))
                    _ = try store.indexed.snapshot().count(fetch)
                    shapes += 1
                }
            }
        }
        let count = Self.plans(store.indexed).count
        #expect(shapes == 512 && count > 128 && count <= 256, "\(count)")
        try store.indexed.close()
        try store.plain.close()
    }

    @Test("Many threads that ask the same shapes find the same")
    func threads() async throws {
        let store = try PlannedStore()
        let entity = try #require(store.schema.entity(named: "Product")).index
        let snapshot = try store.indexed.snapshot()
        let wrong = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var wrong = 0
                    for round in 0..<100 {
                        let category = "c\((task + round) % 40)"
                        let fetch = StoreFetch(
                            entity: entity,
                            predicate: .and(
                                [.compare("category", .equal, .string(category))]
                                    + (0..<round % 7).map {
                                        .compare("stock", .greater, .integer(-1 - Int64($0)))
                                    }))
                        if (try? snapshot.count(fetch)) != 100 { wrong += 1 }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
        #expect(Self.plans(store.indexed).count <= 7 * 8)
        try store.indexed.close()
        try store.plain.close()
    }
}
