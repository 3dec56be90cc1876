// Random batch updates: the engine, with small pages and blocks, against a store that keeps everything in a dictionary.
//
// Both are asked for the same by the same random numbers: batches that insert, updates of values, keys, references and derived
// attributes, deletions. Between these the engine's store is closed and opened again, or compacted. After each step both must
// hold the same, versions too, and an update that one refuses the other must refuse for the same reason.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

@Suite("Random batch updates")
struct RandomBatchUpdateTests {
    private static let model: ManagedObjectModel = {
        var folded = AttributeDescription("folded", .string)
        folded.derivationExpression = "canonical:(note)"
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("serial", .integer64), .init("code", .integer64), .init("key", .string),
                .init("number", .integer32), .init("price", .double),
                .init("exact", .decimal), .init("note", .string), folded,
                .init("flag", .boolean, optional: false, default: .boolean(false)),
            ], uniquenessConstraints: [["serial"], ["code"], ["key", "number"]])
        item.relationships = [RelationshipDescription("box", to: "Box", inverse: "items")]
        item.indexes = [
            FetchIndexDescription("byNumber", elements: [.init("number")]),
            FetchIndexDescription("byNote", elements: [.init("note"), .init("price")]),
        ]
        var special = EntityDescription("Special", attributes: [.init("extra", .integer16)])
        special.superentityName = "Item"
        var total = AttributeDescription("total", .integer64)
        total.derivationExpression = "items.number.@sum"
        var count = AttributeDescription("count", .integer64)
        count.derivationExpression = "items.@count"
        var box = EntityDescription(
            "Box", attributes: [.init("name", .string), total, count],
            uniquenessConstraints: [["name"]])
        box.relationships = [
            RelationshipDescription("items", to: "Item", toMany: true, inverse: "box")
        ]
        return ManagedObjectModel(entities: [item, special, box])
    }()

    /// The same without anything derived or indexed, so that whole blocks are written anew.
    private static let plainModel: ManagedObjectModel = {
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("serial", .integer64), .init("code", .integer64), .init("key", .string),
                .init("number", .integer32), .init("price", .double),
                .init("exact", .decimal), .init("note", .string),
                .init("flag", .boolean, optional: false, default: .boolean(false)),
            ], uniquenessConstraints: [["serial"], ["code"], ["key", "number"]])
        item.relationships = [RelationshipDescription("box", to: "Box", inverse: "items")]
        var special = EntityDescription("Special", attributes: [.init("extra", .integer16)])
        special.superentityName = "Item"
        var box = EntityDescription(
            "Box", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        box.relationships = [
            RelationshipDescription("items", to: "Item", toMany: true, inverse: "box")
        ]
        return ManagedObjectModel(entities: [item, special, box])
    }()

    /// Everything that is stored, a line for each object.
    private static func describe(_ store: any PersistentStore) throws -> [String] {
        let snapshot = try store.snapshot()
        let schema = store.schema
        var names: [ObjectID: String] = [:]
        var rows: [Row] = []
        for name in ["Box", "Item"] {
            var fetch = StoreFetch(entity: try #require(schema.entity(named: name)).index)
            fetch.includesRows = true
            rows += try snapshot.fetch(fetch).rows
        }
        return rows.map { row in
            let entity = schema.entities[row.entity]
            let parts = entity.columns.indices.map { index in
                let value = row.cells.value(index, of: entity, in: snapshot.identity)
                if entity.columns[index].name == "name" { names[row.id] = "\(value)" }
                if case .objectID(let id) = value { return names[id] ?? "?" }
                return "\(value)"
            }
            return "\(entity.name) v\(row.version) \(parts.joined(separator: " "))"
        }.sorted()
    }

    private static let conditions = [
        nil, nil, "number < 3", "number == nil", "note != nil", "flag == YES AND price > 2",
        "box.name == \"b1\"", "box == nil OR number > 4", "code > 10", "serial < 20",
        "note BEGINSWITH[c] \"k\"", "number IN {1, 2, 5}", "ANY box.items.number > 5", "price < 0",
    ]

    /// By property, what it may become.
    private static let changes: [String: [String]] = [
        "code": ["code + 1", "code - 1", "0 - code", "serial", "serial * 3", "code", "7", "nil"],
        "key": ["lowercase:(key)", "note", "box.name", "'k'", "nil"],
        "number": [
            "number + 1", "number * number", "5", "nil", "abs:(number)", "number * 100000000",
            "length:(note)", "floor:(price)", "price", "serial",
        ],
        "price": ["price * 1.5", "number / 2", "number * 0.25", "3", "nil", "price - number"],
        "exact": ["exact * 2", "price", "number", "nil", "exact + price"],
        "note": [
            "uppercase:(note)", "box.name", "'Käse'", "nil", "key", "CAST(number, 'NSString')",
        ],
        "flag": ["TRUEPREDICATE", "TERNARY(number > 2, YES, NO)", "NO", "nil"],
        "extra": ["extra + 1", "number", "9", "nil"],
    ]

    private static func value(_ text: String) throws -> UpdatedValue {
        switch text {
        case "nil": return nil
        case "TRUEPREDICATE": return true
        default: return .expression(try ExpressionNode(format: text))
        }
    }

    private static func request(
        _ random: inout RandomSource, _ boxes: [String], _ find: (String) throws -> ObjectID
    ) throws -> BatchUpdateRequest {
        var request = BatchUpdateRequest(entityName: random.oneIn(5) ? "Special" : "Item")
        request.predicate = try conditions.randomElement(using: &random)?.map {
            try PredicateNode(format: $0)
        }
        request.includesSubentities = !random.oneIn(4)
        let names = changes.keys.sorted()
        for _ in 0...Int.random(in: 0..<3, using: &random) {
            let name = names.randomElement(using: &random) ?? "note"
            if name == "extra" && request.entityName == "Item" { continue }
            request.propertiesToUpdate[name] = try value(
                changes[name]?.randomElement(using: &random) ?? "nil")
        }
        if random.oneIn(5) || request.propertiesToUpdate.isEmpty {
            let box = random.oneIn(4) ? nil : boxes.randomElement(using: &random)
            request.propertiesToUpdate["box"] =
                try box.map { .value(.objectID(try find($0))) } ?? nil
        }
        if random.oneIn(5) {
            request.sortDescriptors = [SortKey("serial", ascending: random.oneIn(2))]
            request.fetchLimit = Int.random(in: 1..<12, using: &random)
            request.fetchOffset = Int.random(in: 0..<3, using: &random)
        }
        request.resultType = .objectIDs
        return request
    }

    /// What came of a request.
    private static func outcome(_ store: any PersistentStore, _ request: BatchUpdateRequest)
        -> String
    {
        do throws(StoreError) {
            let result = try store.execute(request)
            #expect(result.objectIDs.count == result.updatedCount)
            #expect((result.commit == nil) == (result.updatedCount == 0))
            return "\(result.updatedCount) and \(result.unchangedCount)"
        } catch {
            return "\(error.code)"
        }
    }

    @Test("Updates leave what a plain store would hold, or nothing of themselves")
    func updates() throws {
        try Rounds.run("random batch updates", everyDay: 4, whole: 600) { random in
            let schema = try Schema(random.oneIn(2) ? Self.model : Self.plainModel)
            let disk = MemoryFileSystem()
            var options = LogStoreOptions()
            options.fileSystem = disk
            options.durability = .relaxed
            options.sizes.rowsPerBlock = [4, 16, 64, 1024].randomElement(using: &random) ?? 4
            options.sizes.writeBufferBytes = [256, 4 << 20].randomElement(using: &random) ?? 256
            options.sizes.hashBits = [6, 32].randomElement(using: &random) ?? 32
            if random.oneIn(3) { options.sizes.largeValueBytes = 6 }
            if random.oneIn(3) { options.cacheBytes = 0 }
            options.scanThreads = [1, 2, 4].randomElement(using: &random)
            var store = try LogStore.open(at: "/store", schema: schema, options: options)
            let plain = DictionaryStore(schema)
            let boxes = ["b1", "b2", "b3"]
            for each: any PersistentStore in [store, plain] {
                _ = try each.execute(
                    BatchInsertRequest(entityName: "Box", objects: boxes.map { ["name": $0] }))
            }
            func find(_ box: String, in store: any PersistentStore) throws -> ObjectID {
                let fetch = StoreFetch(
                    entity: try #require(schema.entity(named: "Box")).index,
                    predicate: .compare("name", .equal, .string(box)))
                return try #require(try store.snapshot().fetch(fetch).ids.first)
            }
            var serial = 0
            for _ in 0..<14 {
                let step = Int.random(in: 0..<10, using: &random)
                if step < 2 || serial == 0 {
                    let rows: [[String: Any]] = (0..<[3, 20, 90].randomElement(using: &random)!).map
                    {
                        _ in
                        serial += 1
                        var row: [String: Any] = ["serial": serial, "code": serial]
                        let number = Int.random(in: 0..<8, using: &random)
                        if !random.oneIn(4) { row["number"] = number }
                        if !random.oneIn(3) { row["price"] = Double(number) / 2 }
                        if random.oneIn(2) { row["exact"] = Decimal(number) }
                        if !random.oneIn(3) { row["note"] = ["Käse", "kuh", "Ort"][number % 3] }
                        if random.oneIn(2) { row["key"] = "K\(serial)" }
                        row["flag"] = random.oneIn(2)
                        return row
                    }
                    let entity = random.oneIn(3) ? "Special" : "Item"
                    for each: any PersistentStore in [store, plain] {
                        _ = try each.execute(BatchInsertRequest(entityName: entity, objects: rows))
                    }
                } else if step == 2 {
                    let fetch = StoreFetch(
                        entity: try #require(schema.entity(named: "Item")).index,
                        predicate: try PredicateNode(format: "number == 6"))
                    for each: any PersistentStore in [store, plain] {
                        _ = try each.execute(BatchDeleteRequest(.fetch(fetch)))
                    }
                } else {
                    var same = random
                    let first = try Self.request(&random, boxes) { try find($0, in: store) }
                    let second = try Self.request(&same, boxes) { try find($0, in: plain) }
                    let (one, other) = (Self.outcome(store, first), Self.outcome(plain, second))
                    #expect(one == other, "\(first.propertiesToUpdate)")
                }
                #expect(try Self.describe(store) == Self.describe(plain))
                if random.oneIn(6) {
                    try store.close()
                    store = try LogStore.open(at: "/store", schema: schema, options: options)
                    #expect(try Self.describe(store) == Self.describe(plain))
                } else if random.oneIn(10) {
                    _ = try store.compact()
                }
                #expect(try store.check().findings.isEmpty)
            }
            try store.close()
        }
    }
}
