// A connection that executes statements.
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

/// Receives each round trip of a connection, identified by the server's process id, with the SQL of its statements.
package typealias StatementObserver =
    @Sendable (_ connection: Int32, _ statements: [String]) ->
    Void

final class PostgresConnection: @unchecked Sendable {
    // One thread at a time has it: the pool lends it to one closure, which must not keep it.
    let link: ServerLink
    private var prepared: PreparedStatements
    /// The number of round trips, without those for connecting.
    var roundTrips = 0
    /// For calls without a bound of their own.
    var bound = CallBound()
    /// The purpose for which it is lent.
    var purpose = ConnectionPool.Purpose.request
    /// Receives what is sent.
    var observer: StatementObserver?
    /// Whether the end of a transaction was sent and its result has not been read yet.
    var isEnding = false
    /// The row that the last commit left in the table of tokens, which the next commit removes.
    var lastToken: UUID?

    init(_ link: ServerLink, preparedStatementLimit: Int) {
        self.link = link
        prepared = PreparedStatements(limit: preparedStatementLimit)
    }

    /// Connects to the first server that accepts the connection.
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

    /// Whether it can no longer execute anything.
    var isBroken: Bool { link.isBroken || link.isBad }

    /// 150020 for 15.20. Other servers report the version with which they are compatible.
    var serverVersion: Int { Int(PQserverVersion(link.handle)) }

    /// A parameter that the server reports: "server_encoding", "in_hot_standby", "crdb_version".
    func parameter(_ name: String) -> String? {
        PQparameterStatus(link.handle, name).map { String(cString: $0) }
    }

    /// The server's process id for it.
    var processID: Int32 { PQbackendPID(link.handle) }

    /// The socket, for a thread that waits for several things. It can change after each call.
    var socket: Int32 { PQsocket(link.handle) }

    /// The number of warnings from the server.
    var warnings: Int { link.warnings }

    /// The number of prepared statements.
    var preparedCount: Int { prepared.count }

    /// Whether no data is pending on the socket: a server that has closed an idle connection has sent a message. Needs no
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
        /// Something in it failed: it can only be ended.
        case failed
        /// A statement is running, or the connection is lost.
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

    /// Executes a statement.
    @discardableResult
    func run(
        _ sql: String, _ parameters: [SQLParameter] = [],
        _ preparation: Statement.Preparation = .kept, bound: CallBound? = nil
    ) throws(SQLFailure) -> PostgresResult {
        try run(Statement(sql, parameters, preparation), bound: bound)
    }

    /// Executes a statement.
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

    /// Executes a batch in one round trip.
    ///
    /// Outside a transaction each segment is its own transaction. If a statement fails, the rest of its segment is skipped.
    /// Later segments are executed, in the state that it left: a transaction that it began has failed, so the next segment
    /// can begin by ending it.
    ///
    /// - Throws: the first failure, with the statement's index in the batch.
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

    /// Executes a batch in one round trip, and returns the outcome of each statement.
    ///
    /// - Throws: if nothing was sent, or the connection was lost in between.
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

    /// Reports what is sent to the observer.
    func observe(_ batch: [Statement]) { observer?(processID, batch.map(\.sql)) }

    /// Runs a closure as one call. An error outside a statement leaves the protocol in an undefined state, so the
    /// connection cannot be used again.
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
