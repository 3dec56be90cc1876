// The connections of a store to its server, lent to callers on demand.
//
//   1. Connections are opened when they are needed, up to a limit; who comes then waits in line, for a bounded time.
//   2. One that has been idle is looked at before it is lent: a glance at its socket tells that the server has closed
//      it, a round trip after a longer time that the network has forgotten it. Broken ones are dropped.
//   3. One that comes back in a transaction is rolled back, so that the next one starts with nothing. Nobody waits for it.
//   4. What has been idle for minutes is closed when the pool is next used. There is no thread for it.
//
// Invariant: the lock is never held while the network is waited for.
// Threads: any. Waiting blocks the calling thread, as the calls of a store do.

import CairnLog

final class ConnectionPool: Sendable {
    typealias Purpose = PoolState<PostgresConnection, ContinuousClock.Instant>.Purpose

    struct Settings: Sendable {
        /// Servers allow a hundred by default, for all processes together.
        var limit = 8
        /// How long to wait for a connection if all are in use.
        var patience = Duration.seconds(30)
        /// Idle time after which a connection is tested before use: firewalls drop idle connections after minutes.
        var checkAfter = Duration.seconds(30)
        /// Idle time after which a connection is closed.
        var closeAfter = Duration.seconds(300)
    }

    let string: ConnectionString
    let settings: Settings
    private let connector: Connector
    private let onOpen: @Sendable (PostgresConnection) throws(SQLFailure) -> Void
    private let observer: StatementObserver?
    private let state: Monitor<PoolState<PostgresConnection, ContinuousClock.Instant>>

    /// How long asking an idle connection and rolling back may take.
    private static let smallPatience = Duration.seconds(5)

    /// - Parameters:
    ///   - observer: receives what is sent.
    ///   - onOpen: initializes each new connection, for example its session settings.
    init(
        _ string: ConnectionString, settings: Settings = Settings(),
        observer: StatementObserver? = nil,
        onNotice: @escaping @Sendable (PostgresNotice) -> Void = { _ in },
        onOpen: @escaping @Sendable (PostgresConnection) throws(SQLFailure) -> Void = { _ in }
    ) {
        precondition(settings.limit > 0, "a pool has at least one connection")
        self.string = string
        self.settings = settings
        self.observer = observer
        self.onOpen = onOpen
        connector = Connector(string: string, onNotice: onNotice)
        state = Monitor(PoolState(limit: settings.limit))
    }

    /// Lends a connection to a closure, which must not keep it. The bound applies to waiting for the connection, and to all
    /// of its calls that have no bound of their own.
    func withConnection<R, E: SQLFailureConvertible>(
        _ bound: CallBound = CallBound(), _ body: (PostgresConnection) throws(E) -> R
    ) throws(E) -> R {
        let connection: PostgresConnection
        do throws(SQLFailure) {
            connection = try borrow(bound)
        } catch {
            throw E(error)
        }
        defer { giveBack(connection) }
        return try body(connection)
    }

    /// Lends a connection until `giveBack`, for uses that outlive a closure.
    func borrow(
        _ bound: CallBound = CallBound(), for purpose: Purpose = .request
    ) throws(SQLFailure) -> PostgresConnection {
        closeOld()
        switch try waitForGrant(bound, purpose) {
        case .closed: throw Self.closed(string)
        case .opening: return try openLent(bound, purpose)
        case .idle(let connection, let since):
            // One that is gone leaves its place to a new one.
            guard isAlive(connection, since, bound) else { return try openLent(bound, purpose) }
            connection.bound = bound
            connection.purpose = purpose
            return connection
        }
    }

    /// Like `borrow`, if a server is known to exist: waits for one that is starting, is full, or is failing over.
    func borrowPatiently(
        _ bound: CallBound, for purpose: Purpose = .request
    ) throws(SQLFailure) -> PostgresConnection {
        try patiently(bound) { () throws(SQLFailure) in try borrow(bound, for: purpose) }
    }

    /// A connection outside the pool and its limit; it ends with its last reference.
    func openApart(_ bound: CallBound) throws(SQLFailure) -> PostgresConnection {
        try patiently(bound) { () throws(SQLFailure) in try open(bound) }
    }

