// Reading by typed columns gives what fetching gives.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Reading by columns")
struct ReadingTests {
    private static func predicate(_ random: inout RandomSource, deep: Bool = true) -> PredicateNode
    {
        let number = Int64.random(in: -5..<3000, using: &random)
        switch Int.random(in: 0..<(deep ? 13 : 9), using: &random) {
        case 0: return .compare("count", .less, .integer(number))
        case 1: return .compare("count", .equal, .integer(number))
        case 2: return .compare("key", .equal, .string("key \(number)"))
        case 3: return .compare("category", .equal, .string("category \(number % 9)"))
        case 4: return .compare("price", .greaterOrEqual, .double(Double(number) / 7))
        case 5: return .compare("open", .equal, random.oneIn(2) ? .boolean(true) : .null)
        case 6:
            let keys = (0..<20).map { Value.string("key \(Int(number) + $0 * 3)") }
            return .comparison(.init(.key("key"), .in, keys + keys.prefix(3)))
        case 7:
            let numbers = (0..<20).map { Value.integer(number + $0) }
            return .comparison(.init(.key("count"), .in, numbers + [.null]))
        case 8: return .constant(random.oneIn(2))
        case 9: return .not(predicate(&random, deep: false))
        case 10: return .and((0..<2).map { _ in predicate(&random, deep: false) })
        case 11: return .or((0..<3).map { _ in predicate(&random, deep: false) })
        default:
            return .and([
                .compare("group", .equal, .string("group \(number % 50)")),
                .compare("place", .equal, .integer(number)),
            ])
        }
    }

    @Test("The first rows of a sorted fetch are those of the whole, either way, by any key")
    func firstRows() throws {
        try Rounds.run("first rows", everyDay: 2, whole: 100) { random in
            let shop = try ReadableStore()
            try shop.fill(&random)
            let snapshot = try shop.store.snapshot()
            let keys = shop.thing.columns.map(\.name)
            for _ in 0..<20 {
                let entity = random.oneIn(3) ? shop.special : shop.thing
                var fetch = StoreFetch(entity: entity.index)
                if random.oneIn(3) { fetch.predicate = Self.predicate(&random) }
                fetch.sort = (0..<Int.random(in: 1...2, using: &random)).map { _ in
                    SortKey(
                        keys[Int.random(in: 0..<keys.count, using: &random)],
                        ascending: random.oneIn(2))
                }
                let whole = try snapshot.fetch(fetch).ids
                fetch.limit = [0, 1, 7, 300, 5000][Int.random(in: 0..<5, using: &random)]
                fetch.offset = random.oneIn(2) ? 0 : Int.random(in: 0..<20, using: &random)
                let first = try snapshot.fetch(fetch).ids
                let expected = whole.dropFirst(fetch.offset).prefix(fetch.limit ?? 0)
                #expect(first == Array(expected), "\(fetch), seed \(random.seed)")
                // Then it is known between which values the keys of each block lie.
                #expect(try snapshot.fetch(fetch).ids == first, "\(fetch), seed \(random.seed)")
            }
        }
    }

    @Test("Where nil comes last, values that come late are the first rows, however many have nil")
    func lateValues() throws {
        let shop = try ReadableStore()
        _ = try shop.store.execute(
            BatchInsertRequest(
                entityName: "Thing",
                objects: (0..<3100).map { $0 < 3090 ? ["place": $0] : ["place": $0, "small": $0] }))
        var fetch = StoreFetch(entity: shop.thing.index)
        fetch.sort = [SortKey("small", ascending: false)]
        let snapshot = try shop.store.snapshot()
        let whole = try snapshot.fetch(fetch).ids
        fetch.limit = 5
        #expect(try snapshot.fetch(fetch).ids == Array(whole.prefix(5)))
    }

    @Test("Every row, filtered, sorted and cut, as a fetch gives it")
    func reading() throws {
        try Rounds.run("reading by columns", everyDay: 2, whole: 200) { random in
            let shop = try ReadableStore()
            try shop.fill(&random)
            let snapshot = try shop.store.snapshot()
            let plain = PlainSnapshot(snapshot)
            for round in 0..<30 {
                let entity = random.oneIn(3) ? shop.special : shop.thing
                let columns = try ReadableStore.Columns(entity)
                var request = StoreRead(
                    entity, where: round == 0 ? nil : Self.predicate(&random))
                request.fetch.includesSubentities = !random.oneIn(4)
                let isOrdered = random.oneIn(3)
                if isOrdered {
                    if random.oneIn(2) {
                        request.fetch.sort = [
                            SortKey("category"), SortKey("count", ascending: false),
                        ]
                    }
                    request.fetch.limit = Int.random(in: 0..<500, using: &random)
                    request.fetch.offset = Int.random(in: 0..<20, using: &random)
                }
                var found: [String] = []
                try snapshot.read(request) { row in
                    #expect(row.position == found.count)
                    found.append(columns.text(row))
                }
                var expected: [String] = []
                try plain.read(request) { expected.append(columns.text($0)) }
                if isOrdered {
                    #expect(found == expected)
                } else {
                    #expect(found.sorted() == expected.sorted())
                }
            }
            try shop.store.close()
        }
    }

