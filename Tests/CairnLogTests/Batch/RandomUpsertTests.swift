// Random batches whose rows meet what is stored, each other, and rows of the same group.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Random upserts")
struct RandomUpsertTests {
    /// What a store should hold: the code says which object it is, and an object with a key has the key of its code.
    private struct Model: Equatable {
        struct Item: Equatable {
            var hasKey: Bool
            var value: Int64
        }
        var items: [Int64: Item] = [:]

        /// Carries a row out; false if its key belongs to one object and its code to another.
        mutating func take(_ row: Given, updates: Bool) -> Bool {
            guard let item = items[row.code] else {
                items[row.code] = Item(hasKey: row.hasKey, value: row.value)
                return true
            }
            if !updates { return true }
            // Found by its key, or by its code if it has none; else it would be a second object with the code.
            if row.hasKey && !item.hasKey { return false }
            items[row.code]?.value = row.value
            return true
        }
    }

    private struct Given {
        let code: Int64
        let hasKey: Bool
        let value: Int64

        var dictionary: [String: Any] {
            var row: [String: Any] = ["code": code, "value": value, "text": "text \(value % 40)"]
            if hasKey { row["key"] = "key \(code)" }
            return row
        }
    }

    private static let model: ManagedObjectModel = {
        let item = EntityDescription(
            "Item",
            attributes: [
                .init("key", .string), .init("code", .integer64), .init("value", .integer64),
                .init("text", .string),
            ], uniquenessConstraints: [["key"], ["code"]])
        return ManagedObjectModel(entities: [item])
    }()

    private static func content(_ store: LogStore) throws -> Model {
        let item = try #require(store.schema.entity(named: "Item"))
        let key = try item.column("key", as: String?.self)
        let code = try item.column("code", as: Int64.self)
        let value = try item.column("value", as: Int64.self)
        var model = Model()
        try store.snapshot().read(StoreRead(item)) { row in
            #expect(model.items[row[code]] == nil)
            #expect(row[key] == nil || row[key] == "key \(row[code])")
            model.items[row[code]] = .init(hasKey: row[key] != nil, value: row[value])
        }
        return model
    }

    @Test("Batches leave what a plain table would hold, or nothing of themselves")
    func batches() throws {
        try Rounds.run("random upserts", everyDay: 3, whole: 300) { random in
            let disk = MemoryFileSystem()
            var options = SampleStore.options(on: disk, durability: .relaxed)
            options.sizes.rowsPerBlock = [4, 30, 1024][Int.random(in: 0..<3, using: &random)]
            options.sizes.hashBits = [5, 10, 32].randomElement(using: &random) ?? 32
            if random.oneIn(3) { options.cacheBytes = 0 }
            let schema = try Schema(Self.model)
            var store = try LogStore.open(at: "/store", schema: schema, options: options)
            var model = Model()
            let range = Int64([30, 400, 3000][Int.random(in: 0..<3, using: &random)])
            for round in 0..<25 {
                let count = [1, 3, 17, 90, 1300][Int.random(in: 0..<5, using: &random)]
                let rows = (0..<count).map { _ in
                    Given(
                        code: Int64.random(in: 0..<range, using: &random),
                        hasKey: !random.oneIn(range < 100 ? 20 : 200),
                        value: Int64.random(in: 0..<1000, using: &random))
                }
                let updates = !random.oneIn(4)
                var after = model
                let isGood = rows.allSatisfy { after.take($0, updates: updates) }
                var request = BatchInsertRequest(
                    entityName: "Item", objects: rows.map(\.dictionary))
                request.mergePolicy = updates ? .mergeByPropertyObjectTrump : .error
                request.setOnly = true
                do {
                    _ = try store.execute(request)
                    #expect(isGood)
                    model = after
                } catch {
                    #expect((error as? StoreError)?.code == .constraintConflict)
                    #expect(!isGood)
                }
                if round % 8 == 7 || !isGood { #expect(try Self.content(store) == model) }
                if random.oneIn(10) {
                    try store.close()
                    store = try LogStore.open(at: "/store", schema: schema, options: options)
                }
            }
            #expect(try Self.content(store) == model)
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
    }
}
