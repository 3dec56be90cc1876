// Lists in which several rows are about one object: what they come to counts, not how they come to it.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Rows of one object that come to what is stored")
struct RestatedRowTests {
    private static let model: ManagedObjectModel = {
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("code", .string), .init("value", .integer64), .init("name", .string),
                .init("large", .string),
            ], uniquenessConstraints: [["code"]])
        item.attributes[3].derivationExpression = "uppercase:(name)"
        item.relationships = [RelationshipDescription("parent", to: "Item", inverse: "children")]
        item.relationships.append(
            RelationshipDescription("children", to: "Item", toMany: true, inverse: "parent"))
        var child = EntityDescription("Child", attributes: [.init("extra", .string)])
        child.superentityName = "Item"
        return ManagedObjectModel(entities: [item, child])
    }()

    private func open(rowsPerBlock: Int = 1024, hashBits: Int = 32, stagingBytes: Int? = nil)
        throws -> LogStore
    {
        var options = SampleStore.options(on: MemoryFileSystem(), durability: .relaxed)
        options.sizes.rowsPerBlock = rowsPerBlock
        options.sizes.hashBits = hashBits
        if let stagingBytes { options.sizes.stagingBytes = stagingBytes }
        return try LogStore.open(at: "/store", schema: Schema(Self.model), options: options)
    }

    private func request(
        _ rows: [[String: Any]], _ policy: MergePolicyKind = .mergeByPropertyObjectTrump,
        setOnly: Bool = false
    ) -> BatchInsertRequest {
        var request = BatchInsertRequest(entityName: "Item", objects: rows)
        request.mergePolicy = policy
        request.setOnly = setOnly
        request.reportsRepeats = true
        return request
    }

    /// All values of all objects, by code.
    private func content(_ store: LogStore) throws -> [String: [String]] {
        let item = try #require(store.schema.entity(named: "Item"))
        var fetch = StoreFetch(entity: item.index)
        fetch.includesRows = true
        var content: [String: [String]] = [:]
        for row in try store.snapshot().fetch(fetch).rows {
            let values = item.columns.indices.map {
                row.cells.value($0, of: item, in: store.identity)
            }
            content["\(values[0])"] = values.map { "\($0)" } + ["\(row.version)"]
        }
        return content
    }

    @Test(
        "The second time a list with a key twice changes nothing, whatever the policy",
        arguments: [
            MergePolicyKind.mergeByPropertyObjectTrump, .overwrite, .error, .rollback, .declared,
            .mergeByPropertyStoreTrump,
        ])
    func twice(policy: MergePolicyKind) throws {
        for setOnly in [false, true] {
            for rowsPerBlock in [1, 3, 1024] {
                let store = try open(rowsPerBlock: rowsPerBlock)
                let rows: [[String: Any]] = [
                    ["code": "a", "value": 1, "name": "one"], ["code": "b", "value": 5],
                    ["code": "a", "value": 2], ["code": "c", "parent": "a"],
                    ["code": "a", "value": 3, "name": "three"], ["code": "c", "parent": "b"],
                    ["code": "b", "value": 5],
                ]
                let first = try store.execute(request(rows, policy, setOnly: setOnly))
                #expect(first.insertedCount == 3 && first.commit != nil)
                #expect(first.repeatedCount == 4 && first.repeatedRows == [2, 4, 5, 6])
                let before = try content(store)
                let second = try store.execute(request(rows, policy, setOnly: setOnly))
                #expect(second.commit == nil, "\(policy), set only: \(setOnly)")
                #expect(second.updatedCount == 0 && second.insertedCount == 0)
                #expect(second.unchangedCount + second.skippedCount == rows.count)
                #expect(second.repeatedCount == 4 && second.repeatedRows == [2, 4, 5, 6])
                #expect(try content(store) == before)
                // What is different still changes, and what only passes through a value does not.
                let more = rows + [["code": "d", "value": 1]]
                let third = try store.execute(request(more, policy, setOnly: setOnly))
                #expect(third.insertedCount == 1 && third.updatedCount == 0)
                #expect(try content(store).filter { $0.key != "\"d\"" } == before)
                #expect(try store.check().findings.isEmpty)
                try store.close()
            }
        }
    }

    @Test(
        "The first ten rows about an object of an earlier one are listed, whether they change it or not"
    )
    func firstRepeated() throws {
        let store = try open()
        let rows: [[String: Any]] = (0..<32).map { ["code": "c\($0)", "value": $0] }
        _ = try store.execute(request(rows))
        // Of those that are looked at together the last say what is stored.
        let again: [[String: Any]] = (0..<32).map {
            ["code": "c\($0)", "value": $0 < 10 ? $0 + 100 : $0]
        }
        let result = try store.execute(request(rows + again))
        #expect(result.updatedCount == 10 && result.repeatedCount == 32)
        #expect(result.repeatedRows == Array(32..<42))
        try store.close()
    }

    @Test("Each form of rows that can be given again is folded: collections of encodable values")
    func encodable() throws {
        struct Item: Encodable { let code: String, value: Int }
        let store = try open()
        var request = BatchInsertRequest(
            entityName: "Item",
            encodable: [Item(code: "a", value: 1), Item(code: "a", value: 2)])
        request.mergePolicy = .overwrite
        #expect(try store.execute(request).commit != nil)
        #expect(try store.execute(request).commit == nil)
        try store.close()
    }

    @Test("Rows are folded also if the first one fills the memory for rows that wait")
    func large() throws {
        let store = try open(stagingBytes: 1)
        let text = String(repeating: "x", count: 5 << 20)
        let rows: [[String: Any]] = [["code": "a", "name": text], ["code": "a", "name": "y"]]
        #expect(try store.execute(request(rows)).commit != nil)
        #expect(try store.execute(request(rows)).commit == nil)
        try store.close()
    }

    @Test("An object of a descendant is folded as one of the entity itself")
    func descendants() throws {
        let store = try open()
        var children = BatchInsertRequest(
            entityName: "Child", objects: [["code": "a", "value": 2, "extra": "x"]])
        children.mergePolicy = .overwrite
        _ = try store.execute(children)
        let rows: [[String: Any]] = [["code": "a", "value": 1], ["code": "a", "value": 2]]
        let result = try store.execute(request(rows, setOnly: true))
        #expect(result.commit == nil && result.unchangedCount == 2)
        try store.close()
    }

    @Test(
        "Random lists with keys twice leave what a dictionary would hold, and then change nothing")
    func random() throws {
        try Rounds.run("restated rows", everyDay: 10, whole: 1000) { random in
            let store = try open(
                rowsPerBlock: [1, 4, 30, 1024].randomElement(using: &random) ?? 1024,
                hashBits: [5, 32].randomElement(using: &random) ?? 32)
            let codes = [5, 40, 200].randomElement(using: &random) ?? 5
            var values: [String: Int] = [:]
            for _ in 0..<6 {
                let rows = (0..<Int.random(in: 0..<codes * 2, using: &random)).map { _ in
                    (
                        code: "\(Int.random(in: 0..<codes, using: &random))",
                        value: Int.random(in: 0..<4, using: &random)
                    )
                }
                let dictionaries = rows.map {
                    ["code": $0.code, "value": $0.value] as [String: Any]
                }
                let before = values
                for row in rows { values[row.code] = row.value }
                let first = try store.execute(request(dictionaries))
                #expect((first.commit == nil) == (before == values))
                let known = try content(store)
                #expect(
                    known.mapValues { $0[1] }
                        == Dictionary(
                            uniqueKeysWithValues: values.map { ("\"\($0.key)\"", "\($0.value)") }))
                let again = try store.execute(request(dictionaries))
                #expect(again.commit == nil && again.unchangedCount == rows.count)
                #expect(again.repeatedCount == rows.count - Set(rows.map(\.code)).count)
                #expect(first.repeatedCount == again.repeatedCount)
                #expect(try content(store) == known)
            }
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
    }
}