    @Test("Texts that rows share are those that were stored, and stay when the block is gone")
    func sharedTexts() throws {
        try Rounds.run("shared texts", everyDay: 3, whole: 100) { random in
            let shop = try ReadableStore(cacheBytes: random.oneIn(2) ? 0 : nil)
            let columns = try ReadableStore.Columns(shop.thing)
            // In one block the texts are few, in the next one they are many or others, and some are nil.
            var stored: [String: [String?]] = [:]
            var next = 0
            for block in 0..<6 {
                let different = [1, 3, 40, 300, 5000][Int.random(in: 0..<5, using: &random)]
                let long = random.oneIn(2) ? " auf der übergroßen Straße 東京" : ""
                let rows = (0..<[5, 400, 1024][Int.random(in: 0..<3, using: &random)]).map { _ in
                    var row = ReadableStore.row(next, &random)
                    row["key"] = "key \(next)"
                    let number = Int.random(in: 0..<different, using: &random)
                    let category = random.oneIn(9) ? nil : "\(block) \(number)\(long)"
                    let group = random.oneIn(9) ? nil : "\(number % 7)"
                    row["category"] = category ?? NSNull()
                    row["group"] = group ?? NSNull()
                    stored["key \(next)"] = [category, group]
                    next += 1
                    return row
                }
                _ = try shop.store.execute(BatchInsertRequest(entityName: "Thing", objects: rows))
            }
            let snapshot = try shop.store.snapshot()
            var found: [String: [String?]] = [:]
            var inside: [String: [String?]] = [:]
            try snapshot.read(StoreRead(shop.thing)) { row in
                // Twice: once they are made, and once they are there.
                let texts = [row[columns.category], row[columns.group]]
                #expect(texts == [row[columns.category], row[columns.group]])
                if found.count == next / 2 {
                    try snapshot.read(StoreRead(shop.thing)) {
                        inside[$0[columns.key] ?? ""] = [$0[columns.category], $0[columns.group]]
                    }
                }
                found[row[columns.key] ?? ""] = texts
            }
            try shop.store.close()
            #expect(found == stored, "seed \(random.seed)")
            #expect(inside == stored, "seed \(random.seed)")
        }
    }

    @Test("Rows by their keys, in the order of the keys", arguments: [nil, 0])
    func lookingUp(cacheBytes: Int?) throws {
        try Rounds.run("looking up by keys", everyDay: 1, whole: 200) { random in
            let shop = try ReadableStore(cacheBytes: cacheBytes)
            try shop.fill(&random)
            let snapshot = try shop.store.snapshot()
            let plain = PlainSnapshot(snapshot)
            for entity in [shop.thing, shop.special] {
                let columns = try ReadableStore.Columns(entity)
                // More than 1,024 are looked up by several threads.
                let count = random.oneIn(2) ? 600 : 3000
                let numbers = (0..<count).map { _ in Int.random(in: -50..<3000, using: &random) }
                func check(_ key: ColumnSet, _ set: @escaping (Int, borrowing RowWriter) -> Void)
                    throws
                {
                    var answers: [[String]] = []
                    for snapshot in [snapshot, plain] as [any StoreSnapshot] {
                        var next = 0
                        var answer: [String] = []
                        try snapshot.lookUp(
                            StoreLookup(entity, by: key),
                            keys: { row in
                                if next == numbers.count { return true }
                                if next % 31 != 7 { set(numbers[next], row) }
                                next += 1
                                return false
                            }
                        ) { row in answer.append("\(row.position) " + columns.text(row)) }
                        answers.append(answer)
                    }
                    #expect(answers[0] == answers[1])
                }
                try check(ColumnSet(columns.key)) { $1[columns.key] = "key \($0)" }
                try check(ColumnSet(columns.count)) { $1[columns.count] = Int64($0) }
                try check(ColumnSet(columns.mark)) { $1[columns.mark] = ReadableStore.uuid($0) }
                try check(ColumnSet(columns.place, columns.group)) { number, row in
                    row[columns.group] = "group \(number % 50)"
                    row[columns.place] = Int32(number)
                }
            }
            try shop.store.close()
        }
    }

