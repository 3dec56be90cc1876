import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Calls that take too long or are given up", .enabled(if: PostgresServer.isInstalled))
struct BoundTests {
    private func connect() throws -> PostgresConnection { try PostgresServer.shared().connect() }

    @Test(
        "a statement that takes too long is cancelled at the server, and the connection is of use")
    func deadline() throws {
        let connection = try connect()
        let begin = ContinuousClock.now
        let thrown = failure {
            try connection.run("SELECT pg_sleep(600)", bound: .within(.milliseconds(100)))
        }
        #expect(ContinuousClock.now - begin < .seconds(300))
        #expect(thrown?.isTimeout == true)
        #expect(thrown.map { StoreError($0).code } == .storeInUse)
        #expect(!connection.isBroken)
        #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
    }

    @Test("the connection's own bound is that of calls without one")
    func ownBound() throws {
        let connection = try connect()
        connection.bound = .within(.milliseconds(100))
        #expect(failure { try connection.run("SELECT pg_sleep(600)") }?.isTimeout == true)
        // It is over: nothing is sent any more.
        let trips = connection.roundTrips
        #expect(failure { try connection.run("SELECT 1") }?.isTimeout == true)
        #expect(connection.roundTrips == trips || !connection.isBroken)
        connection.bound = CallBound()
        #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
    }

    @Test("who gives a call up gets it back soon")
    func cancelled() throws {
        let connection = try connect()
        let asked = Atomic(0)
        let bound = CallBound {
            asked.add(1, ordering: .relaxed).newValue > 3
        }
        let thrown = failure { try connection.run("SELECT pg_sleep(600)", bound: bound) }
        #expect(thrown?.isCancelled == true)
        #expect(thrown.map { StoreError($0).code } == .cancelled)
        #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
    }

    @Test("a batch that is given up is cancelled where it is")
    func inBatch() throws {
        let connection = try connect()
        let thrown = failure {
            try connection.pipeline(
                [Statement("SELECT 1"), Statement("SELECT pg_sleep(600)"), Statement("SELECT 2")],
                bound: .within(.milliseconds(100)))
        }
        #expect(thrown?.isTimeout == true)
        #expect(thrown?.statementIndex == 1)
        #expect(try connection.run("SELECT 1").integer(0, 0) == 1)
    }

    @Test("a cancellation never meets the next statement")
    func noStrayCancellation() throws {
        let connection = try connect()
        // Statements that end about when they are given up.
        for round in 0..<60 {
            let sleep = Double(round % 12) / 1000
            _ = try? connection.run(
                "SELECT pg_sleep($1)", [.double(sleep)], bound: .within(.milliseconds(5)))
            #expect(!connection.isBroken)
            #expect(try connection.run("SELECT $1::int8", [.int64(7)]).integer(0, 0) == 7)
        }
    }

    @Test("an administrator's cancellation and the server's own limit are cancellations")
    func byServer() throws {
        let connection = try connect()
        try connection.run("SET statement_timeout = '50ms'", [], .once)
        let thrown = failure { try connection.run("SELECT pg_sleep(600)") }
        #expect(thrown?.isCancelled == true)
        #expect(thrown?.isTimeout == false)
        #expect(thrown.map { StoreError($0).code } == .cancelled)
    }

    @Test("a server that accepts and says nothing costs its own time alone")
    func silentHost() throws {
        let silent = try SilentHost()
        let server = try PostgresServer.shared()
        let text =
            "postgresql://cairn@127.0.0.1:\(silent.port),127.0.0.1:\(server.port)/postgres?connect_timeout=2"
        let connection = try PostgresConnection.open(
            ConnectionString(text), .within(.seconds(120)))
        #expect(connection.server.contains(":\(server.port)/"))
        let alone = try ConnectionString("postgresql://cairn@127.0.0.1:\(silent.port)/postgres")
        let thrown = failure { _ = try PostgresConnection.open(alone, .within(.milliseconds(200))) }
        #expect(thrown?.message.contains("in time") == true)
        #expect(thrown.map { StoreError($0).code } == .openFailed)
        let cancelled = failure {
            _ = try PostgresConnection.open(alone, CallBound(isCancelled: { true }))
        }
        #expect(cancelled?.isCancelled == true)
    }

    @Test("a host that refuses gives way to the next, and the error names all if none takes us")
    func refusingHost() throws {
        let server = try PostgresServer.shared()
        let free = try FreePort.find()
        let connection = try PostgresConnection.open(
            ConnectionString(
                "host=127.0.0.1,127.0.0.1 port=\(free),\(server.port) user=cairn dbname=postgres"))
        #expect(connection.server.contains(":\(server.port)/"))
        let none = try ConnectionString(
            "host=127.0.0.1,localhost port=\(free) user=cairn dbname=postgres")
        let thrown = failure { _ = try PostgresConnection.open(none) }
        #expect(thrown?.message.contains("127.0.0.1:\(free)") == true)
        #expect(thrown?.message.contains("localhost:\(free)") == true)
    }

    @Test("a standby is wanted, preferred, or passed over")
    func sessionAttributes() throws {
        let primary = try PostgresServer()
        let standby = try PostgresServer(following: primary, as: "n2")
        func port(_ wanted: String, _ ports: [Int]) throws -> Int? {
            let list = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
            let text = "postgresql://cairn@\(list)/postgres?target_session_attrs=\(wanted)"
            return try PostgresConnection.open(ConnectionString(text)).server
                .split(separator: ":").last?.split(separator: "/").first.flatMap { Int($0) }
        }
        let both = [primary.port, standby.port]
        for ports in [both, both.reversed()] {
            #expect(try port("read-write", ports) == primary.port)
            #expect(try port("standby", ports) == standby.port)
            #expect(try port("prefer-standby", ports) == standby.port)
        }
        #expect(try port("prefer-standby", [primary.port]) == primary.port)
        #expect(throws: SQLFailure.self) { try port("read-write", [standby.port]) }
    }
}

/// A port that takes connections and never says anything.
private final class SilentHost {
    struct Failure: Error {}

    let port: Int
    private let descriptor: CInt

    init() throws {
        port = try FreePort.find()
        #if canImport(Glibc)
            descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let bound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, listen(descriptor, 16) == 0 else { throw Failure() }
    }

    deinit { close(descriptor) }
}
