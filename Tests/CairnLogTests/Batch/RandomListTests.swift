// Random lists that are all there is within a scope: what they no longer have is deleted or marked.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Random lists")
struct RandomListTests {
    /// What a store should hold, by code.
    private struct Item: Equatable {
        var group: Int64
        var value: Int64
        var isGone: Bool
        /// How often it was written.
        var version: UInt32
    }

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Item",
            attributes: [
                .init("code", .string), .init("group", .integer64), .init("value", .integer64),
                .init("isGone", .boolean, optional: false, default: .boolean(false)),
            ], uniquenessConstraints: [["code"]])
    ])

    private static func content(_ store: LogStore) throws -> [Int64: Item] {
        let item = try #require(store.schema.entity(named: "Item"))
        var fetch = StoreFetch(entity: item.index)
        fetch.includesRows = true
        let result = try store.snapshot().fetch(fetch)
        var items: [Int64: Item] = [:]
        for row in result.rows {
            func value(_ name: String) -> Value {
                row.cells.value(item.columnIndex(named: name) ?? 0, of: item, in: store.identity)
            }
            guard case .string(let code) = value("code"), case .integer(let group) = value("group"),
                case .integer(let number) = value("value"),
                case .boolean(let isGone) = value("isGone"), let key = Int64(code)
            else {
                Issue.record("a row cannot be read")
                continue
            }
            #expect(items[key] == nil)
            items[key] = Item(group: group, value: number, isGone: isGone, version: row.version)
        }
        return items
    }

    @Test("Lists in any order, and rows of other groups, leave what a table would hold")
    func lists() throws {
        try Rounds.run("random lists", everyDay: 2, whole: 200) { random in
            let disk = MemoryFileSystem()
            var options = SampleStore.options(on: disk, durability: .relaxed)
            options.sizes.rowsPerBlock = [4, 30, 1024][Int.random(in: 0..<3, using: &random)]
            options.sizes.hashBits = [5, 10, 32].randomElement(using: &random) ?? 32
            if random.oneIn(3) { options.cacheBytes = 0 }
            let schema = try Schema(Self.model)
            var store = try LogStore.open(at: "/store", schema: schema, options: options)
            var items: [Int64: Item] = [:]
            let range = Int64([20, 300, 3000][Int.random(in: 0..<3, using: &random)])
            for _ in 0..<15 {
                let group = Int64.random(in: 0..<4, using: &random)
                var rows: [(code: Int64, group: Int64, value: Int64)] = []
                let share = Int.random(in: 1..<20, using: &random)
                for code in 0..<range where !random.oneIn(share) {
                    let other = items[code]?.group ?? Int64.random(in: 0..<4, using: &random)
                    if other != group, !random.oneIn(20) { continue }
                    let value = items[code]?.value ?? 0
                    rows.append((code, other, random.oneIn(10) ? value + 1 : value))
                }
                // Mostly in the order in which they were stored, with some pieces moved.
                if random.oneIn(3) { rows.shuffle(using: &random) }
                if random.oneIn(2), rows.count > 3 {
                    rows.swapAt(0, rows.count - 1)
                    rows.append(rows[rows.count / 2])
                }
                let marks = random.oneIn(2)
                let isScoped = !random.oneIn(4)
                var request = BatchInsertRequest(
                    entityName: "Item",
                    objects: rows.map {
                        ["code": "\($0.code)", "group": $0.group, "value": $0.value]
                    })
                request.mergePolicy = .mergeByPropertyObjectTrump
                request.missing = marks ? .mark(["isGone": .boolean(true)]) : .delete
                if isScoped { request.scope = .compare("group", .equal, .integer(group)) }
                request.allowsEmpty = true
                let result = try store.execute(request)

                let before = items
                let named = Set(rows.map(\.code))
                for row in rows {
                    let old = before[row.code]
                    var new = Item(group: row.group, value: row.value, isGone: false, version: 1)
                    if let old {
                        let isChanged =
                            old.group != new.group || old.value != new.value || old.isGone
                        new.version = isChanged ? old.version + 1 : old.version
                    }
                    items[row.code] = new
                }
                var (deleted, marked) = (0, 0)
                for (code, item) in before where !named.contains(code) {
                    if isScoped, item.group != group { continue }
                    if !marks {
                        items[code] = nil
                        deleted += 1
                    } else if !item.isGone {
                        items[code]?.isGone = true
                        items[code]?.version += 1
                        marked += 1
                    }
                }
                #expect(result.deletedCount == deleted)
                #expect(result.markedCount == marked)
                #expect(try Self.content(store) == items)
                if random.oneIn(6) {
                    try store.close()
                    store = try LogStore.open(at: "/store", schema: schema, options: options)
                }
            }
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
    }
}