    @Test("One attribute and its keys are said in a line, twice the same key is answered twice")
    func oneColumn() throws {
        var random = RandomSource(seed: 3)
        let shop = try ReadableStore()
        try shop.fill(&random)
        let columns = try ReadableStore.Columns(shop.thing)
        var positions: [Int] = []
        var keys: [String?] = []
        let request = StoreLookup(shop.thing, by: ColumnSet(columns.key))
        try shop.store.snapshot().lookUp(
            request, columns.key, ["key 0", nil, "nothing", "key 0", "key 1"]
        ) { row in
            positions.append(row.position)
            keys.append(row[columns.key])
        }
        #expect(positions == [0, 3, 4])
        #expect(keys == ["key 0", "key 0", "key 1"])
        try shop.store.close()
    }

    @Test("Of keys that share a hash each leads to its own row, and one that nothing has to none")
    func sharedHashes() throws {
        var random = RandomSource(seed: 11)
        let shop = try ReadableStore(hashBits: 1)
        let columns = try ReadableStore.Columns(shop.thing)
        let rows: [[String: Any]] = (0..<24).map {
            [
                "key": "key \($0)", "count": $0, "mark": ReadableStore.uuid($0),
                "group": "group", "place": $0,
            ]
        }
        _ = try shop.store.execute(
            BatchInsertRequest(entityName: "Thing", objects: rows.shuffled(using: &random)))
        let snapshot = try shop.store.snapshot()
        func found(
            _ key: ColumnSet, _ set: @escaping (Int, borrowing RowWriter) -> Void
        ) throws -> [String] {
            var next = 0
            var found: [String] = []
            try snapshot.lookUp(
                StoreLookup(shop.thing, by: key),
                keys: { row in
                    if next == 48 { return true }
                    set(next, row)
                    next += 1
                    return false
                }
            ) { row in found.append("\(row.position) \(row[columns.key] ?? "nil")") }
            return found
        }
        // The second half of the keys is nobody's.
        let wanted = (0..<24).map { "\($0) key \($0)" }
        #expect(try found(ColumnSet(columns.key)) { $1[columns.key] = "key \($0)" } == wanted)
        #expect(try found(ColumnSet(columns.count)) { $1[columns.count] = Int64($0) } == wanted)
        #expect(
            try found(ColumnSet(columns.mark)) { $1[columns.mark] = ReadableStore.uuid($0) }
                == wanted)
        #expect(
            try found(ColumnSet(columns.place, columns.group)) { number, row in
                row[columns.group] = "group"
                row[columns.place] = Int32(number)
            } == wanted)
        #expect(try shop.store.check().findings.isEmpty)
        try shop.store.close()
    }

    @Test("Asking the index for a key, or a list of keys, finds what looking at every row finds")
    func keys() throws {
        try Rounds.run("fetching by keys", everyDay: 1, whole: 100) { random in
            let shop = try ReadableStore(
                cacheBytes: random.oneIn(3) ? 0 : nil,
                hashBits: [11, 32].randomElement(using: &random) ?? 32)
            try shop.fill(&random)
            let snapshot = try shop.store.snapshot()
            for _ in 0..<20 {
                let entity = random.oneIn(3) ? shop.special : shop.thing
                let isText = random.oneIn(2)
                let most = random.oneIn(4) ? 900 : 40
                let values = (0..<Int.random(in: 0..<most, using: &random)).map { _ -> Value in
                    if random.oneIn(10) { return .null }
                    let number = Int.random(in: -20..<2500, using: &random)
                    return isText ? .string("key \(number)") : .integer(Int64(number))
                }
                let name = isText ? "key" : "count"
                func fetch(_ predicate: PredicateNode) throws -> StoreFetchResult {
                    var fetch = StoreFetch(entity: entity.index, predicate: predicate)
                    fetch.includesSubentities = !random.oneIn(4)
                    fetch.includesRows = true
                    let found = try snapshot.fetch(fetch)
                    #expect(try snapshot.count(fetch) == found.ids.count)
                    // A negation of a negation is more than the index can be asked.
                    fetch.predicate = .not(.not(predicate))
                    let scanned = try snapshot.fetch(fetch)
                    #expect(found.ids == scanned.ids)
                    #expect(found.rows.map(\.cells) == scanned.rows.map(\.cells))
                    #expect(found.rows.map(\.version) == scanned.rows.map(\.version))
                    #expect(found.rows.map(\.entity) == scanned.rows.map(\.entity))
                    #expect(scanned.plan.hasPrefix("scan"))
                    return found
                }
                let all = (values + values.prefix(5)).shuffled(using: &random)
                #expect(
                    try fetch(.comparison(.init(.key(name), .in, all))).plan
                        == "unique index (\(name))")
                for value in values.prefix(8) where value != .null {
                    #expect(
                        try fetch(.compare(name, .equal, value)).plan == "unique index (\(name))")
                }
                _ = try fetch(.compare(name, .equal, .null))
            }
            try shop.store.close()
        }
    }

    @Test("An answer is of the snapshot it was asked for, and a closure may write meanwhile")
    func writingMeanwhile() throws {
        var random = RandomSource(seed: 4)
        let shop = try ReadableStore()
        try shop.fill(&random)
        let columns = try ReadableStore.Columns(shop.thing)
        let snapshot = try shop.store.snapshot()
        let count = try snapshot.count(StoreFetch(entity: shop.thing.index))
        var seen = 0
        try snapshot.read(StoreRead(shop.thing, columns: ColumnSet(columns.key))) { row in
            if seen == 0 {
                _ = try shop.store.execute(
                    BatchDeleteRequest(.fetch(StoreFetch(entity: shop.thing.index))))
            }
            seen += 1
        }
        #expect(seen == count && count > 0)
        #expect(try shop.store.snapshot().count(StoreFetch(entity: shop.thing.index)) == 0)
        try shop.store.close()
    }

    @Test("What the closure throws ends the reading and comes out")
    func throwing() throws {
        struct Enough: Error {}
        var random = RandomSource(seed: 5)
        let shop = try ReadableStore()
        try shop.fill(&random)
        let snapshot = try shop.store.snapshot()
        for snapshot in [snapshot, PlainSnapshot(snapshot)] as [any StoreSnapshot] {
            var seen = 0
            #expect(throws: Enough.self) {
                try snapshot.read(StoreRead(shop.thing)) { _ in
                    seen += 1
                    if seen == 3 { throw Enough() }
                }
            }
            #expect(seen == 3)
        }
        try shop.store.close()
    }

    @Test("A question that cannot be answered throws")
    func refusing() throws {
        let shop = try ReadableStore()
        let columns = try ReadableStore.Columns(shop.thing)
        let snapshot = try shop.store.snapshot()
        let other = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription("Thing", attributes: [.init("key", .integer64)])
            ]))
        for snapshot in [snapshot, PlainSnapshot(snapshot)] as [any StoreSnapshot] {
            #expect(
                storeErrorCode { try snapshot.read(StoreRead(other.entities[0])) { _ in } }
                    == .incompatibleModel)
            #expect(
                storeErrorCode { try snapshot.read(StoreRead(shop.thing, columns: [99])) { _ in } }
                    == .invalidRequest)
            #expect(
                storeErrorCode {
                    try snapshot.read(
                        StoreRead(shop.thing, where: .compare("nothing", .equal, .integer(1)))
                    ) { _ in }
                } == .invalidRequest)
            #expect(
                storeErrorCode {
                    try snapshot.lookUp(
                        StoreLookup(shop.thing, by: ColumnSet(columns.group)), columns.group, ["a"]
                    ) { _ in }
                } == .invalidRequest)
        }
        try shop.store.close()
        #expect(storeErrorCode { _ = try shop.store.snapshot() } == .unusable)
        #expect(storeErrorCode { try snapshot.read(StoreRead(shop.thing)) { _ in } } == nil)
    }

    @Test("A damaged block gives the same error as a fetch")
    func damage() throws {
        var random = RandomSource(seed: 6)
        let shop = try ReadableStore()
        let columns = try ReadableStore.Columns(shop.thing)
        let rows = (0..<1500).map { ReadableStore.row($0, &random) }
        _ = try shop.store.execute(BatchInsertRequest(entityName: "Thing", objects: rows))
        let state = shop.store.engine.registry.published()
        let entry = state.blocks.entry(state.blocks.first(ofEntity: 0))
        let segment = try #require(state.segment(entry.segment))
        let file = try shop.disk.open(segment.file.path, .readWrite)
        var byte: UInt8 = 0
        let at = UInt64(entry.place.byteOffset) + UInt64(entry.length) / 2
        try withUnsafeMutableBytes(of: &byte) { _ = try file.read(into: $0, at: at) }
        byte ^= 4
        try withUnsafeBytes(of: byte) { try file.write($0, at: at) }
        let snapshot = try shop.store.snapshot()
        var fetch = StoreFetch(entity: 0)
        fetch.includesRows = true
        let expected = #expect(throws: StoreError.self) { _ = try snapshot.fetch(fetch) }
        let read = #expect(throws: StoreError.self) {
            try snapshot.read(StoreRead(shop.thing)) { _ in }
        }
        let keys = rows.map { $0["key"] as? String }
        let found = #expect(throws: StoreError.self) {
            try snapshot.lookUp(
                StoreLookup(shop.thing, by: ColumnSet(columns.key)), columns.key, keys
            ) { _ in }
        }
        #expect(expected?.code == .damaged)
        #expect(read.map { "\($0)" } == expected.map { "\($0)" })
        #expect(found.map { "\($0)" } == expected.map { "\($0)" })
    }
}
