// Rows of a batch that no uniqueness constraint gives a key.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Rows without a key")
struct KeylessRowTests {
    private static let model: ManagedObjectModel = {
        let item = EntityDescription(
            "Item",
            attributes: [
                .init("code", .string), .init("part", .integer64), .init("other", .string),
            ],
            uniquenessConstraints: [["code", "part"], ["other"]])
        var child = EntityDescription("Child")
        child.superentityName = "Item"
        let free = EntityDescription("Free", attributes: [.init("code", .string)])
        var ruled = EntityDescription(
            "Ruled", attributes: [.init("code", .string), .init("size", .integer64)])
        ruled.uniquenessRules = [UniquenessRule(["code"], format: "size > 1")]
        var whole = EntityDescription("Whole", attributes: [.init("code", .string)])
        whole.uniquenessRules = [UniquenessRule(["code"], nilsAreEqual: true)]
        return ManagedObjectModel(entities: [item, child, free, ruled, whole])
    }()

    private func open() throws -> LogStore {
        try LogStore.open(
            at: "/store", schema: Schema(Self.model),
            options: SampleStore.options(on: MemoryFileSystem(), durability: .relaxed))
    }

    private func request(
        _ entity: String, _ rows: [[String: Any]], _ rule: MissingKeyRule? = nil,
        _ policy: MergePolicyKind = .mergeByPropertyObjectTrump
    ) -> BatchInsertRequest {
        var request = BatchInsertRequest(entityName: entity, objects: rows)
        request.mergePolicy = policy
        if let rule { request.missingKey = rule }
        return request
    }

    /// Rows 1, 3 and 4 have no key: nil is none, neither is a part of one.
    private static var rows: [[String: Any]] {
        [
            ["code": "a", "part": 1], ["code": "b"], ["other": "c"], ["part": 2], [:],
            ["code": "d", "other": "e"],
        ]
    }

    @Test("are new objects each time unless the request says otherwise, and are counted")
    func inserted() throws {
        let store = try open()
        for entity in ["Item", "Child"] {
            let prefix = entity == "Item" ? "" : "child "
            let rows = Self.rows.map { row in
                row.mapValues { ($0 as? String).map { prefix + $0 } ?? $0 }
            }
            for _ in 0..<2 {
                let result = try store.execute(request(entity, rows))
                #expect(result.keylessCount == 3 && result.keylessRows == [1, 3, 4])
            }
        }
        // Of each of two times three; three that have a key came once.
        #expect(try store.snapshot().count(StoreFetch(entity: 0)) == 18)
    }

    @Test(
        "are left out, or refuse the batch by name, under every policy",
        arguments: [
            MergePolicyKind.mergeByPropertyObjectTrump, .error, .overwrite, .declared, .rollback,
        ])
    func refused(policy: MergePolicyKind) throws {
        let store = try open()
        let skipped = try store.execute(request("Item", Self.rows, .skip, policy))
        #expect(skipped.insertedCount == 3 && skipped.skippedCount == 3)
        #expect(skipped.keylessCount == 3 && skipped.keylessRows == [1, 3, 4])
        let before = try store.snapshot().count(StoreFetch(entity: 0))
        let error = try #require(throws: StoreError.self) {
            _ = try store.execute(request("Item", Self.rows, .fail, policy))
        }
        #expect(error.code == .missingMandatory)
        #expect(error.message.hasPrefix("3 rows have no key"), "\(error.message)")
        #expect(error.context.entity == "Item" && error.context.key == "code, part or other")
        #expect(error.details.map(\.context.row) == [1, 3, 4])
        let one = try #require(throws: StoreError.self) {
            _ = try store.execute(request("Item", [["code": "b"]], .fail, policy))
        }
        #expect(one.context.row == 0 && one.details.isEmpty)
        #expect(try store.snapshot().count(StoreFetch(entity: 0)) == before)
    }

    @Test("are left out among a thousand others, and reported one by one")
    func outcomes() throws {
        let store = try open()
        var request = request(
            "Item", (0..<3000).map { $0 % 100 == 7 ? ["part": $0] : ["code": "x", "part": $0] },
            .skip)
        request.reportsOutcomes = true
        let result = try store.execute(request)
        #expect(result.keylessCount == 30 && result.insertedCount == 2970)
        #expect(result.keylessRows == (0..<10).map { $0 * 100 + 7 })
        #expect(result.outcomes.count == 3000)
        #expect(result.outcomes.indices.filter { result.outcomes[$0] == .skipped }.count == 30)
        #expect(try store.execute(request).unchangedCount == 2970)
    }

    @Test(
        "are those that a constraint's predicate leaves out, and not those of an entity without one"
    )
    func rules() throws {
        let store = try open()
        let free = try store.execute(request("Free", [["code": "a"], [:]], .fail))
        #expect(free.insertedCount == 2 && free.keylessCount == 0)
        let ruled = try store.execute(
            request("Ruled", [["code": "a", "size": 1], ["code": "a", "size": 2]], .skip))
        #expect(ruled.keylessRows == [0] && ruled.insertedCount == 1)
        // Where nil is a value it is a key.
        let whole = try store.execute(request("Whole", [["code": "a"], [:]], .fail))
        #expect(whole.insertedCount == 2 && whole.keylessCount == 0)
    }
}
