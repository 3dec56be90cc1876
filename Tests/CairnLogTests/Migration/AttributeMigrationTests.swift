// Stores follow changes of attributes and entities without a row being written.

import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog
@testable import CairnMigration

@Suite("Migration of attributes and entities")
struct AttributeMigrationTests {
    private typealias Store = MigratedStore

    private static func row(_ index: Int) -> [String: Any] {
        var row: [String: Any] = [
            "code": "c\(index)", "size": index % 100, "ratio": Float(index) / 4,
        ]
        if index % 3 == 0 { row["note"] = "note \(index)" }
        if index % 7 == 0 { row["flag"] = true }
        return row
    }

    private static let first = Store.model(
        Store.entity(
            "Product",
            [
                .init("code", .string), .init("size", .integer16), .init("ratio", .float),
                .init("note", .string), .init("flag", .boolean), .init("old", .date),
            ], unique: [["code"]]))

    /// - Parameter isPatched: whether patches bring what will be widened, and a column without values.
    private static func filled(isPatched: Bool = false) throws -> (
        store: Store, content: Store.Content
    ) {
        let store = Store()
        let content = try store.with(first) { log in
            _ = try log.execute(
                BatchInsertRequest(entityName: "Product", objects: (0..<300).map(row)))
            if isPatched {
                var request = BatchUpdateRequest(entityName: "Product")
                request.propertiesToUpdate["ratio"] = .expression(
                    try ExpressionNode(format: "ratio * 2"))
                request.propertiesToUpdate["note"] = UpdatedValue.value(.null)
                request.predicate = try PredicateNode(format: "size > 20")
                _ = try log.execute(request)
                let (patches, all) = PatchedSample.blocks(log)
                #expect(patches.count > 1 && patches.count < all.count)
            }
            return try Store.content(log)
        }
        return (store, content)
    }

    private static func renamed(_ name: String, _ old: String, _ type: AttributeType)
        -> AttributeDescription
    {
        var attribute = AttributeDescription(name, type)
        attribute.renamingIdentifier = old
        return attribute
    }

    @Test(
        "Attributes are added, removed, renamed, widened and required; objects and ids stay (SC1)",
        arguments: [false, true])
    func everything(isPatched: Bool) throws {
        let (store, before) = try Self.filled(isPatched: isPatched)
        let model = Store.model(
            Store.entity(
                "Article", was: "Product",
                [
                    Self.renamed("key", "code", .string), .init("size", .integer64),
                    .init("ratio", .double),
                    .init("note", .string, optional: false, default: .string("none")),
                    .init("flag", .integer32),
                    .init("price", .double, default: .double(9.5)), .init("tag", .uuid),
                    .init("added", .decimal, default: .decimal(Decimal(string: "1.25")!)),
                ], unique: [["key"]]))
        let report = try store.migrate(to: model)
        #expect(report.plan.cost == .metadata && report.commit != nil)
        let expected = (before["Product"] ?? [:]).mapValues { old in
            var new: [String: Value] = [:]
            new["key"] = old["code"]
            new["size"] = old["size"]
            if case .float(let ratio) = old["ratio"] { new["ratio"] = .double(Double(ratio)) }
            new["note"] = old["note"] == .null ? .string("none") : old["note"]
            new["flag"] = old["flag"] == .boolean(true) ? .integer(1) : .null
            new["price"] = .double(9.5)
            new["tag"] = .null
            new["added"] = .decimal(Decimal(string: "1.25")!)
            return new
        }
        #expect(expected.count == 300)
        _ = try store.check(["Article": expected], model)
        // The old model is that of nobody any more.
        #expect(throws: StoreError.self) { try store.open(Self.first) }
    }

    @Test("Rows that are written after a migration lie beside those from before")
    func mixed() throws {
        let (store, _) = try Self.filled()
        let model = Store.model(
            Store.entity(
                "Product",
                [
                    .init("code", .string), .init("size", .integer32),
                    .init("ratio", .double),
                    .init("note", .string, optional: false, default: .string("-")),
                    .init("price", .integer64, default: .integer(7)),
                ], unique: [["code"]]))
        try store.migrate(to: model)
        let content = try store.with(model) { log in
            var request = BatchInsertRequest(
                entityName: "Product",
                objects: (250..<350).map { ["code": "c\($0)", "price": $0, "note": "new"] })
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.setOnly = true
            let result = try log.execute(request)
            #expect(result.updatedCount == 50 && result.insertedCount == 50)
            var update = BatchUpdateRequest(entityName: "Product")
            update.predicate = try PredicateNode(format: "size < 10")
            update.propertiesToUpdate = ["ratio": .value(.double(0.125))]
            _ = try log.execute(update)
            return try Store.content(log)
        }
        let product = try #require(content["Product"])
        #expect(product.count == 350)
        #expect(product.values.count { $0["price"] == .integer(7) } == 250)
        #expect(product.values.count { $0["note"] == .string("-") } == 166)
        #expect(try store.check(content, model) == content)
    }

