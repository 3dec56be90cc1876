import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite("Servers that go away, and doors that stay shut", .enabled(if: PostgresServer.isInstalled))
struct LossTests {
    /// Waits until a server carries out a statement that sleeps.
    private func waitForSleeper(_ server: PostgresServer) throws {
        try inTime(for: "a statement to sleep", within: 300) {
            while try server.run(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") != "1\n"
            {}
        }
    }

    @Test(
        "a server that stops in the middle of a call ends it as a loss", arguments: [false, true])
    func stopped(immediately: Bool) throws {
        let server = try PostgresServer()
        let connection = try server.connect()
        let threads = TestThreads()
        threads.start {
            try? self.waitForSleeper(server)
            try? server.stop(immediately: immediately)
        }
        let thrown = failure {
            try connection.pipeline([Statement("SELECT 1"), Statement("SELECT pg_sleep(600)")])
        }
        threads.join()
        #expect(thrown?.isConnectionLoss == true)
        #expect(thrown?.statementIndex == 1)
        #expect(thrown.map { StoreError($0).code } == .inputOutput)
        #expect(connection.isBroken)
        #expect(connection.transactionStatus != .open)
        guard case .closed = failure(of: { try connection.run("SELECT 1") })?.kind else {
            Issue.record("a lost connection takes statements")
            return
        }
        let refused = failure { _ = try server.connect() }
        #expect(refused.map { StoreError($0).code } == .openFailed)
        try server.start()
        #expect(try server.connect().run("SELECT 1").rowCount == 1)
    }

    @Test("a connection that an administrator ends says so")
    func terminated() throws {
        let server = try PostgresServer.shared()
        let connection = try server.connect()
        try server.run("SELECT pg_terminate_backend(\(connection.processID))")
        let thrown = failure {
            // The word of its end may come after the first statement.
            for _ in 0..<1000 { try connection.run("SELECT 1") }
        }
        #expect(thrown?.isConnectionLoss == true)
        #expect(connection.isBroken)
    }

    @Test("a server that is killed in the middle of a copy")
    func stoppedInCopy() throws {
        let server = try PostgresServer()
        let connection = try server.connect()
        try connection.run("CREATE TABLE t (a int8)")
        let thrown = failure {
            try connection.copyIn("COPY t FROM STDIN (FORMAT binary)") { writer in
                for number in 0..<10_000_000 {
                    if number == 100_000 { try server.stop(immediately: true) }
                    try writer.beginRow(1)
                    writer.fields.append(number: Int64(number))
                }
            }
        }
        #expect(thrown?.isConnectionLoss == true)
        #expect(connection.isBroken)
        try server.start()
        #expect(try server.connect().run("SELECT count(*) FROM t").integer(0, 0) == 0)
    }

    private static let password = "sesam-öffne dich/%&='\\\"@:?#"

    @Test("a wrong password is refused, and stands nowhere")
    func password() throws {
        var settings = PostgresServer.Settings()
        settings.isDurable = false
        settings.password = Self.password
        let server = try PostgresServer(settings)
        #expect(try server.connect().run("SELECT 1").rowCount == 1)
        for wrong in ["geheimnis", ""] {
            let string = try ConnectionString(server.url(password: wrong))
            let thrown = failure { _ = try PostgresConnection.open(string) }
            #expect(thrown?.isAuthentication == true)
            guard let thrown else { return }
            let error = StoreError(thrown)
            #expect(error.code == .openFailed)
            #expect(error.message.contains("127.0.0.1:\(server.port)"))
            for text in ["\(thrown)", "\(error)", error.fullDescription, "\(error.userInfo)"] {
                #expect(!text.contains("geheimnis"))
                #expect(!text.contains("LOCATION"))
            }
        }
        // One wrong answer is enough: the other hosts would say the same.
        let twice = "127.0.0.1:\(server.port),127.0.0.1:\(server.port)"
        let string = try ConnectionString(
            server.url(password: "geheimnis").replacing("127.0.0.1:\(server.port)", with: twice))
        let thrown = failure { _ = try PostgresConnection.open(string) }
        #expect(thrown?.isAuthentication == true)
        #expect(thrown?.message.components(separatedBy: "password authentication").count == 2)
    }

    @Test("a database that is missing, a role that may not, a full house")
    func refused() throws {
        var settings = PostgresServer.Settings()
        settings.isDurable = false
        settings.configuration = [
            "max_connections": "4", "superuser_reserved_connections": "0", "max_wal_senders": "0",
        ]
        let server = try PostgresServer(settings)
        let missing = failure { _ = try server.connect(database: "no_such") }
        #expect(missing?.sqlState?.isMissingDatabase == true)
        #expect(missing.map { StoreError($0).code } == .openFailed)
        try server.run("CREATE TABLE t (a int8); CREATE ROLE clerk LOGIN")
        let clerk = try PostgresConnection.open(ConnectionString(server.url(user: "clerk")))
        let forbidden = failure { try clerk.run("INSERT INTO t VALUES (1)") }
        #expect(forbidden?.isPermission == true)
        #expect(forbidden.map { StoreError($0).code } == .readOnly)
        var guests: [PostgresConnection] = []
        let full = failure { while true { guests.append(try server.connect()) } }
        #expect(full?.isTooManyConnections == true)
        #expect(guests.count >= 1)
    }

    @Test("what the server says of values stands in no message")
    func valuesStayOut() throws {
        let connection = try PostgresServer.shared().connect()
        try connection.run(
            "CREATE TEMPORARY TABLE people (name text CONSTRAINT people_name UNIQUE, n int8)")
        try connection.run("INSERT INTO people VALUES ('Schmidt', 1)")
        let failures = [
            "INSERT INTO people VALUES ('Schmidt', 2)", "SELECT 'Schmidt'::int8",
            "SELECT 1 / (length('Schmidt') - 7)",
        ].compactMap { sql in failure { try connection.run(sql, [], .once) } }
        #expect(failures.count == 3)
        for failure in failures {
            let error = StoreError(failure)
            #expect(!"\(error)".contains("Schmidt"))
        }
        #expect(StoreError(failures[0]).code == .constraintConflict)
        #expect("\(StoreError(failures[0]))".contains("people_name"))
        #expect(StoreError(failures[0]).fullDescription.contains("Schmidt"))
    }

    @Test("codes of the server become those of stores")
    func codes() {
        let codes: [(String, StoreError.Code)] = [
            ("40001", .storeInUse), ("40P01", .storeInUse), ("23505", .constraintConflict),
            ("53100", .noSpace), ("25006", .readOnly), ("42501", .readOnly), ("53300", .storeInUse),
            ("28P01", .openFailed), ("57014", .cancelled), ("57P01", .inputOutput),
            ("08006", .inputOutput), ("XX001", .damaged), ("55P03", .storeInUse),
            ("42P01", .damaged), ("22012", .inputOutput), ("42P05", .inputOutput),
        ]
        for (state, code) in codes {
            let failure = SQLFailure(.server, "said", server: "here", sqlState: SQLState(state))
            #expect(StoreError(failure).code == code, "\(state)")
            #expect("\(StoreError(failure))".contains(state))
        }
        let pooled = StoreError(SQLFailure(.server, "", sqlState: SQLState("42P05")))
        #expect("\(pooled)".contains("cairn_prepared_statements=0"))
        #expect(SQLFailure(.server, "", sqlState: SQLState("40001")).isSerialization)
        #expect(SQLFailure(.server, "", sqlState: SQLState("23503")).isForeignKeyViolation)
        #expect(SQLFailure(.server, "", sqlState: SQLState("53100")).isDiskFull)
    }
}
