// Scans that several threads do, and blocks that they pass over, against a thread that looks at everything.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import Testing

@testable import CairnLog

@Suite("Scans by several threads")
struct ScanCrewTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Item",
            attributes: [
                .init("order", .integer32), .init("size", .double), .init("weight", .float),
                .init("name", .string), .init("since", .date), .init("mark", .uuid),
                .init("open", .boolean), .init("plan", .binary),
            ])
    ])

    /// The same rows in two stores of many blocks: one with helpers, one without.
    private struct Pair {
        let helped: LogStore
        let alone: LogStore

        init(_ random: inout RandomSource, rows: Int) throws {
            var rowsOfFeed: [[String: Any]] = []
            for index in 0..<rows { rowsOfFeed.append(row(index, &random)) }
            helped = try made(rowsOfFeed, threads: 4)
            alone = try made(rowsOfFeed, threads: 1)
        }
    }

    /// A store of rows, of which sixteen make a block.
    private static func made(_ rows: [[String: Any]], threads: Int) throws -> LogStore {
        var options = LogStoreOptions()
        options.fileSystem = MemoryFileSystem()
        options.scanThreads = threads
        options.sizes.rowsPerBlock = 16
        options.sizes.largeValueBytes = 200
        let store = try LogStore.open(at: "/store", schema: Schema(model), options: options)
        _ = try store.execute(BatchInsertRequest(entityName: "Item", objects: rows))
        return store
    }

    /// Some columns rise with the rows, others have few values for a while.
    private static func row(_ index: Int, _ random: inout RandomSource) -> [String: Any] {
        var row: [String: Any] = [
            "order": index - 500, "size": Double(index / 40) / 8 - 9,
            "weight": random.oneIn(9) ? Float.nan : Float(index % 300) - 100,
            "name": "name \(1000 + index / 7)", "open": index / 200 % 2 == 0,
            "since": Date(timeIntervalSinceReferenceDate: Double(index) * 60),
            "mark": UUID(
                uuid: (
                    UInt8(index >> 8), UInt8(index & 255), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
                )),
            "plan": Data(random.bytes(random.oneIn(50) ? 300 : Int(random.next() % 6))),
        ]
        if index % 300 < 40 { row["size"] = nil }
        if random.oneIn(20) { row["name"] = nil }
        if random.oneIn(40) { row["size"] = -0.0 }
        return row
    }

    private static func value(_ key: String, _ random: inout RandomSource) -> Value {
        let index = Int(random.next() % 2200)
        switch key {
        case "order": return .integer(Int64(index - 600))
        case "size": return random.oneIn(9) ? .double(.nan) : .double(Double(index / 40) / 8 - 9)
        case "weight": return .float(Float(index % 320) - 110)
        case "name":
            return .string(random.oneIn(5) ? "name" : "name \(990 + index / 7)")
        case "since": return .date(Date(timeIntervalSinceReferenceDate: Double(index) * 60))
        case "mark":
            return .uuid(
                UUID(
                    uuid: (
                        UInt8(index >> 8), UInt8(index & 255), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                        0, 0
                    )))
        default: return .boolean(random.oneIn(2))
        }
    }

    private static func predicate(_ random: inout RandomSource, depth: Int = 2) -> PredicateNode {
        if depth > 0, random.oneIn(2) {
            let parts = (0..<2 + Int(random.next() % 2)).map { _ in
                predicate(&random, depth: depth - 1)
            }
            switch random.next() % 3 {
            case 0: return .or(parts)
            case 1: return .not(parts[0])
            default: return .and(parts)
            }
        }
        let keys = ["order", "size", "weight", "name", "since", "mark", "open"]
        let key = keys[Int(random.next() % UInt64(keys.count))]
        if random.oneIn(8) { return .compare(key, random.oneIn(2) ? .equal : .notEqual, .null) }
        var relations: [PredicateNode.Comparison.Operator] = [.equal, .notEqual]
        if key != "open" { relations += [.less, .lessOrEqual, .greater, .greaterOrEqual] }
        let relation = relations[Int(random.next() % UInt64(relations.count))]
        return .compare(key, relation, value(key, &random))
    }

    @Test("Random conditions find the same, also when rows have changed and moved")
    func conditions() throws {
        var random = RandomSource()
        let pair = try Pair(&random, rows: 2000)
        for round in 0..<4 {
            for _ in 0..<Campaign.count(20, whole: 60) {
                var fetch = StoreFetch(entity: 0, predicate: Self.predicate(&random))
                if random.oneIn(4) { fetch.limit = Int(random.next() % 50) }
                if random.oneIn(4) { fetch.sort = [SortKey("name"), SortKey("order")] }
                let (one, other) = (try pair.helped.snapshot(), try pair.alone.snapshot())
                // What is asked like this is asked of every row: zones say nothing about it.
                var whole = fetch
                whole.predicate = .not(.not(fetch.predicate!))
                let found = try one.fetch(fetch).ids.map(\.reference)
                #expect(
                    try found == other.fetch(whole).ids.map(\.reference), "\(fetch.predicate!)")
                #expect(try one.count(fetch) == other.count(whole), "\(fetch.predicate!)")
                var rows: [UInt64] = []
                var reference: [UInt64] = []
                let entity = pair.helped.schema.entities[0]
                let request = StoreRead(entity, where: fetch.predicate)
                try one.read(request) { rows.append($0.objectID.reference) }
                try other.read(StoreRead(entity, where: whole.predicate)) {
                    reference.append($0.objectID.reference)
                }
                #expect(rows == reference)
            }
            // The same to both: some die, new ones come, blocks move and their handles are given again.
            let gone = Self.predicate(&random)
            let more = (0..<100).map { Self.row($0 + round * 500, &random) }
            for store in [pair.helped, pair.alone] {
                let doomed = StoreFetch(entity: 0, predicate: .and([gone, Self.most]))
                _ = try store.execute(BatchDeleteRequest(.fetch(doomed)))
                _ = try store.execute(BatchInsertRequest(entityName: "Item", objects: more))
                if round == 1 { _ = try store.compact() }
            }
        }
    }

    /// Leaves enough for every round.
    private static let most = PredicateNode.compare("order", .less, .integer(900))

    @Test("A block that no match can be in is passed over, once its values are known")
    func zones() throws {
        var random = RandomSource()
        let pair = try Pair(&random, rows: 2000)
        var fetch = StoreFetch(
            entity: 0, predicate: .compare("order", .greaterOrEqual, .integer(1400)))
        let before = try pair.helped.snapshot().explain(fetch)
        #expect(before.blocksSkipped == 0 && before.results == 100)
        let after = try pair.helped.snapshot().explain(fetch)
        #expect(after.blocksRead < 10 && after.results == 100)
        #expect(after.blocksRead + after.blocksSkipped == before.blocksRead)
        fetch.predicate = .compare("order", .equal, .integer(9_999_999))
        #expect(try pair.helped.snapshot().explain(fetch).blocksRead == 0)
    }

    @Test("The first rows of an order are looked for where they can be, once its values are known")
    func firstOfOrder() throws {
        var random = RandomSource()
        let pair = try Pair(&random, rows: 2000)
        let snapshot = try pair.helped.snapshot()
        for (isAscending, predicate) in [
            (true, nil), (false, nil),
            (false, PredicateNode.compare("order", .less, .integer(900))),
        ] {
            var fetch = StoreFetch(entity: 0, predicate: predicate)
            fetch.sort = [SortKey("order", ascending: isAscending)]
            let whole = try snapshot.fetch(fetch).ids
            fetch.limit = 10
            _ = try snapshot.fetch(fetch)
            #expect(try snapshot.fetch(fetch).ids == Array(whole.prefix(10)))
            let plan = try snapshot.explain(fetch)
            #expect(plan.blocksRead <= 3 && plan.blocksSkipped > 50, "\(plan)")
        }
    }

    @Test(
        "No block is passed over for what zones do not know: how texts go on, nil beside a range, large values"
    )
    func unknown() throws {
        let alike: [[String: Any]] = (0..<16).map { ["name": "beginning \($0)"] }
        let large: [[String: Any]] = (0..<16).map {
            ["name": $0 == 3 ? String(repeating: "z", count: 300) : "a", "size": 9.0]
        }
        let snapshot = try Self.made(alike + large, threads: 1).snapshot()
        for (format, count) in [
            ("name < 'beginning 2'", 23), ("size == nil OR size < 5.0", 16), ("name >= 'y'", 1),
        ] {
            let fetch = StoreFetch(entity: 0, predicate: try PredicateNode(format: format))
            // The first one makes the zones known.
            #expect(try snapshot.count(fetch) == count, "\(format)")
            #expect(try snapshot.count(fetch) == count, "\(format), of known zones")
        }
    }

    @Test("Threads that scan at once each find all, while another writes")
    func crowd() throws {
        var random = RandomSource()
        let pair = try Pair(&random, rows: 2000)
        let fetch = StoreFetch(entity: 0, predicate: .compare("order", .less, .integer(500)))
        let snapshot = try pair.helped.snapshot()
        let more = BatchInsertRequest(
            entityName: "Item", objects: (0..<50).map { Self.row($0, &random) })
        TestThreads.run(5) { thread in
            if thread == 0 {
                #expect(throws: Never.self) {
                    for _ in 0..<20 { _ = try pair.helped.execute(more) }
                }
                return
            }
            #expect(throws: Never.self) {
                for _ in 0..<30 {
                    let (count, ids) = (
                        try snapshot.count(fetch), try snapshot.fetch(fetch).ids
                    )
                    #expect(count == 1000 && ids.count == 1000)
                }
            }
        }
    }

    @Test("A scan that is cancelled ends within some blocks, on every thread")
    func cancelling() throws {
        var random = RandomSource()
        let pair = try Pair(&random, rows: 4000)
        let asked = Asked()
        for store in [pair.helped, pair.alone] {
            let snapshot = try store.snapshot()
            func questions(_ fetch: StoreFetch) throws -> [() throws -> Void] {
                var groups = TableTerms(columns: [
                    .init("name"), .init("n", try .init(format: "count:(SELF)")),
                ])
                groups.groupBy = [.keyPath("name")]
                var unique = groups
                unique.columns[0] = .init("order")
                unique.groupBy = [.keyPath("order")]
                unique.having = try PredicateNode(format: "n > 1")
                let tables = [groups, unique].map { StoreTableFetch(fetch, $0) }
                var sorted = fetch
                sorted.sort = [SortKey("name")]
                return [
                    { _ = try snapshot.fetch(fetch) }, { _ = try snapshot.fetch(sorted) },
                    { _ = try snapshot.count(fetch) }, { _ = try snapshot.table(tables[0]) },
                    { _ = try snapshot.table(tables[1]) },
                ]
            }
            for predicate in [nil, PredicateNode.compare("order", .less, .integer(90_000))] {
                var fetch = StoreFetch(entity: 0, predicate: predicate)
                fetch.isCancelled = { asked.isEnough() }
                for (number, question) in try questions(fetch).enumerated() {
                    if predicate == nil, number == 2 { continue }
                    asked.begin(most: .max)
                    try question()
                    let blocks = asked.count
                    #expect(blocks >= 250, "each block asks: question \(number)")
                    asked.begin(most: 10)
                    let error = #expect(throws: StoreError.self) { try question() }
                    #expect(error?.code == .cancelled)
                    // Those that threads have begun with ask as well.
                    #expect(asked.count >= 10 && asked.count < 60, "question \(number)")
                }
            }
        }
    }

    /// Counts how often it was asked, and says from some time on that it is enough.
    private final class Asked: Sendable {
        private let state = Mutex((count: 0, most: Int.max))

        var count: Int { state.withLock { $0.count } }

        func begin(most: Int) { state.withLock { $0 = (0, most) } }

        func isEnough() -> Bool {
            state.withLock {
                $0.count += 1
                return $0.count >= $0.most
            }
        }
    }

    @Test("A damaged block ends a scan where it lies, with all that came before handed over")
    func damage() throws {
        var random = RandomSource()
        let pair = try Pair(&random, rows: 2000)
        var answers: [String] = []
        for store in [pair.helped, pair.alone] {
            let state = store.engine.registry.published()
            var handle = state.blocks.first(ofEntity: 0)
            for _ in 0..<77 { handle = state.blocks.next(after: state.blocks.entry(handle)) }
            let entry = state.blocks.entry(handle)
            let segment = try #require(state.segment(entry.segment))
            let file = try store.engine.files.fileSystem.open(segment.file.path, .readWrite)
            var byte: UInt8 = 0
            // In the head of the block: damage in a slice is met by those alone who read that.
            let at = UInt64(entry.place.byteOffset) + UInt64(FrameHeader.size) + 4
            try withUnsafeMutableBytes(of: &byte) { _ = try file.read(into: $0, at: at) }
            byte ^= 4
            try withUnsafeBytes(of: byte) { try file.write($0, at: at) }

            let all = PredicateNode.compare("order", .less, .integer(9999))
            let snapshot = try store.snapshot()
            var rows = 0
            let error = #expect(throws: StoreError.self) {
                let request = StoreRead(store.schema.entities[0], where: all)
                try snapshot.read(request) { _ in rows += 1 }
            }
            #expect(error?.code == .damaged && rows == 77 * 16)
            answers.append("\(rows) \(error?.code as Any)")
            let fetch = StoreFetch(entity: 0, predicate: all)
            let fetching = #expect(throws: StoreError.self) { _ = try snapshot.fetch(fetch) }
            let counting = #expect(throws: StoreError.self) { _ = try snapshot.count(fetch) }
            #expect(fetching?.code == .damaged && counting?.code == .damaged)
        }
        #expect(answers[0] == answers[1])
    }
}
