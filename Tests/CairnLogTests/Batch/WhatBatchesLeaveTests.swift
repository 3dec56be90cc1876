// What batch requests leave behind where rows are wide, large or lie scattered: full blocks, references to large values, and a
// history that names what has changed and no more.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("What batch requests leave behind")
struct WhatBatchesLeaveTests {
    private static func open(
        _ entity: EntityDescription, on disk: MemoryFileSystem, _ sizes: StoreSizes? = nil,
        tracks: Bool = false
    ) throws -> LogStore {
        var options = options(on: disk, sizes)
        if tracks { options.persistentHistoryTracking = true }
        return try LogStore.open(
            at: "/store", schema: Schema(ManagedObjectModel(entities: [entity])), options: options)
    }

    private static func options(on disk: MemoryFileSystem, _ sizes: StoreSizes?)
        -> LogStoreOptions
    {
        var options = LogStoreOptions()
        options.fileSystem = disk
        if let sizes { options.sizes = sizes }
        return options
    }

    @Test(
        "Wide rows that become narrow are put together, so that no small blocks stay (BL5)",
        arguments: [1, 4], [false, true])
    func narrow(_ threads: Int, _ isIndexed: Bool) throws {
        let disk = MemoryFileSystem()
        var note = EntityDescription(
            "Note", attributes: [.init("serial", .integer64), .init("text", .string)])
        // With a key the thread that commits makes the blocks.
        if isIndexed { note.uniquenessConstraints = [["serial", "text"]] }
        var options = Self.options(on: disk, nil)
        options.scanThreads = threads
        let store = try LogStore.open(
            at: "/store", schema: Schema(ManagedObjectModel(entities: [note])), options: options)
        var random = RandomSource()
        let rows = (0..<6000).map { serial in
            [
                "serial": serial,
                "text": String(decoding: random.bytes(1000).map { 65 + $0 % 50 }, as: UTF8.self),
            ] as [String: Any]
        }
        _ = try store.execute(BatchInsertRequest(entityName: "Note", objects: rows))
        #expect(store.engine.registry.published().blocks.blocks(ofEntity: 0, .full).count > 32)
        var request = BatchUpdateRequest(entityName: "Note")
        request.propertiesToUpdate["text"] = "short"
        #expect(try store.execute(request).updatedCount == rows.count)
        let blocks = store.engine.registry.published().blocks
        #expect(blocks.blocks(ofEntity: 0, .full).count < 12)
        #expect(try store.check().findings.isEmpty)
        try store.close()
        let report = try LogStore.check(at: "/store", options: options)
        #expect(report.findings.isEmpty, "\(report.findings)")
    }

