// Batch updates of whole blocks, by one thread and by several, held against the same updates row by row.
//
// Three stores get the same rows and the same requests by the same random numbers: one in which several threads make blocks
// anew, one in which the thread that commits is alone, and one whose fetch indexes let every row be written by itself. After
// each step all of them must hold the same, versions and history too.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Blocks that a batch update writes anew")
struct RewrittenBlocksTests {
    private static func model(isIndexed: Bool) -> ManagedObjectModel {
        let attributes: [AttributeDescription] = [
            .init("serial", .integer64), .init("small", .integer16), .init("count", .integer64),
            .init("price", .double), .init("since", .date), .init("text", .string),
            .init("plan", .binary), .init("mark", .uuid),
            .init("flag", .boolean, optional: false, default: .boolean(false)),
        ]
        var item = EntityDescription(
            "Item", attributes: attributes, uniquenessConstraints: [["serial"]])
        if isIndexed {
            for name in ["small", "count", "price", "since", "text", "flag"] {
                item.indexes.append(FetchIndexDescription("by_\(name)", elements: [.init(name)]))
            }
        }
        var special = EntityDescription("Special", attributes: [.init("extra", .integer32)])
        special.superentityName = "Item"
        return ManagedObjectModel(entities: [item, special])
    }

    /// One of the stores, which can be opened again.
    private final class Subject {
        let schema: Schema
        let options: LogStoreOptions
        private(set) var store: LogStore

        init(threads: Int, isIndexed: Bool, _ sizes: StoreSizes, cache: Int) throws {
            schema = try Schema(model(isIndexed: isIndexed))
            var options = LogStoreOptions()
            options.fileSystem = MemoryFileSystem()
            options.durability = threads > 1 ? .full : .relaxed
            options.persistentHistoryTracking = true
            options.scanThreads = threads
            options.sizes = sizes
            options.cacheBytes = cache
            self.options = options
            store = try LogStore.open(at: "/store", schema: schema, options: options)
        }

        func reopen() throws {
            try store.close()
            store = try LogStore.open(at: "/store", schema: schema, options: options)
        }

        /// Everything that is stored, a line for each object.
        func lines() throws -> [String] {
            var fetch = StoreFetch(entity: try #require(schema.entity(named: "Item")).index)
            fetch.includesRows = true
            let snapshot = try store.snapshot()
            return try snapshot.fetch(fetch).rows.map { row in
                let entity = schema.entities[row.entity]
                let values = entity.columns.indices.map {
                    "\(row.cells.value($0, of: entity, in: snapshot.identity))"
                }
                return "\(row.id.reference) \(entity.name) v\(row.version) "
                    + values.joined(separator: " ")
            }.sorted()
        }
    }

