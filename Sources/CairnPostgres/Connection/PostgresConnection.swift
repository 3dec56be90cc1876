// A connection that carries out statements.
//
//   1. All statements go by the extended protocol: values are parameters in binary form, never text in the statement.
//   2. What is carried out more than once is prepared and kept (PreparedStatements).
//   3. A batch costs one round trip, however many statements it has (PipelineRun). A single statement is a batch of one.
//   4. A call may take as long as its bound, or else the connection's, says (ServerLink).
//
// Invariant: between two calls nothing is under way, or the connection is broken.
// Threads: one at a time. Calls block.

import CLibPQ
import FoundationEssentials

/// Sees each round trip of a connection, which is named by the server's process for it, with the texts of its statements.
package typealias StatementObserver =
    @Sendable (_ connection: Int32, _ statements: [String]) ->
    Void

final class PostgresConnection: @unchecked Sendable {
    // One thread at a time has it: the pool lends it to one closure, which must not keep it.
    let link: ServerLink
    private var prepared: PreparedStatements
    /// How often something was sent and its answer waited for; connecting does not count.
    var roundTrips = 0
    /// For calls that have none of their own.
    var bound = CallBound()
    /// What it is lent for.
    var purpose = ConnectionPool.Purpose.request
    /// Sees what is sent.
    var observer: StatementObserver?
    /// Whether the end of a transaction was sent whose answer nobody has read yet.
    var isEnding = false
    /// What the last commit has left in the table of tokens, for the next one to remove.
    var lastToken: UUID?

    init(_ link: ServerLink, preparedStatementLimit: Int) {
        self.link = link
        prepared = PreparedStatements(limit: preparedStatementLimit)
    }

    /// Connects to the first server that wants it.
    static func open(
        _ string: ConnectionString, _ bound: CallBound = .within(.seconds(30)),
        onNotice: @escaping @Sendable (PostgresNotice) -> Void = { _ in }
    ) throws(SQLFailure) -> PostgresConnection {
        let link = try Connector(string: string, onNotice: onNotice).connect(bound)
        return PostgresConnection(link, preparedStatementLimit: string.preparedStatementLimit)
    }

    // MARK: What it is

    /// "host:port/database".
    var server: String { link.server }

    /// Whether it can carry out nothing any more.
    var isBroken: Bool { link.isBroken || link.isBad }

    /// 150020 for 15.20. Servers that are not PostgreSQL say what they are compatible with.
    var serverVersion: Int { Int(PQserverVersion(link.handle)) }

    /// What the server says of itself: "server_encoding", "in_hot_standby", "crdb_version".
    func parameter(_ name: String) -> String? {
        PQparameterStatus(link.handle, name).map { String(cString: $0) }
    }

    /// The server's process for it.
    var processID: Int32 { PQbackendPID(link.handle) }

    /// The socket, for a thread that waits for several things at once. It may be another one after each call.
    var socket: Int32 { PQsocket(link.handle) }

    /// How many warnings the server has sent.
    var warnings: Int { link.warnings }

    /// How many statements are prepared.
    var preparedCount: Int { prepared.count }

    /// Whether a glance at the socket shows nothing: a server that has closed an idle connection has said so there. Costs no
    /// round trip.
    var isQuiet: Bool {
        guard !isBroken else { return false }
        // A notice or a changed setting may have come as well; or a last word, and behind it the end.
        while ServerLink.poll(socket, ServerLink.readable, 0) != nil {
            guard PQconsumeInput(link.handle) == 1, !isBroken else {
                link.breakOff()
                return false
            }
        }
        return true
    }

    enum TransactionStatus: Sendable {
        /// No transaction.
        case none
        case open
        /// Something failed in it: all that it takes is its end.
        case failed
        /// A statement is under way, or the connection is gone.
        case unknown
    }

    var transactionStatus: TransactionStatus {
        switch PQtransactionStatus(link.handle) {
        case PQTRANS_IDLE: .none
        case PQTRANS_INTRANS: .open
        case PQTRANS_INERROR: .failed
        default: .unknown
        }
    }

    // MARK: Statements

    /// Carries out a statement.
    @discardableResult
    func run(
        _ sql: String, _ parameters: [SQLParameter] = [],
        _ preparation: Statement.Preparation = .kept, bound: CallBound? = nil
    ) throws(SQLFailure) -> PostgresResult {
        try run(Statement(sql, parameters, preparation), bound: bound)
    }

    /// Carries out a statement.
    @discardableResult
    func run(
        _ statement: Statement, bound: CallBound? = nil
    ) throws(SQLFailure) -> PostgresResult {
        let mayRepeat = transactionStatus == .none
        do throws(SQLFailure) {
            return try pipeline([statement], bound: bound)[0]
        } catch {
            var failure = error
            failure.statementIndex = nil
            // The schema was changed behind the prepared statement: nothing was carried out.
            guard mayRepeat, failure.sqlState?.isStaleStatement == true,
                statement.preparation == .kept
            else { throw failure }
        }
        return try pipeline([statement], bound: bound)[0]
    }

    /// Carries out a batch in one round trip.
    ///
    /// Outside a transaction each segment is one. A segment of which a statement fails is carried out no further; the segments
    /// after it are, in the state that it left: a transaction that it began has failed, so that the next segment may begin with
    /// its end.
    ///
    /// - Throws: the first failure, with the statement's place in the batch.
    @discardableResult
    func pipeline(
        _ batch: [Statement], bound: CallBound? = nil
    ) throws(SQLFailure) -> [PostgresResult] {
        let (outcomes, failure) = try carryOut(batch, bound)
        if let failure { throw failure }
        return try outcomes.map { outcome throws(SQLFailure) in
            guard case .finished(let result) = outcome else {
                throw SQLFailure(.unreadable, "a statement has no result", server: server)
            }
            return result
        }
    }

    /// Carries out a batch in one round trip, and says of each statement what became of it.
    ///
    /// - Throws: if nothing was sent, or the connection was lost meanwhile.
    func outcomes(
        of batch: [Statement], bound: CallBound? = nil
    ) throws(SQLFailure) -> [StatementOutcome] {
        try carryOut(batch, bound).outcomes.map { $0 ?? .skipped }
    }

    private func carryOut(
        _ batch: [Statement], _ bound: CallBound?
    ) throws(SQLFailure) -> (outcomes: [StatementOutcome?], failure: SQLFailure?) {
        guard !batch.isEmpty else { return ([], nil) }
        let encoded: EncodedBatch
        do throws(SQLFailure) {
            encoded = try EncodedBatch(batch)
        } catch {
            throw error.on(server)
        }
        var run = PipelineRun(batch, encoded, link)
        return try call(bound) { () throws(SQLFailure) in
            roundTrips += 1
            observe(batch)
            try run.run(&prepared)
            return (run.outcomes, run.failure)
        }
    }

    /// Tells who looks on what is sent.
    func observe(_ batch: [Statement]) { observer?(processID, batch.map(\.sql)) }

    /// Runs a closure as one call. What goes wrong outside a statement leaves the protocol in the middle of something:
    /// the connection is of no more use.
    func call<R>(
        _ bound: CallBound?, _ body: () throws(SQLFailure) -> R
    ) throws(SQLFailure) -> R {
        try link.begin(bound ?? self.bound)
        defer { link.finish() }
        do throws(SQLFailure) {
            return try body()
        } catch {
            link.breakOff()
            throw error
        }
    }
}
