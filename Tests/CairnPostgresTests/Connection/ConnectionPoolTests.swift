import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

@Suite("A pool of connections", .enabled(if: PostgresServer.isInstalled))
struct ConnectionPoolTests {
    private func pool(
        _ server: PostgresServer, limit: Int = 2,
        _ change: (inout ConnectionPool.Settings) -> Void = { _ in }
    ) throws -> ConnectionPool {
        var settings = ConnectionPool.Settings()
        settings.limit = limit
        change(&settings)
        return ConnectionPool(try ConnectionString(server.url()), settings: settings)
    }

    private func one(_ pool: ConnectionPool) throws(SQLFailure) -> Int32 {
        try pool.withConnection { connection throws(SQLFailure) in
            try connection.run("SELECT 1")
            return connection.processID
        }
    }

    @Test("opens none before one is needed, and lends the same again")
    func reuse() throws {
        let pool = try pool(.shared())
        #expect(pool.counts == (0, 0, 0))
        let first = try one(pool)
        #expect(pool.counts == (0, 1, 0))
        #expect(try one(pool) == first)
    }

    @Test("never opens more than the limit, whoever asks")
    func limit() throws {
        let pool = try pool(.shared(), limit: 3)
        let most = Mutex((now: 0, most: 0))
        let served = Atomic(0)
        TestThreads.run(12) { _ in
            for _ in 0..<10 {
                do {
                    try pool.withConnection(.within(.seconds(300))) {
                        connection throws(SQLFailure) in
                        most.withLock {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                        }
                        defer { most.withLock { $0.now -= 1 } }
                        try connection.run("SELECT pg_sleep(0.001)")
                        served.add(1, ordering: .relaxed)
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
        #expect(served.load(ordering: .relaxed) == 120)
        #expect(most.withLock { $0.most } <= 3)
        #expect(pool.counts.lent == 0)
        #expect(pool.counts.idle <= 3)
    }

    @Test("says so when all are in use for too long, and when the wait is given up")
    func exhausted() throws {
        let pool = try pool(.shared(), limit: 1) { $0.patience = .milliseconds(50) }
        let held = try pool.borrow()
        let thrown = failure { _ = try pool.borrow() }
        guard case .poolExhausted = thrown?.kind, let thrown else {
            Issue.record("\(String(describing: thrown))")
            return
        }
        #expect(StoreError(thrown).code == .storeInUse)
        #expect("\(StoreError(thrown))".contains("all 1 are in use"))
        #expect(failure { _ = try pool.borrow(CallBound { true }) }?.isCancelled == true)
        #expect(pool.counts == (1, 0, 0))
        pool.giveBack(held)
        #expect(try one(pool) == held.processID)
    }

    @Test("the error of a closure comes out as it is, and its transaction is rolled back")
    func rollsBack() throws {
        let pool = try pool(.shared(), limit: 1)
        #expect(throws: StoreError.self) {
            try pool.withConnection { connection throws(StoreError) in
                do throws(SQLFailure) {
                    try connection.run("BEGIN")
                    try connection.run("CREATE TABLE left_behind (a int8)")
                } catch {
                    throw StoreError(error)
                }
                throw StoreError(.validation, "no")
            }
        }
        try pool.withConnection { connection throws(SQLFailure) in
            #expect(connection.transactionStatus == .none)
            let found = try connection.run(
                "SELECT count(*) FROM pg_tables WHERE tablename = 'left_behind'")
            #expect(try found.integer(0, 0) == 0)
        }
    }

    @Test("recovers by itself when the server has restarted")
    func restart() throws {
        let server = try PostgresServer()
        let pool = try pool(server, limit: 3)
        let held = try (0..<3).map { _ in try pool.borrow() }
        for connection in held { pool.giveBack(connection) }
        #expect(pool.counts == (0, 3, 0))
        let before = Set(held.map(\.processID))
        try server.restart(immediately: true)
        for _ in 0..<4 {
            let again = try pool.borrow()
            #expect(try again.run("SELECT 1").rowCount == 1)
            #expect(!before.contains(again.processID))
            pool.giveBack(again)
        }
        try server.stop()
        let thrown = failure { _ = try one(pool) }
        #expect(thrown.map { StoreError($0).code } == .openFailed)
        #expect(pool.counts.lent == 0)
        try server.start()
        _ = try one(pool)
    }

    @Test("a connection that broke in the closure is not lent again")
    func broken() throws {
        let server = try PostgresServer.shared()
        let pool = try pool(server, limit: 1)
        let first = try pool.borrow()
        try server.run("SELECT pg_terminate_backend(\(first.processID))")
        _ = failure { for _ in 0..<1000 { try first.run("SELECT 1") } }
        pool.giveBack(first)
        #expect(pool.counts == (0, 0, 0))
        #expect(try one(pool) != first.processID)
    }

    @Test("one that was idle for long is asked, and closed after longer")
    func idle() throws {
        let asking = try pool(.shared(), limit: 1) { $0.checkAfter = .zero }
        _ = try one(asking)
        let connection = try asking.borrow()
        // "SELECT 1" of the first use, and the question.
        #expect(connection.roundTrips == 2)
        asking.giveBack(connection)
        let closing = try pool(.shared(), limit: 1) { $0.closeAfter = .zero }
        let first = try one(closing)
        #expect(try one(closing) != first)
    }

    @Test("after closing, waiting and coming callers get an error, and what is lent is closed")
    func closing() throws {
        let pool = try pool(.shared(), limit: 1)
        let held = try pool.borrow()
        let threads = TestThreads()
        let waiting = Mutex<SQLFailure?>(nil)
        threads.start {
            let thrown = failure { _ = try pool.borrow() }
            waiting.withLock { $0 = thrown }
        }
        inTime(for: "a caller to wait", within: 300) { while pool.counts.waiting == 0 {} }
        pool.close()
        threads.join()
        for thrown in [waiting.withLock { $0 }, failure { _ = try pool.borrow() }] {
            guard case .closed = thrown?.kind, let thrown else {
                Issue.record("\(String(describing: thrown))")
                return
            }
            #expect(StoreError(thrown).code == .unusable)
        }
        pool.giveBack(held)
        #expect(pool.counts == (0, 0, 0))
    }

    @Test("what each connection has to do first is done once, and its failure is the caller's")
    func onOpen() throws {
        let server = try PostgresServer.shared()
        let opened = Atomic(0)
        let string = try ConnectionString(server.url())
        let pool = ConnectionPool(
            string,
            onOpen: { connection throws(SQLFailure) in
                opened.add(1, ordering: .relaxed)
                try connection.run("SET search_path = somewhere", [], .once)
            })
        for _ in 0..<3 {
            try pool.withConnection { connection throws(SQLFailure) in
                #expect(try connection.run("SHOW search_path").string(0, 0) == "somewhere")
            }
        }
        #expect(opened.load(ordering: .relaxed) == 1)
        let failing = ConnectionPool(
            string,
            onOpen: { connection throws(SQLFailure) in
                try connection.run("SELEC", [], .once)
            })
        #expect(failure { _ = try failing.borrow() }?.sqlState?.code == "42601")
        #expect(failing.counts == (0, 0, 0))
    }
}
