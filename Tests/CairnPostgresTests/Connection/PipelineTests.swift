import CairnTestSupport
import PostgresServers
import Synchronization
import Testing

@testable import CairnPostgres

@Suite("Batches of statements", .enabled(if: PostgresServer.isInstalled))
struct PipelineTests {
    private func connect() throws -> PostgresConnection { try PostgresServer.shared().connect() }

    private func numbers(in connection: PostgresConnection) throws -> [Int64] {
        let result = try connection.run("SELECT a FROM t ORDER BY a")
        return try (0..<result.rowCount).map { try result.integer($0, 0) }
    }

    private func insert(_ number: Int64, endsSegment: Bool = false) -> Statement {
        Statement("INSERT INTO t VALUES ($1)", [.int64(number)], endsSegment: endsSegment)
    }

    @Test("cost one round trip and give a result for each statement")
    func oneTrip() throws {
        let connection = try connect()
        let trips = connection.roundTrips
        let results = try connection.pipeline([
            Statement("CREATE TEMPORARY TABLE t (a int8 PRIMARY KEY)", [], .once),
            insert(1), insert(2), Statement("SELECT count(*) FROM t"), Statement("TABLE t"),
        ])
        #expect(connection.roundTrips == trips + 1)
        #expect(results.count == 5)
        #expect(results[1].affectedRows == 1)
        #expect(results[1].commandTag == "INSERT 0 1")
        #expect(try results[3].integer(0, 0) == 2)
        #expect(results[4].rowCount == 2)
        #expect(results[4].columnName(0) == "a")
        #expect(results[4].columnType(0) == .int64)
        #expect(try connection.pipeline([]).isEmpty)
        #expect(connection.roundTrips == trips + 1)
    }

    @Test(
        "a failure in the middle tells which one, the others are skipped, and the connection is of use"
    )
    func failureInTheMiddle() throws {
        let connection = try connect()
        try connection.run("CREATE TEMPORARY TABLE t (a int8 PRIMARY KEY)")
        let batch = [insert(1), insert(1), insert(3), Statement("SELECT no_such_column FROM t")]
        let outcomes = try connection.outcomes(of: batch)
        var names: [String] = []
        for outcome in outcomes {
            switch outcome {
            case .finished: names.append("finished")
            case .failed(let failure):
                names.append("failed")
                #expect(failure.isUniqueViolation)
                #expect(failure.statementIndex == 1)
                #expect(failure.constraintName == "t_pkey")
                #expect(failure.tableName == "t")
            case .skipped: names.append("skipped")
            }
        }
        #expect(names == ["finished", "failed", "skipped", "skipped"])
        #expect(try numbers(in: connection).isEmpty)
        let thrown = failure { try connection.pipeline(batch) }
        #expect(thrown?.statementIndex == 1)
        #expect(connection.transactionStatus == .none)
        try connection.pipeline([insert(1), insert(2)])
        #expect(try numbers(in: connection) == [1, 2])
    }

    @Test("what cannot be prepared fails by itself, and is prepared the next time if it can be")
    func failureOfPreparing() throws {
        let connection = try connect()
        let trips = connection.roundTrips
        let thrown = failure { try connection.pipeline([Statement("SELECT 1"), insert(1)]) }
        #expect(thrown?.statementIndex == 1)
        #expect(thrown?.sqlState?.isMissingTable == true)
        try connection.run("CREATE TEMPORARY TABLE t (a int8 PRIMARY KEY)", [], .once)
        try connection.pipeline([Statement("SELECT 1"), insert(1)])
        #expect(try numbers(in: connection) == [1])
        #expect(connection.roundTrips == trips + 4)
    }