    private func patiently(
        _ bound: CallBound, _ body: () throws(SQLFailure) -> PostgresConnection
    ) throws(SQLFailure) -> PostgresConnection {
        var pause = Self.shortestPause
        // That there was no time left at last says less than what was in the way before.
        var telling: SQLFailure?
        while true {
            do throws(SQLFailure) {
                return try body()
            } catch {
                if error.sqlState != nil { telling = error }
                guard error.mayConnectLater else { throw error }
                guard bound.end == nil else { throw telling ?? error }
            }
            // Nobody tells: only looking does.
            ServerLink.pause(Deadline.after(pause).earlier(bound.deadline))
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private static let shortestPause = Duration.milliseconds(10)
    private static let longestPause = Duration.milliseconds(500)

    /// Takes back a connection.
    func giveBack(_ connection: PostgresConnection) {
        connection.bound = CallBound()
        switch connection.transactionStatus {
        case .none: break
        case .open, .failed: connection.endTransaction()
        // Something is under way that nobody waits for any more.
        case .unknown: return state.update { $0.drop(connection.purpose) }
        }
        guard !connection.isBroken else { return state.update { $0.drop(connection.purpose) } }
        // What is not kept is closed here, outside the lock.
        _ = state.update { $0.giveBack(connection, of: connection.purpose, now: .now) }
        closeOld()
    }

    /// Closes idle connections, and lent ones when they come back. Waiting callers get an error.
    func close() { _ = state.update { $0.close() } }

    /// The numbers of connections, for tests and diagnostics.
    var counts: (lent: Int, idle: Int, waiting: Int) {
        state.update { ($0.lent, $0.idleCount, $0.waitingCount) }
    }

    // MARK: How

    private typealias Grant = PoolState<PostgresConnection, ContinuousClock.Instant>.Grant

    private func waitForGrant(_ bound: CallBound, _ purpose: Purpose) throws(SQLFailure) -> Grant {
        let patience = CallBound(
            bound.deadline.earlier(.after(settings.patience)), isCancelled: bound.isCancelled)
        let ticket = state.update { $0.enter(for: purpose) }
        if let grant = state.wait(patience, for: { $0.take(ticket) }) { return grant }
        let (held, most) = state.update {
            $0.leave(ticket)
            return ($0.lentToSnapshots, $0.snapshotLimit)
        }
        if bound.isCancelled?() == true {
            throw SQLFailure(.cancelled, "the call was cancelled", server: string.description)
        }
        let reason =
            purpose == .snapshot && held >= most
            ? "cannot open a snapshot: \(held) are open, as many as \(settings.limit) connections allow, since some are reserved for saves"
            : "no connection to the server became free in time: all \(settings.limit) are in use"
        throw SQLFailure(.poolExhausted, reason, server: string.description)
    }

    /// Opens one in the place of one that is lent.
    private func openLent(
        _ bound: CallBound, _ purpose: Purpose
    ) throws(SQLFailure) -> PostgresConnection {
        do throws(SQLFailure) {
            let connection = try open(bound)
            connection.purpose = purpose
            return connection
        } catch {
            state.update { $0.drop(purpose) }
            throw error
        }
    }

    private func open(_ bound: CallBound) throws(SQLFailure) -> PostgresConnection {
        let connection = PostgresConnection(
            try connector.connect(bound), preparedStatementLimit: string.preparedStatementLimit)
        connection.bound = bound
        connection.observer = observer
        try onOpen(connection)
        return connection
    }

    private func isAlive(
        _ connection: PostgresConnection, _ since: ContinuousClock.Instant, _ bound: CallBound
    ) -> Bool {
        let patience = CallBound(
            bound.deadline.earlier(.after(Self.smallPatience)), isCancelled: bound.isCancelled)
        guard connection.finishEnding(patience), connection.isQuiet,
            connection.transactionStatus == .none
        else { return false }
        guard ContinuousClock.now - since > settings.checkAfter else { return true }
        return (try? connection.run("SELECT 1", bound: patience)) != nil
    }

    private func closeOld() {
        let moment = ContinuousClock.now - settings.closeAfter
        _ = state.update { $0.removeIdle(before: moment) }
    }

    private static func closed(_ string: ConnectionString) -> SQLFailure {
        SQLFailure(.closed, "the store's connections are closed", server: string.description)
    }
}

/// An error that a failure can become on its way up.
protocol SQLFailureConvertible: Error {
    init(_ failure: SQLFailure)
}
