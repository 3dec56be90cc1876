// Committers beside each other: they share syncs, and fail together or not at all.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Committers beside each other")
struct CommittersTests {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Item",
            attributes: [.init("key", .string, optional: false), .init("value", .integer64)],
            uniquenessConstraints: [["key"]])
    ])

    /// A store on a disk whose calls can be held and fail.
    struct Shop: Sendable {
        let base = MemoryFileSystem()
        let disk: FaultInjectingFileSystem
        let store: LogStore
        let item: SchemaEntity

        init(
            segmentBytes: UInt64 = 1 << 30, durability: LogStoreOptions.Durability = .full
        ) throws {
            disk = FaultInjectingFileSystem(over: base)
            store = try Self.open(disk, segmentBytes, durability)
            item = store.schema.entities[0]
        }

        static func open(
            _ disk: any FileSystem, _ segmentBytes: UInt64 = 1 << 30,
            _ durability: LogStoreOptions.Durability = .full
        ) throws -> LogStore {
            try LogStore.open(
                at: "/store", schema: try Schema(model),
                options: SampleStore.options(
                    on: disk, segmentBytes: segmentBytes, durability: durability))
        }

        /// Inserts or updates an item as a commit of its own.
        @discardableResult
        func put(_ key: String, _ value: Int) throws -> BatchInsertResult {
            var request = BatchInsertRequest(
                entityName: "Item", objects: [["key": key, "value": value]])
            request.mergePolicy = .mergeByPropertyObjectTrump
            return try store.execute(request)
        }

        /// The values by key, of a new snapshot.
        func content() throws -> [String: Int64] { try CommittersTests.content(store) }

        /// What the disk holds, opened anew.
        func reopened() throws -> [String: Int64] {
            let image = try DiskImage(of: base)
            let store = try Shop.open(try image.disk())
            defer { try? store.close() }
            return try CommittersTests.content(store)
        }
    }

    static func content(_ store: LogStore) throws -> [String: Int64] {
        try content(store.snapshot(), store)
    }

    static func content(_ snapshot: any StoreSnapshot, _ store: LogStore) throws -> [String: Int64]
    {
        let entity = store.schema.entities[0]
        var fetch = StoreFetch(entity: 0)
        fetch.includesRows = true
        var content: [String: Int64] = [:]
        for row in try snapshot.fetch(fetch).rows {
            guard case .string(let key) = row.cells.value(0, of: entity, in: store.identity),
                case .integer(let value) = row.cells.value(1, of: entity, in: store.identity)
            else { continue }
            content[key] = value
        }
        return content
    }

    /// Results of threads.
    final class Outcomes: Sendable {
        private let list = Mutex<[String: Result<Int, StoreError>]>([:])
        func run(_ name: String, _ body: () throws -> BatchInsertResult) {
            do {
                let result = try body()
                list.withLock { $0[name] = .success(result.insertedCount + result.updatedCount) }
            } catch let error as StoreError {
                list.withLock { $0[name] = .failure(error) }
            } catch {
                preconditionFailure("a store throws store errors: \(error)")
            }
        }
        var all: [String: Result<Int, StoreError>] { list.withLock { $0 } }
    }

    /// One commit held in a call, and others that are sealed behind it.
    private func pileUp(
        _ shop: Shop, at operation: FileSystemError.Operation, others: Int,
        _ body: @escaping @Sendable (Int) throws -> BatchInsertResult,
        whileHeld: () throws -> Void
    ) throws -> Outcomes {
        let gate = shop.disk.hold(operation)
        let threads = TestThreads()
        let outcomes = Outcomes()
        threads.start { outcomes.run("first") { try shop.put("first", 1) } }
        gate.waitUntilReached()
        for index in 0..<others { threads.start { outcomes.run("\(index)") { try body(index) } } }
        inTime(for: "\(others) commits to wait in the queue") {
            while shop.store.engine.queue.waitingCount < others { sched_yield() }
        }
        try whileHeld()
        gate.open()
        threads.join()
        return outcomes
    }

    @Test("Those who come while a sync is under way share the next one, and none is seen before")
    func sharing() throws {
        let shop = try Shop()
        let before = shop.disk.count(.synchronize)
        let outcomes = try pileUp(shop, at: .synchronize, others: 7) {
            try shop.put("\($0)", $0)
        } whileHeld: {
            let seen = try shop.content()
            #expect(seen.isEmpty, "nobody sees what is not durable yet")
        }
        #expect(outcomes.all.count == 8)
        for outcome in outcomes.all.values { #expect(try outcome.get() == 1) }
        #expect(shop.disk.count(.synchronize) - before == 2)
        var expected: [String: Int64] = ["first": 1]
        for index in 0..<7 { expected["\(index)"] = Int64(index) }
        #expect(try shop.content() == expected)
        try shop.store.close()
        #expect(try shop.reopened() == expected)
    }

    @Test("A commit sees those that are sealed before it, durable or not")
    func onTop() throws {
        let shop = try Shop()
        let outcomes = try pileUp(shop, at: .synchronize, others: 1) { _ in
            try shop.put("first", 2)
        } whileHeld: {
        }
        #expect(try outcomes.all["0"]?.get() == 1)
        #expect(try shop.content() == ["first": 2])
        try shop.store.close()
        #expect(try shop.reopened() == ["first": 2])
    }

    @Test(
        "When a write fails, all that was sealed fails, and the next commit succeeds",
        arguments: [0, 1, 100, 100_000])
    func failedWrite(afterWriting bytes: Int) throws {
        let shop = try Shop()
        try shop.put("before", 0)
        shop.disk.fail(.write, with: .noSpace, afterWriting: bytes)
        let outcomes = try pileUp(shop, at: .write, others: 5) {
            try shop.put("\($0)", $0)
        } whileHeld: {
        }
        #expect(outcomes.all.count == 6)
        for outcome in outcomes.all.values {
            let error = #expect(throws: StoreError.self) { try outcome.get() }
            #expect(error?.code == .noSpace, "\(String(describing: error))")
        }
        #expect(try shop.content() == ["before": 0])
        #expect(try shop.reopened() == ["before": 0], "no byte of them is ever read")
        try shop.put("after", 1)
        #expect(try shop.content() == ["before": 0, "after": 1])
        try shop.store.close()
        #expect(try shop.reopened() == ["before": 0, "after": 1])
    }

    @Test("When a sync fails, all that was sealed fails, and nothing is written any more")
    func failedSync() throws {
        let shop = try Shop()
        try shop.put("before", 0)
        shop.disk.fail(.synchronize, with: .ioError)
        let outcomes = try pileUp(shop, at: .synchronize, others: 5) {
            try shop.put("\($0)", $0)
        } whileHeld: {
        }
        for outcome in outcomes.all.values {
            let error = #expect(throws: StoreError.self) { try outcome.get() }
            #expect(error?.code == .inputOutput)
        }
        #expect(try shop.content() == ["before": 0])
        let calls = shop.disk.mutationCount
        let error = #expect(throws: StoreError.self) { try shop.put("after", 1) }
        #expect(error?.code == .unusable)
        try shop.store.close()
        #expect(shop.disk.mutationCount == calls, "nothing is written after a failed sync")
        let left = try shop.reopened()
        #expect(left["before"] == 0)
        #expect(left["first"] == nil || left["first"] == 1)
    }

    @Test(
        "A batch delete finds objects that are sealed and not written, and keeps nothing of them",
        arguments: [false, true])
    func deletingSealed(isFailing: Bool) throws {
        let shop = try Shop()
        try shop.put("old", 0)
        if isFailing { shop.disk.fail(.write, number: 2, of: ".segment", with: .noSpace) }
        let gate = shop.disk.hold(.write)
        let threads = TestThreads()
        let outcomes = Outcomes()
        threads.start { outcomes.run("first") { try shop.put("first", 1) } }
        gate.waitUntilReached()
        threads.start { outcomes.run("second") { try shop.put("second", 2) } }
        inTime(for: "the second commit to wait in the queue") {
            while shop.store.engine.queue.waitingCount < 1 { sched_yield() }
        }
        threads.start {
            outcomes.run("delete") {
                let fetch = StoreFetch(
                    entity: 0, predicate: .compare("value", .greater, .integer(0)))
                var result = BatchInsertResult()
                result.insertedCount = try shop.store.execute(BatchDeleteRequest(.fetch(fetch)))
                    .deletedCount
                return result
            }
        }
        for _ in 0..<100_000 where shop.store.engine.queue.waitingCount < 2 { sched_yield() }
        #expect(shop.store.engine.queue.waitingCount == 2)
        gate.open()
        threads.join()
        #expect(try outcomes.all["first"]?.get() == 1)
        if isFailing {
            #expect(throws: StoreError.self) { try outcomes.all["second"]?.get() }
            #expect(throws: StoreError.self) { try outcomes.all["delete"]?.get() }
            // It lies where the second one was.
            try shop.put("third", 3)
            #expect(try shop.content() == ["old": 0, "first": 1, "third": 3])
        } else {
            #expect(try outcomes.all["delete"]?.get() == 2)
            #expect(try shop.content() == ["old": 0])
        }
        let content = try shop.content()
        try shop.store.close()
        #expect(try shop.reopened() == content)
    }

    @Test("What an unfinished commit makes needless is not said to be done before that is")
    func needless() throws {
        for isFailing in [false, true] {
            let shop = try Shop()
            if isFailing { shop.disk.fail(.synchronize, with: .ioError) }
            let gate = shop.disk.hold(.synchronize)
            let threads = TestThreads()
            let outcomes = Outcomes()
            threads.start { outcomes.run("first") { try shop.put("same", 1) } }
            gate.waitUntilReached()
            threads.start { outcomes.run("second") { try shop.put("same", 1) } }
            // It cannot be seen waiting; that it has not ended too early is what may show.
            for _ in 0..<100 { sched_yield() }
            #expect(outcomes.all.isEmpty)
            gate.open()
            threads.join()
            if isFailing {
                #expect(throws: StoreError.self) { try outcomes.all["second"]?.get() }
            } else {
                #expect(try outcomes.all["second"]?.get() == 0)
            }
        }
    }

    @Test(
        "Many threads commit, and each finds its own commits and loses none (CM1)",
        arguments: [(1 << 30, .full), (3000, .full), (3000, .relaxed)]
            as [(UInt64, LogStoreOptions.Durability)])
    func many(segmentBytes: UInt64, durability: LogStoreOptions.Durability) throws {
        let shop = try Shop(segmentBytes: segmentBytes, durability: durability)
        let problems = Mutex<[String]>([])
        TestThreads.run(6) { thread in
            for number in 0..<20 {
                do {
                    try shop.put("\(thread)", number)
                    try shop.put("\(thread)-\(number)", number)
                    let seen = try shop.content()
                    if seen["\(thread)"] != Int64(number)
                        || seen["\(thread)-\(number)"] != Int64(number)
                    {
                        problems.withLock { $0.append("\(thread) does not see \(number)") }
                    }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(problems.withLock { $0 } == [])
        let content = try shop.content()
        #expect(content.count == 6 * 21)
        try shop.store.close()
        #expect(try shop.reopened() == content)
    }

    @Test("Writes that fail now and then fail those commits alone, whoever commits beside them")
    func failuresAmongMany() throws {
        var random = RandomSource()
        let shop = try Shop(segmentBytes: 20_000)
        for _ in 0..<20 {
            shop.disk.fail(
                .write, number: 1 + Int(random.next() % 400), of: ".segment", with: .noSpace,
                afterWriting: Int(random.next() % 300))
        }
        let kept = Mutex<[String: Int64]>([:])
        let unexpected = Mutex<[String]>([])
        TestThreads.run(4) { thread in
            for number in 0..<80 {
                let key = "\(thread)-\(number % 50)"
                do {
                    try shop.put(key, number)
                    kept.withLock { $0[key] = Int64(number) }
                } catch let error as StoreError where error.code == .noSpace {
                } catch {
                    unexpected.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(unexpected.withLock { $0 } == [])
        let expected = kept.withLock { $0 }
        #expect(try shop.content() == expected)
        shop.disk.clearFaults()
        try shop.store.close()
        #expect(try shop.reopened() == expected)
    }
}
