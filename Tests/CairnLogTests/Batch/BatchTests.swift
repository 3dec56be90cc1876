// Batches where the rows they meet lie in blocks of every level, or have values that are kept apart.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Batches and what is stored")
struct BatchTests {
    private static func open(_ model: ManagedObjectModel, on disk: any FileSystem) throws
        -> LogStore
    {
        try LogStore.open(
            at: "/store", schema: try Schema(model),
            options: SampleStore.options(on: disk, durability: .relaxed))
    }

    private static func upsert(
        _ rows: [[String: Any]], entity: String = "Item",
        _ change: (inout BatchInsertRequest) -> Void = { _ in }
    ) -> BatchInsertRequest {
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = .mergeByPropertyObjectTrump
        change(&request)
        return request
    }

    @Test("Pruning finds what no row names in blocks of every level")
    func pruning() throws {
        let store = try Self.open(CommittersTests.model, on: MemoryFileSystem())
        func rows(_ numbers: some Sequence<Int>) -> [[String: Any]] {
            numbers.map { ["key": "key \($0)", "value": $0] }
        }
        _ = try store.execute(Self.upsert(rows(0..<1500)))
        _ = try store.execute(Self.upsert(rows(1500..<1600)))
        _ = try store.execute(Self.upsert(rows(1600..<1603)))
        let state = store.engine.registry.published()
        for level in BlockLevel.allCases { #expect(state.blocks.count(ofEntity: 0, level) > 0) }
        let result = try store.execute(
            Self.upsert(rows([0, 1500, 1600])) { $0.prunesMissing = true })
        #expect(result.deletedCount == 1600)
        #expect(
            try CommittersTests.content(store) == ["key 0": 0, "key 1500": 1500, "key 1600": 1600])
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("Clearing what points at an object writes whole blocks, and large values not again")
    func clearing() throws {
        var item = EntityDescription(
            "Item", attributes: [.init("number", .integer64), .init("text", .string)])
        item.relationships = [RelationshipDescription("box", to: "Box", inverse: "items")]
        var box = EntityDescription("Box", attributes: [.init("name", .string)])
        box.relationships = [
            RelationshipDescription("items", to: "Item", toMany: true, inverse: "box")
        ]
        let store = try Self.open(
            ManagedObjectModel(entities: [item, box]), on: MemoryFileSystem())
        func temporary(_ number: Int, _ entity: Int) -> ObjectID {
            ObjectID(
                temporary: UInt64(number), hierarchy: store.identity.hierarchies[entity],
                context: store.identity.identifier)
        }
        let long = String(repeating: "long ", count: 20_000)
        var request = SaveRequest()
        request.inserted.append(
            .init(id: temporary(1, 1), entity: 1, values: [.string("box")], assigned: [0]))
        for number in 0..<2500 {
            request.inserted.append(
                .init(
                    id: temporary(2 + number, 0), entity: 0,
                    values: [
                        .integer(Int64(number)), number == 7 ? .string(long) : .null,
                        .objectID(temporary(1, 1)),
                    ], assigned: [0, 1, 2]))
        }
        guard case .saved(let saved) = try store.save(request),
            let id = saved.permanentIDs[temporary(1, 1)]
        else {
            Issue.record("the save has conflicts")
            return
        }
        let before = store.engine.registry.published().end.lsn
        let result = try store.execute(BatchDeleteRequest(.ids([id], entity: 1)))
        #expect(result.deletedCount == 1)
        let state = store.engine.registry.published()
        #expect(state.blocks.count(ofEntity: 0, .full) == 2)
        #expect(state.end.lsn - before < 20_000)
        let snapshot = try store.snapshot()
        #expect(
            try snapshot.count(StoreFetch(entity: 0, predicate: .compare("box", .equal, .null)))
                == 2500)
        #expect(
            try snapshot.count(
                StoreFetch(entity: 0, predicate: .compare("text", .equal, .string(long))))
                == 1)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("A count has the limits of a fetch, whatever they are")
    func limits() throws {
        let store = try Self.open(CommittersTests.model, on: MemoryFileSystem())
        _ = try store.execute(Self.upsert((0..<10).map { ["key": "\($0)", "value": $0] }))
        let snapshot = try store.snapshot()
        for offset in [Int.min, -1, 0, 3, 10, 11, .max] {
            for limit in [nil, Int.min, -1, 0, 4, 10, .max] {
                var fetch = StoreFetch(entity: 0)
                fetch.offset = offset
                fetch.limit = limit
                #expect(try snapshot.count(fetch) == snapshot.fetch(fetch).ids.count)
            }
        }
        try store.close()
    }

    static let twoKeys = ManagedObjectModel(entities: [
        EntityDescription(
            "Item",
            attributes: [
                .init("code", .string, optional: false), .init("text", .string),
                .init("value", .integer64),
            ], uniquenessConstraints: [["code"], ["text"]])
    ])

    @Test("A key that is kept apart stays a key when a batch leaves it alone")
    func largeKeys() throws {
        let disk = MemoryFileSystem()
        var store = try Self.open(Self.twoKeys, on: disk)
        let long = String(repeating: "long ", count: 2000)
        _ = try store.execute(Self.upsert([["code": "a", "text": long + "a", "value": 1]]))
        for value in 2..<5 {
            _ = try store.execute(
                Self.upsert([["code": "a", "value": value], ["code": "a", "value": value + 10]]) {
                    $0.setOnly = true
                })
            #expect(try store.check().findings.isEmpty)
        }
        let fetch = StoreFetch(entity: 0, predicate: .compare("text", .equal, .string(long + "a")))
        #expect(try store.snapshot().count(fetch) == 1)
        let error = #expect(throws: StoreError.self) {
            try store.execute(Self.upsert([["code": "b", "text": long + "a"]]))
        }
        #expect(error?.code == .constraintConflict)
        try store.close()
        store = try Self.open(Self.twoKeys, on: disk)
        #expect(try store.snapshot().count(fetch) == 1)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test(
        "A row for an object of a descendant looks at the rows before it that are not written yet")
    func descendants() throws {
        var child = EntityDescription("Child", attributes: [.init("more", .string)])
        child.superentityName = "Item"
        let store = try Self.open(
            ManagedObjectModel(entities: Self.twoKeys.entities + [child]), on: MemoryFileSystem())
        _ = try store.execute(
            Self.upsert([["code": "c", "text": "old", "more": "m"]], entity: "Child"))
        // The key that the first row takes and gives up again is the child's in the end.
        let result = try store.execute(
            Self.upsert([
                ["code": "a", "text": "t"], ["code": "c", "text": "t"], ["code": "a", "text": "u"],
            ]))
        #expect(result.insertedCount == 1 && result.updatedCount == 2)
        #expect(try store.check().findings.isEmpty)
        let fetch = StoreFetch(entity: 0, predicate: .compare("text", .equal, .string("t")))
        #expect(try store.snapshot().count(fetch) == 1)
        let error = #expect(throws: StoreError.self) {
            try store.execute(
                Self.upsert([["code": "b", "text": "new"], ["code": "c", "text": "new"]]))
        }
        #expect(error?.code == .constraintConflict)
        try store.close()
    }
}
