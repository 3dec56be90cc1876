// Closing waits for a batch that has the turn, and nobody else waits for that.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

#if canImport(Dispatch)
    import Dispatch
#endif

@Suite("Closing beside a batch")
struct ClosingTests {
    private static func open(_ disk: any FileSystem, at folder: String = "/store") throws
        -> LogStore
    {
        var options = SampleStore.options(on: disk, durability: .relaxed)
        options.sizes.stagingBytes = 1
        return try LogStore.open(
            at: folder, schema: Schema(CommittersTests.model), options: options)
    }

    /// A batch of 3000 items, whose closure does something once when it has the turn.
    private static func insert(
        into store: LogStore, _ body: @escaping @Sendable () -> Void
    ) throws {
        let count = Mutex(0)
        _ = try store.execute(
            BatchInsertRequest(entity: store.schema.entities[0]) { row in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number > 3000 { return true }
                guard row.set(0, .string("key \(number)")) else { return true }
                if number == 3000 { body() }
                return false
            })
    }

    @Test(
        "A batch's closure opens and closes another store while its own is closed or removed",
        arguments: [false, true])
    func otherStore(isRemoved: Bool) throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try Self.open(disk, at: "/other").close()
        let (inTurn, isDone) = (CallGate(), DispatchSemaphore(value: 0))
        let threads = TestThreads()
        let failures = Mutex<[String]>([])
        @Sendable func note(_ what: String, _ body: () throws -> Void) {
            do { try body() } catch { failures.withLock { $0.append("\(what): \(error)") } }
        }
        threads.start {
            note("closing") {
                inTurn.waitUntilOpen()
                if isRemoved {
                    try LogStore.destroy(at: "/store", on: disk, force: true)
                } else {
                    try store.close()
                }
            }
        }
        try Self.insert(into: store) {
            inTurn.open()
            // Until it waits for the turn.
            inTime(for: "the store's closing to wait for its turn") {
                while store.engine.queue.committers.load(ordering: .relaxed) < 2 { sched_yield() }
            }
            threads.start {
                note("the other store") { try Self.open(disk, at: "/other").close() }
                isDone.signal()
            }
            // Nothing holds it up; the limit is for a test that has failed, which would never end.
            if isDone.wait(timeout: .now() + 60) == .timedOut {
                failures.withLock { $0.append("the other store cannot be opened") }
            }
        }
        threads.join()
        #expect(failures.withLock { $0 } == [])
        #expect(try disk.exists("/store") != isRemoved)
        if isRemoved { return }
        let again = try Self.open(disk)
        #expect(try again.snapshot().count(StoreFetch(entity: 0)) == 3000)
        try again.close()
    }

    @Test("Who opens a store that is being closed has it when that is done")
    func openedAgain() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        let inTurn = CallGate()
        let threads = TestThreads()
        let counts = Mutex<[Int]>([])
        threads.start {
            inTurn.waitUntilOpen()
            try? store.close()
        }
        try Self.insert(into: store) {
            inTurn.open()
            inTime(for: "the store's closing to wait for its turn") {
                while store.engine.queue.committers.load(ordering: .relaxed) < 2 { sched_yield() }
            }
            for _ in 0..<3 {
                threads.start {
                    guard let again = try? Self.open(disk),
                        let count = try? again.snapshot().count(StoreFetch(entity: 0))
                    else { return }
                    counts.withLock { $0.append(count) }
                    try? again.close()
                }
            }
        }
        threads.join()
        #expect(counts.withLock { $0 } == [3000, 3000, 3000])
    }

    @Test("A store that its own batch's closure closes stays open, and is closed after it")
    func ownStore() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        let codes = Mutex<[StoreError.Code]>([])
        try Self.insert(into: store) {
            do throws(StoreError) {
                try store.close()
            } catch {
                codes.withLock { $0.append(error.code) }
            }
        }
        #expect(codes.withLock { $0 } == [.invalidRequest])
        #expect(try store.snapshot().count(StoreFetch(entity: 0)) == 3000)
        try store.close()
        // Nobody has it open any more: else it could not be removed.
        try LogStore.destroy(at: "/store", on: disk)
        #expect(try !disk.exists("/store"))
    }
}