    private static func row(_ serial: Int, _ random: inout RandomSource) -> [String: Any] {
        var row: [String: Any] = ["serial": serial, "flag": random.oneIn(2)]
        let number = Int.random(in: 0..<50, using: &random)
        if !random.oneIn(5) { row["small"] = number }
        if !random.oneIn(9) { row["count"] = serial * 1_000_003 }
        if !random.oneIn(9) { row["price"] = Double(number) / 4 }
        if random.oneIn(2) { row["since"] = Date(timeIntervalSinceReferenceDate: Double(serial)) }
        if !random.oneIn(3) {
            row["text"] = String(repeating: "text \(number) ", count: random.oneIn(6) ? 20 : 1)
        }
        if random.oneIn(4) { row["plan"] = Data(random.bytes(number * 3)) }
        if random.oneIn(3) {
            row["mark"] = UUID(
                uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number)))
        }
        return row
    }

    private static let conditions = [
        nil, nil, nil, "small != nil", "small < 40", "price >= 0", "count > 0 AND flag == YES",
        "serial > 100", "small IN {1, 2, 3}", "since != nil",
    ]

    /// By property, what it may become.
    private static let changes: [String: [String]] = [
        "small": ["small + 1", "small * 2", "9", "nil", "count"],
        "count": ["count + small", "0 - count", "count * 3", "7", "nil"],
        "price": ["price * 1.01", "price + small", "count * 0.5", "2.25", "nil"],
        "since": ["nil", "since"], "text": ["'other'", "nil", "uppercase:(text)"],
        "flag": ["YES", "NO"],
    ]

    private static func value(_ text: String) throws -> UpdatedValue {
        switch text {
        case "nil": nil
        case "YES": true
        case "NO": false
        default: .expression(try ExpressionNode(format: text))
        }
    }

    private static func request(_ random: inout RandomSource) throws -> BatchUpdateRequest {
        var request = BatchUpdateRequest(entityName: random.oneIn(6) ? "Special" : "Item")
        request.predicate = try conditions.randomElement(using: &random)?.map {
            try PredicateNode(format: $0)
        }
        request.includesSubentities = !random.oneIn(4)
        let names = changes.keys.sorted()
        for _ in 0...(random.oneIn(3) ? 1 : 0) {
            let name = names.randomElement(using: &random) ?? "price"
            request.propertiesToUpdate[name] = try value(
                changes[name]?.randomElement(using: &random) ?? "nil")
        }
        request.resultType = random.oneIn(2) ? .objectIDs : .count
        return request
    }

    private static func outcome(_ subject: Subject, _ request: BatchUpdateRequest) -> String {
        do throws(StoreError) {
            let result = try subject.store.execute(request)
            let ids = result.objectIDs.map { "\($0.reference)" }.joined(separator: ",")
            return "\(result.updatedCount) and \(result.unchangedCount): \(ids)"
        } catch {
            return "\(error.code)"
        }
    }

    @Test("They hold what rows written one by one hold, whoever makes them")
    func random() throws {
        try Rounds.run("blocks written anew", everyDay: 1, whole: 400) { random in
            var sizes = StoreSizes()
            sizes.rowsPerBlock = [4, 16, 64].randomElement(using: &random) ?? 16
            sizes.hashBits = [5, 10, 32].randomElement(using: &random) ?? 32
            sizes.writeBufferBytes = [256, 4096, 4 << 20].randomElement(using: &random) ?? 256
            if random.oneIn(2) { sizes.largeValueBytes = 60 }
            let cache = random.oneIn(3) ? 0 : 1 << 20
            let subjects = try [
                Subject(threads: 4, isIndexed: false, sizes, cache: cache),
                Subject(threads: 1, isIndexed: false, sizes, cache: cache),
                Subject(threads: 1, isIndexed: true, sizes, cache: cache),
            ]
            var serial = 0
            for _ in 0..<12 {
                let step = Int.random(in: 0..<10, using: &random)
                if step < 2 || serial == 0 {
                    let count = [30, 300].randomElement(using: &random) ?? 30
                    let rows = (0..<count).map { Self.row(serial + $0, &random) }
                    serial += count
                    let entity = random.oneIn(3) ? "Special" : "Item"
                    for subject in subjects {
                        _ = try subject.store.execute(
                            BatchInsertRequest(entityName: entity, objects: rows))
                    }
                } else if step == 2 {
                    let first = Int.random(in: 0..<serial, using: &random)
                    let part = PredicateNode.and([
                        .compare("serial", .greaterOrEqual, .integer(Int64(first))),
                        .compare("serial", .less, .integer(Int64(first + 20))),
                    ])
                    for subject in subjects {
                        let entity = try #require(subject.schema.entity(named: "Item")).index
                        _ = try subject.store.execute(
                            BatchDeleteRequest(.fetch(StoreFetch(entity: entity, predicate: part))))
                    }
                } else {
                    let request = try Self.request(&random)
                    let outcomes = subjects.map { Self.outcome($0, request) }
                    #expect(outcomes[0] == outcomes[2], "\(request.propertiesToUpdate)")
                    #expect(outcomes[1] == outcomes[2], "\(request.propertiesToUpdate)")
                }
                if random.oneIn(5) { for subject in subjects { try subject.reopen() } }
                if random.oneIn(6) { for subject in subjects { _ = try subject.store.compact() } }
                let expected = try subjects[2].lines()
                #expect(try subjects[0].lines() == expected)
                #expect(try subjects[1].lines() == expected)
            }
            for subject in subjects { try subject.reopen() }
            let history = try HistoryText.lines(subjects[2].store)
            for subject in subjects {
                #expect(try HistoryText.lines(subject.store) == history)
                #expect(try subject.store.check().findings.isEmpty)
                try subject.store.close()
            }
        }
    }

    @Test("What does not change is copied as it is encoded, and large values are not written again")
    func copying() throws {
        var sizes = StoreSizes()
        sizes.rowsPerBlock = 64
        sizes.largeValueBytes = 1000
        let subject = try Subject(threads: 4, isIndexed: false, sizes, cache: 1 << 20)
        var random = RandomSource()
        var rows: [[String: Any]] = []
        for serial in 0..<64 * 40 {
            var row: [String: Any] = ["serial": serial]
            row["price"] = Double(serial + 1)
            row["text"] = "text \(serial)"
            let length = serial.isMultiple(of: 256) ? 5000 : 4
            row["plan"] = Data(random.bytes(length))
            rows.append(row)
        }
        _ = try subject.store.execute(BatchInsertRequest(entityName: "Item", objects: rows))
        let before = subject.store.engine.registry.published()
        var slices: [[UInt32]] = []
        try Self.eachBlock(subject.store) { slices.append($0.head.columns.map(\.checksum)) }
        var request = BatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate["price"] = .expression(try ExpressionNode(format: "price * 1.5"))
        let result = try subject.store.execute(request)
        #expect(result.updatedCount == rows.count)
        let after = subject.store.engine.registry.published()
        #expect(after.blocks.count == before.blocks.count)
        // Ten values of 5,000 bytes that cannot be compressed would be more than that alone.
        #expect(after.end.lsn - before.end.lsn < 50_000)
        var index = 0
        try Self.eachBlock(subject.store) { block in
            try #require(index < slices.count)
            let checksums = block.head.columns.map(\.checksum)
            let changed = zip(checksums, slices[index]).filter { $0 != $1 }.count
            // The price and the row version.
            #expect(changed == 2)
            index += 1
        }
        #expect(index == 40)
        #expect(try subject.store.check().findings.isEmpty)
        try subject.store.close()
    }

    private static func eachBlock(_ store: LogStore, _ body: (CachedBlock) throws -> Void) throws {
        let state = store.engine.registry.published()
        for handle in state.blocks.blocks(ofEntity: 0, .full) {
            try body(try store.engine.reader.block(state.blocks.entry(handle), in: state))
        }
    }
}
