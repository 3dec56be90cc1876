import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

@Suite("Batches of many rows", .enabled(if: PostgresServer.isInstalled))
struct BulkInsertTests {
    private func withStore(
        history: Bool = true, rowsOfPart: Int,
        observer: (@Sendable (Int32, [String]) -> Void)? = nil,
        _ body: (PostgresStore) throws -> Void
    ) throws {
        let server = try PostgresServer.shared()
        let name = server.newName("bulk")
        var options = PostgresOptions()
        options.rowsOfPart = rowsOfPart
        options.observer = observer
        if history { options.persistentHistoryTracking = true }
        let store = try PostgresStore.open(
            server.url(["cairn_schema": name]), schema: try FeedModel.schema(), options: options)
        defer { _ = try? server.run("DROP SCHEMA \(name) CASCADE") }
        defer { try? store.close() }
        try body(store)
    }

    private func memory() throws -> LogStore {
        var options = LogStoreOptions()
        options.persistentHistoryTracking = true
        return try LogStore.inMemory(schema: try FeedModel.schema(), options: options)
    }

    /// Shops, and objects of a descendant that rows of products may be about.
    private func prepare(_ store: any PersistentStore) throws {
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Shop", objects: (0..<10).map { ["name": "s\($0)"] }))
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Special",
                objects: (0..<20).map { ["code": "c\($0 * 97)", "extra": "e\($0)"] }))
    }

    @Test("Part by part a batch comes to what it comes to in one, and says the same")
    func differential() throws {
        var divided = 0
        try Rounds.run("batches of many rows", everyDay: 2, whole: 100) { random in
            try withStore(rowsOfPart: 1) { store in
                let memory = try memory()
                defer { try? memory.close() }
                try prepare(store)
                try prepare(memory)
                let (fed, expected) = (try FedStore(store), try FedStore(memory))
                let codes = Int.random(in: 2000...5000, using: &random)
                for turn in 0..<4 {
                    let feed = RandomFeed(codes: codes, &random)
                    let request = feed.makeRequest()
                    let entity = try #require(store.schema.entity(named: "Product"))
                    let canDivide = BulkInsert.canDivide(
                        request, try feed.makeRequest().recorded(for: entity), entity,
                        in: store.core)
                    if canDivide { divided += 1 }
                    let text: Comment =
                        "\(feed.words), divided \(canDivide), turn \(turn), seed \(random.seed)"
                    let (one, other) = (
                        try fed.feed(request), try expected.feed(feed.makeRequest())
                    )
                    #expect(one.result == other.result, text)
                    #expect(one.outcomes == other.outcomes, text)
                    #expect(Set(one.content).symmetricDifference(other.content).isEmpty, text)
                    #expect(one.content.count == other.content.count, text)
                    #expect(Set(one.told).symmetricDifference(other.told).isEmpty, text)
                    #expect(Set(one.history).symmetricDifference(other.history).isEmpty, text)
                    #expect(one.history.count == other.history.count, text)
                }
            }
        }
        #expect(divided > 0)
    }

    @Test(
        "A key that a part gives up is free for the next one, and one that it takes is taken",
        arguments: [true, false])
    func handedOn(givesUp: Bool) throws {
        func row(_ code: String, _ number: Int) -> [String: any Sendable] {
            ["code": code, "series": "s", "number": Int64(number)]
        }
        // Two parts. Stored objects get other numbers, and new ones theirs; or every second one of the new ones comes again.
        let rows =
            givesUp
            ? (0..<1024).map { row("a\($0)", 10_000 + $0) } + (0..<1024).map { row("b\($0)", $0) }
            : (0..<1024).map { row("c\($0)", 20_000 + $0) }
                + (0..<1024).map { row($0 % 2 == 0 ? "c\($0)" : "d\($0)", 30_000 + $0) }
        let begun = Mutex(0)
        let watch: @Sendable (Int32, [String]) -> Void = { _, statements in
            begun.withLock { $0 += statements.count { $0 == "BEGIN" } }
        }
        try withStore(rowsOfPart: 1, observer: watch) { store in
            let memory = try memory()
            defer { try? memory.close() }
            let (fed, expected) = (try FedStore(store), try FedStore(memory))
            for objects in [(0..<1024).map { row("a\($0)", $0) }, rows] {
                func request() -> BatchInsertRequest {
                    var request = BatchInsertRequest(entityName: "Product", objects: objects)
                    request.mergePolicy = .overwrite
                    return request
                }
                // A batch that cannot be divided begins twice.
                let before = begun.withLock { $0 }
                let one = try fed.feed(request())
                #expect(begun.withLock { $0 } == before + 1)
                let other = try expected.feed(request())
                #expect(one.result == other.result)
                #expect(one.content.sorted() == other.content.sorted())
                #expect(one.history.sorted() == other.history.sorted())
            }
            let product = try #require(store.schema.entity(named: "Product"))
            let count = try store.snapshot().count(StoreFetch(entity: product.index))
            #expect(count == (givesUp ? 2048 : 2560))
        }
    }

    @Test("What does not fit into memory waits in a file")
    func spilled() throws {
        try withStore(history: false, rowsOfPart: 1) { store in
            let text = String(repeating: "long ", count: 4000)
            // Some forty MiB.
            let rows: [[String: any Sendable]] = (0..<2200).map { index in
                ["code": "c\(index)", "name": "\(index) \(text)", "amount": Int64(index)]
            }
            let result = try store.execute(
                BatchInsertRequest(entityName: "Product", objects: rows))
            #expect(result.insertedCount == rows.count)
            var fetch = StoreFetch(
                entity: try #require(store.schema.entity(named: "Product")).index)
            fetch.predicate =
                .compare("code", .equal, .string("c0"))
                || .compare("code", .equal, .string("c2199"))
            fetch.sort = [SortKey("code")]
            fetch.includesRows = true
            let found = try store.snapshot().fetch(fetch).rows
            let names = found.map {
                $0.cells.value(1, of: store.schema.entities[$0.entity], in: store.identity)
            }
            #expect(names == [.string("0 \(text)"), .string("2199 \(text)")])
        }
    }

    @Test("A value that the database cannot keep is refused with its place, and nothing is stored")
    func refused() throws {
        try withStore(rowsOfPart: 1) { store in
            let rows: [[String: any Sendable]] = (0..<3000).map { index in
                ["code": "c\(index)", "name": index == 2500 ? "a\u{0}b" : "name"]
            }
            let error = #expect(throws: StoreError.self) {
                try store.execute(BatchInsertRequest(entityName: "Product", objects: rows))
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.context.entity == "Product" && error?.context.key == "name")
            let entity = try #require(store.schema.entity(named: "Product"))
            #expect(try store.snapshot().count(StoreFetch(entity: entity.index)) == 0)
        }
    }

    @Test("Two that insert the same keys at the same time both come to an end")
    func contention() async throws {
        let server = try PostgresServer.shared()
        let name = server.newName("bulk")
        defer { _ = try? server.run("DROP SCHEMA \(name) CASCADE") }
        let schema = try FeedModel.schema()
        var options = PostgresOptions()
        options.rowsOfPart = 1
        let url = server.url(["cairn_schema": name])
        let stores = [
            try PostgresStore.open(url, schema: schema, options: options),
            try PostgresStore.open(url, schema: schema, options: options),
        ]
        defer { for store in stores { try? store.close() } }
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for store in stores {
                group.addTask {
                    var request = BatchInsertRequest(
                        entityName: "Product",
                        objects: (0..<3000).map { ["code": "c\($0)", "amount": Int64(1)] })
                    request.mergePolicy = .declared
                    return try store.execute(request).insertedCount
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts.sorted() == [0, 3000])
        let entity = try #require(schema.entity(named: "Product"))
        #expect(try stores[0].snapshot().count(StoreFetch(entity: entity.index)) == 3000)
    }
}