    @Test("a segment is carried out though the one before it failed")
    func segments() throws {
        let connection = try connect()
        try connection.run("CREATE TEMPORARY TABLE t (a int8 PRIMARY KEY)")
        let trips = connection.roundTrips
        let outcomes = try connection.outcomes(of: [
            insert(1), insert(1, endsSegment: true),
            insert(2, endsSegment: true),
            insert(3), insert(2),
        ])
        #expect(connection.roundTrips == trips + 1)
        let finished = outcomes.map { if case .finished = $0 { true } else { false } }
        #expect(finished == [true, false, true, true, false])
        #expect(try numbers(in: connection) == [2])
    }

    @Test("a transaction that fails is ended by the segment after it, in the same round trip")
    func failedTransaction() throws {
        let connection = try connect()
        try connection.run("CREATE TEMPORARY TABLE t (a int8 PRIMARY KEY)")
        let outcomes = try connection.outcomes(of: [
            Statement("BEGIN"), insert(1), insert(1), Statement("COMMIT", endsSegment: true),
            Statement("ROLLBACK"),
        ])
        guard case .failed = outcomes[2], case .skipped = outcomes[3], case .finished = outcomes[4]
        else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(connection.transactionStatus == .none)
        _ = failure {
            try connection.pipeline([Statement("BEGIN"), insert(1), insert(1), Statement("COMMIT")])
        }
        #expect(connection.transactionStatus == .failed)
        #expect(throws: SQLFailure.self) { try connection.run("SELECT 1") }
        try connection.run("ROLLBACK")
        #expect(try numbers(in: connection).isEmpty)
    }

    @Test("of many statements with much to send and much to get do not block each other")
    func large() throws {
        let connection = try connect()
        let text = String(repeating: "x", count: 30_000)
        let batch = (0..<1000).map { index in
            Statement(
                "SELECT $1::int8, $2::text, repeat('y', 30000)",
                [.int64(Int64(index)), .text(text)],
                endsSegment: index % 100 == 99)
        }
        let trips = connection.roundTrips
        let results = try connection.pipeline(batch)
        #expect(connection.roundTrips == trips + 1)
        #expect(results.count == 1000)
        for (index, result) in results.enumerated() {
            #expect(try result.integer(0, 0) == Int64(index))
            #expect(try result.string(0, 2).utf8.count == 30_000)
        }
    }

    @Test("too many values for a statement are refused before anything is sent")
    func tooMany() throws {
        let connection = try connect()
        let values = Array(repeating: SQLParameter.int64(1), count: 65_536)
        #expect(failure { try connection.run("SELECT 1", values) }?.statementIndex == nil)
        #expect(try connection.run("SELECT 1").rowCount == 1)
    }

    @Test("statements that are not used for long are closed at the server")
    func eviction() throws {
        let connection = try PostgresServer.shared().connect(
            ["cairn_prepared_statements": "3"])
        let trips = connection.roundTrips
        for round in 0..<3 {
            for number in 0..<7 {
                let result = try connection.run("SELECT \(number) + $1::int8", [.int64(1)])
                #expect(try result.integer(0, 0) == Int64(number + 1), "round \(round)")
            }
        }
        try connection.pipeline((0..<7).map { Statement("SELECT \($0) + $1::int8", [.int64(1)]) })
        #expect(connection.roundTrips == trips + 22)
        let kept = try connection.run(
            "SELECT count(*) FROM pg_prepared_statements", [], .once)
        // Those of the batch were under way together; the next batch closes what is too much.
        for number in 0..<7 { try connection.run("SELECT \(number)") }
        let left = try connection.run("SELECT count(*) FROM pg_prepared_statements", [], .once)
        #expect(try kept.integer(0, 0) <= 10)
        #expect(try left.integer(0, 0) <= 4)
        #expect(connection.preparedCount <= 3)
    }