    @Test("Predicates, indexes and groups see what stands for what older blocks lack")
    func queries() throws {
        let (store, _) = try Self.filled()
        var entity = Store.entity(
            "Product",
            [
                .init("code", .string), .init("size", .integer16), .init("ratio", .double),
                .init("note", .string, optional: false, default: .string("none")),
                .init("price", .double, default: .double(9.5)),
            ], unique: [["code"]])
        entity.indexes = [
            FetchIndexDescription("byNote", elements: [.init("note"), .init("ratio")])
        ]
        let model = Store.model(entity)
        try store.migrate(to: model)
        try store.with(model) { log in
            let snapshot = try log.snapshot()
            func count(_ format: String) throws -> Int {
                var fetch = StoreFetch(entity: 0)
                fetch.predicate = try PredicateNode(format: format)
                return try snapshot.count(fetch)
            }
            #expect(try count("note == 'none'") == 200)
            #expect(try count("price == 9.5") == 300 && count("price == NULL") == 0)
            #expect(try count("ratio > 74.5") == 1)
            #expect(try count("note == 'none' AND ratio < 1") == 2)
            #expect(try count("note BEGINSWITH 'note' OR price < 1") == 100)
        }
    }

    @Test("A chain of versions: what nil meant when an attribute became required stays")
    func chain() throws {
        func model(_ attribute: AttributeDescription) -> ManagedObjectModel {
            Store.model(Store.entity("A", [.init("x", .integer16), attribute]))
        }
        func n(_ value: Int64?, optional: Bool, _ type: AttributeType = .integer16)
            -> AttributeDescription
        {
            .init("n", type, optional: optional, default: value.map { .integer($0) } ?? .null)
        }
        let models = [
            Store.model(Store.entity("A", [.init("x", .integer16)])),
            model(n(7, optional: true)), model(n(8, optional: true)), model(n(9, optional: false)),
            model(n(1, optional: true, .integer64)), model(n(2, optional: false, .integer64)),
        ]
        let store = Store()
        var expected: [Int64: Int64] = [:]
        for (version, model) in models.enumerated() {
            if version > 0 { try store.migrate(to: model) }
            try store.with(model) { log in
                var rows: [[String: Any]] = [["x": version * 2]]
                rows.append(["x": version * 2 + 1])
                if version > 0 {
                    // One with the default, and one without a value where there may be none.
                    rows[1]["n"] = version == 3 || version == 5 ? 5 : NSNull()
                }
                _ = try log.execute(BatchInsertRequest(entityName: "A", objects: rows))
            }
        }
        expected = [
            0: 7, 1: 7, 2: 7, 3: 9, 4: 8, 5: 9, 6: 9, 7: 5, 8: 1, 9: 2, 10: 2, 11: 5,
        ]
        let content = try store.check(nil, models[5])
        let found = try #require(content["A"]).values.map { ($0["x"], $0["n"]) }
        #expect(found.count == expected.count)
        for (x, n) in found {
            guard case .integer(let x) = x else { continue }
            #expect(n == expected[x].map { .integer($0) }, "x = \(x)")
        }
    }

    @Test("Values of a required text, of bytes and of a UUID stand for nil, beside large ones")
    func fillings() throws {
        let id = UUID()
        let old = Store.model(
            Store.entity(
                "A",
                [
                    .init("x", .integer16), .init("text", .string), .init("data", .binary),
                    .init("id", .uuid), .init("when", .date),
                ]))
        func required(_ name: String, _ type: AttributeType, _ value: Value) -> AttributeDescription
        {
            .init(name, type, optional: false, default: value)
        }
        let new = Store.model(
            Store.entity(
                "A",
                [
                    .init("x", .integer16), required("text", .string, .string("fill")),
                    required("data", .binary, .binary(Data([1, 2, 3]))),
                    required("id", .uuid, .uuid(id)),
                    required("when", .date, .date(Date(timeIntervalSinceReferenceDate: 5))),
                ]))
        let store = Store()
        let large = String(repeating: "large ", count: 2_000)
        let before = try store.with(old) { log in
            _ = try log.execute(
                BatchInsertRequest(
                    entityName: "A",
                    objects: (0..<80).map { index in
                        var row: [String: Any] = ["x": index]
                        if index % 2 == 0 { row["text"] = index % 8 == 0 ? large : "t\(index)" }
                        if index % 3 == 0 { row["data"] = Data([UInt8(index)]) }
                        if index % 5 == 0 { row["id"] = UUID() }
                        if index % 7 == 0 {
                            row["when"] = Date(timeIntervalSinceReferenceDate: Double(index))
                        }
                        return row
                    }))
            return try Store.content(log)
        }
        try store.migrate(to: new)
        let expected = (before["A"] ?? [:]).mapValues { row in
            var row = row
            if row["text"] == .null { row["text"] = .string("fill") }
            if row["data"] == .null { row["data"] = .binary(Data([1, 2, 3])) }
            if row["id"] == .null { row["id"] = .uuid(id) }
            if row["when"] == .null {
                row["when"] = .date(Date(timeIntervalSinceReferenceDate: 5))
            }
            return row
        }
        _ = try store.check(["A": expected], new)
    }