    @Test(
        "Large values that do not change are not written again, and the history does not name them")
    func large() throws {
        var searchBody = AttributeDescription("searchBody", .string)
        searchBody.derivationExpression = "canonical:(body)"
        var note = EntityDescription(
            "Note",
            attributes: [
                .init("code", .integer64), .init("body", .string), .init("flag", .boolean),
                searchBody,
            ], uniquenessConstraints: [["code", "body"]])
        note.indexes = [FetchIndexDescription("byFlag", elements: [.init("flag")])]
        var sizes = StoreSizes()
        sizes.largeValueBytes = 1000
        let store = try Self.open(note, on: MemoryFileSystem(), sizes, tracks: true)
        var random = RandomSource()
        let body = String(random.bytes(20_000).map { Character(UnicodeScalar(97 + $0 % 26)) })
        let rows = (0..<40).map {
            ["code": $0, "body": body + "\($0)", "flag": false] as [String: Any]
        }
        _ = try store.execute(BatchInsertRequest(entityName: "Note", objects: rows))
        var start = store.engine.registry.published().end.lsn
        func written() -> UInt64 {
            let end = store.engine.registry.published().end.lsn
            defer { start = end }
            return end - start
        }
        func properties() throws -> [String] {
            let last = try #require(
                try store.execute(.fetchHistory(after: nil)).transactions.last?.changes)
            return last.groups.flatMap(\.updatedProperties).sorted()
        }
        var request = BatchUpdateRequest(entityName: "Note")
        request.propertiesToUpdate["flag"] = true
        #expect(try store.execute(request).updatedCount == rows.count)
        #expect(try properties() == ["flag"])
        #expect(written() < 20_000)
        // A part of the key beside the large one.
        request.propertiesToUpdate = ["code": .expression(try ExpressionNode(format: "code + 100"))]
        #expect(try store.execute(request).updatedCount == rows.count)
        #expect(try properties() == ["code"])
        #expect(written() < 20_000)
        // What is set to what it is.
        request.propertiesToUpdate = [
            "body": .expression(try ExpressionNode(format: "body")), "flag": false,
        ]
        #expect(try store.execute(request).updatedCount == rows.count)
        #expect(try properties() == ["flag"])
        #expect(written() < 20_000)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("Where all come to one key the others are not blamed")
    func crowd() throws {
        let item = EntityDescription(
            "Item", attributes: [.init("code", .integer64), .init("key", .string)],
            uniquenessConstraints: [["code"], ["key"]])
        let store = try Self.open(item, on: MemoryFileSystem())
        // Rows lie in another order than their codes: most codes belong to somebody who comes later.
        let rows = (0..<5000).map { number in
            ["code": 5000 - number, "key": "\(number)"] as [String: Any]
        }
        _ = try store.execute(BatchInsertRequest(entityName: "Item", objects: rows))
        var request = BatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate = [
            "code": .expression(try ExpressionNode(format: "code + 1")), "key": "one",
        ]
        do throws(StoreError) {
            _ = try store.execute(request)
            Issue.record("it succeeded")
        } catch {
            #expect(error.code == .constraintConflict)
            #expect(error.context.key == "key")
            #expect(error.details.count == 100)
            #expect(error.details.allSatisfy { $0.context.key == "key" })
        }
        try store.close()
    }

    @Test("Rows that lie scattered are updated and deleted as their numbers say, and told so")
    func scattered() throws {
        let item = EntityDescription(
            "Item",
            attributes: [
                .init("code", .integer64), .init("count", .integer64), .init("text", .string),
            ],
            uniquenessConstraints: [["code"]])
        var indexed = item
        indexed.indexes = [FetchIndexDescription("byCount", elements: [.init("count")])]
        var sizes = StoreSizes()
        sizes.rowsPerBlock = 16
        var random = RandomSource()
        let count = 4000
        let store = try Self.open(indexed, on: MemoryFileSystem(), sizes, tracks: true)
        func rows(_ codes: [Int], _ text: String) -> [[String: Any]] {
            codes.map { ["code": $0, "count": $0, "text": text] }
        }
        _ = try store.execute(
            BatchInsertRequest(entityName: "Item", objects: rows(Array(0..<count), "new")))
        // Each row moves to another block, in an order of its own.
        var upsert = BatchInsertRequest(
            entityName: "Item", objects: rows((0..<count).shuffled(using: &random), "old"))
        upsert.mergePolicy = .mergeByPropertyObjectTrump
        #expect(try store.execute(upsert).updatedCount == count)
        var update = BatchUpdateRequest(entityName: "Item")
        update.predicate = try PredicateNode(format: "count < 3000")
        update.propertiesToUpdate = [
            "count": .expression(try ExpressionNode(format: "count + 10000"))
        ]
        #expect(try store.execute(update).updatedCount == 3000)
        let delete = BatchDeleteRequest(
            .fetch(
                StoreFetch(
                    entity: 0,
                    predicate: try PredicateNode(format: "count < 11000 OR count >= 12000"))))
        #expect(try store.execute(delete).deletedCount == count - 1000)
        let transactions = try store.execute(.fetchHistory(after: nil)).transactions
        let told = transactions.compactMap(\.changes).map { changes in
            changes.groups.map { group in
                "\(group.type) \(group.numbers.runs.map { "\($0.lowerBound)-\($0.upperBound)" })"
                    + " \(group.updatedProperties.sorted())"
            }
        }
        #expect(
            told == [
                ["insert [\"1-4000\"] []"], ["update [\"1-4000\"] [\"text\"]"],
                ["update [\"1-3000\"] [\"count\"]"], ["delete [\"1-1000\", \"2001-4000\"] []"],
            ])
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }
}