    @Test("without prepared statements everything works as well")
    func unprepared() throws {
        let connection = try PostgresServer.shared().connect(
            ["cairn_prepared_statements": "0"])
        for number in 0..<3 {
            #expect(
                try connection.run("SELECT $1::int8", [.int64(Int64(number))]).integer(0, 0)
                    == Int64(number))
        }
        let kept = try connection.run("SELECT count(*) FROM pg_prepared_statements")
        #expect(try kept.integer(0, 0) == 0)
    }

    @Test("a schema that is changed behind a prepared statement costs a round trip, no error")
    func staleStatement() throws {
        let connection = try connect()
        try connection.run("CREATE TEMPORARY TABLE t (a int8)")
        try connection.run("TABLE t")
        try connection.run("ALTER TABLE t ADD b text")
        let trips = connection.roundTrips
        #expect(try connection.run("TABLE t").columnCount == 2)
        #expect(connection.roundTrips == trips + 2)
        // In a transaction the caller has to begin again.
        try connection.run("ALTER TABLE t ADD c text")
        try connection.run("BEGIN")
        #expect(failure { try connection.run("TABLE t") }?.sqlState?.isStaleStatement == true)
        try connection.run("ROLLBACK")
        #expect(try connection.run("TABLE t").columnCount == 3)
        // A statement that the server has forgotten.
        try connection.run("DEALLOCATE ALL")
        #expect(try connection.run("TABLE t").columnCount == 3)
    }

    @Test("an empty statement, and one that a server refuses as it stands")
    func odd() throws {
        let connection = try connect()
        #expect(try connection.run("").rowCount == 0)
        #expect(failure { try connection.run("SELEC 1") }?.sqlState?.code == "42601")
        #expect(failure { try connection.run("SELECT 1; SELECT 2") }?.sqlState?.code == "42601")
        // Nobody would take what it copies.
        #expect(failure { try connection.run("COPY pg_class TO STDOUT") } != nil)
        #expect(connection.isBroken)
    }

    @Test("remarks of the server go to the closure, with their code")
    func notices() throws {
        let heard = Mutex<[PostgresNotice]>([])
        let connection = try PostgresServer.shared().connect { notice in
            heard.withLock { $0.append(notice) }
        }
        try connection.run(
            "DO $$ BEGIN RAISE WARNING 'look out' USING ERRCODE = '01234'; END $$", [], .once)
        try connection.run("DROP TABLE IF EXISTS no_such_table", [], .once)
        let notices = heard.withLock { $0 }
        #expect(notices.map(\.severity) == ["WARNING", "NOTICE"])
        #expect(notices.first?.message == "look out")
        #expect(notices.first?.sqlState == SQLState("01234"))
    }

    @Test("notifications come to who listens, in their order")
    func notifications() throws {
        let server = try PostgresServer.shared()
        let channel = server.newName("channel")
        let listener = try server.connect()
        let sender = try server.connect()
        try listener.run("LISTEN \(channel)", [], .once)
        #expect(try listener.notifications().isEmpty)
        #expect(try listener.waitForNotifications(.within(.milliseconds(20))).isEmpty)
        for number in 1...3 {
            try sender.run("SELECT pg_notify($1, $2)", [.text(channel), .text("\(number)")])
        }
        var found: [PostgresNotification] = []
        while found.count < 3 {
            let more = try listener.waitForNotifications(.within(.seconds(60)))
            guard !more.isEmpty else { break }
            found += more
        }
        #expect(found.map(\.payload) == ["1", "2", "3"])
        #expect(found.allSatisfy { $0.channel == channel && $0.processID == sender.processID })
    }

    @Test("a connection knows its server")
    func facts() throws {
        let server = try PostgresServer.shared()
        let connection = try server.connect()
        #expect(connection.server == "127.0.0.1:\(server.port)/postgres")
        #expect(connection.serverVersion >= 150_000)
        #expect(connection.parameter("server_encoding") == "UTF8")
        #expect(connection.parameter("client_encoding") == "UTF8")
        #expect(connection.parameter("application_name") == "cairn")
        #expect(connection.transactionStatus == .none)
        #expect(connection.isQuiet)
    }
}