    @Test("Objects of an entity that goes leave with it, and what led to them leads nowhere")
    func removedEntity() throws {
        let old = Store.model(
            Store.entity("Thing", [.init("n", .integer16)]),
            Store.entity("Tool", under: "Thing", [.init("use", .string)]),
            Store.entity("Box", [.init("n", .integer16)], [.init("content", to: "Thing")]),
            Store.entity("Gone", [.init("n", .integer16)]))
        let new = Store.model(
            Store.entity("Box", [.init("n", .integer16)], [.init("content", to: "Thing")]),
            Store.entity("Thing", [.init("n", .integer16)]))
        let store = Store()
        let before = try store.with(old) { log in
            for name in ["Gone", "Thing"] {
                _ = try log.execute(
                    BatchInsertRequest(
                        entityName: name, objects: (0..<100).map { ["n": $0] }))
            }
            var tools = BatchInsertRequest(
                entityName: "Tool", objects: (0..<100).map { ["n": $0, "use": "u\($0)"] })
            tools.resultType = .objectIDs
            let ids = try log.execute(tools).objectIDs
            let thing = try #require(log.schema.entity(named: "Thing"))
            let things = try log.snapshot().fetch(StoreFetch(entity: thing.index)).ids
            #expect(things.count == 200)
            _ = try log.execute(
                BatchInsertRequest(
                    entityName: "Box",
                    objects: things.enumerated().map { ["n": $0, "content": $1] }))
            #expect(ids.count == 100)
            return try Store.content(log)
        }
        let report = try store.migrate(to: new)
        #expect(report.removedObjects == ["Gone": 100, "Tool": 100])
        let things = try #require(before["Thing"])
        let boxes = try #require(before["Box"]).mapValues { box in
            var box = box
            if case .integer(let number) = box["content"], things[UInt64(number)] == nil {
                box["content"] = .null
            }
            return box
        }
        #expect(boxes.values.count { $0["content"] == .null } == 100)
        _ = try store.check(["Thing": things, "Box": boxes], new)
    }

    @Test("A store is found whole when compaction has moved the schema in force past an older one")
    func movedSchema() throws {
        let product = Store.entity("Product", [.init("code", .string), .init("text", .string)])
        let old = Store.model(product, Store.entity("Gone", [.init("n", .integer16)]))
        let new = Store.model(product, Store.entity("Fresh", [.init("n", .integer16)]))
        let store = Store()
        var before = Store.Content()
        try store.with(old) { log in
            _ = try log.execute(
                BatchInsertRequest(
                    entityName: "Product",
                    objects: (0..<200).map {
                        ["code": "\($0)", "text": String(repeating: "\($0 &* 7_919) ", count: 60)]
                    }))
            _ = try log.execute(
                BatchInsertRequest(entityName: "Gone", objects: (0..<9).map { ["n": $0] }))
        }
        try store.migrate(to: new)
        try store.with(new) { log in
            _ = try log.execute(BatchInsertRequest(entityName: "Fresh", objects: [["n": 1]]))
            before = try Store.content(log)
            let schema = log.engine.registry.read { $0.catalog.place.segment }
            try log.engine.rollSegment()
            let run = try CompactionRun(log.engine, victims: [schema])
            while case .moved = try run.step() {}
            run.end()
            // Segment 1 stays, and with it the schema that it began with.
            let segments = log.engine.registry.published().segments
            #expect(schema > 1 && segments[schema] == nil && segments[1] != nil)
            #expect(segments.sides.count == 1)
        }
        let report = try LogStore.check(at: "/store", depth: .all, options: store.options)
        #expect(report.findings.isEmpty)
        #expect(try store.with(new) { try Store.content($0) } == before)
    }

    @Test("A store that is of the new model already stays as it is (B151)")
    func nothing() throws {
        let (store, before) = try Self.filled()
        #expect(try store.migrate(to: Self.first).commit == nil)
        _ = try store.check(before, Self.first)
    }

    @Test("What needs a mapping is refused, with each reason, and the store stays as it is")
    func refused() throws {
        let (store, before) = try Self.filled()
        let model = Store.model(
            Store.entity("Product", [.init("code", .string), .init("size", .string)]))
        do {
            try store.migrate(to: model)
            Issue.record("a text was made of a number")
        } catch let error as StoreError {
            #expect(error.code == .cannotInferMapping)
            #expect(error.details.map(\.context.key) == ["size"])
        }
        _ = try store.check(before, Self.first)
    }
}
