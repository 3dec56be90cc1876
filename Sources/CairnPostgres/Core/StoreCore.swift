// What all parts of an open store share: where it is, how it names its objects, where they lie.
//
// Threads: any.

import CairnModel
import CairnStore
import Foundation
import Synchronization

/// An open store.
final class StoreCore: Sendable {
    let pool: ConnectionPool
    let identity: StoreIdentity
    let layout: TableLayout
    let keys: KeyLayout
    let options: PostgresOptions
    /// Whether a history is kept: others may begin or end it at any time.
    private let keepsHistory: Atomic<Bool>
    /// The last commit that was seen by anybody here.
    private let lastNoted: Atomic<UInt64>
    /// Whether the server takes NOTIFY.
    let notifies: Bool
    /// Whether an id may lead to another object than its own. It never becomes false again.
    let hasRedirects: Atomic<Bool>
    /// Held while a transaction ends and its commit is told, so that commits are told in their order.
    let committing = Mutex(())
    var schema: Schema { layout.schema }

    init(
        pool: ConnectionPool, identity: StoreIdentity, layout: TableLayout, keys: KeyLayout,
        options: PostgresOptions, keepsHistory: Bool, hasRedirects: Bool, lastCommit: UInt64,
        notifies: Bool
    ) {
        self.pool = pool
        self.identity = identity
        self.layout = layout
        self.keys = keys
        self.options = options
        self.keepsHistory = Atomic(keepsHistory)
        lastNoted = Atomic(lastCommit)
        self.notifies = notifies
        self.hasRedirects = Atomic(hasRedirects)
    }

    /// How long a call may take.
    var bound: CallBound { .within(.seconds(options.timeout)) }

    /// A connection, until it is given back.
    func borrow(for purpose: ConnectionPool.Purpose = .request) throws(StoreError)
        -> PostgresConnection
    {
        try Self.sql { () throws(SQLFailure) in try pool.borrowPatiently(bound, for: purpose) }
    }

    func selection(_ table: Int) -> RowSelection {
        RowSelection(layout: layout, table: table, identity: identity)
    }

    /// Asks for the last commit, whether there are redirects, and whether a history is kept.
    var stateQuestion: Statement {
        Statement(
            """
            SELECT last_commit, EXISTS (SELECT 1 FROM \(layout.sql(.redirects))), keeps_history \
            FROM \(layout.sql(.store))
            """)
    }

    /// The last commit as the answer has it; the rest is noted.
    func noteState(_ result: PostgresResult) throws(SQLFailure) -> UInt64 {
        if try result.bool(0, 1) { hasRedirects.store(true, ordering: .relaxed) }
        keepsHistory.store(try result.bool(0, 2), ordering: .relaxed)
        let commit = UInt64(clamping: try result.int64(0, 0))
        note(commit)
        return commit
    }

    // MARK: History

    /// Whether a history is kept, as it was seen last.
    var historyTracking: PersistentHistoryTracking {
        guard keepsHistory.load(ordering: .relaxed) else { return .off }
        return options.persistentHistoryTracking == true ? .on : .keptOn
    }

    func note(keepsHistory: Bool) { self.keepsHistory.store(keepsHistory, ordering: .relaxed) }

    /// The last commit that was seen by anybody here.
    var noted: UInt64 { lastNoted.load(ordering: .acquiring) }

    func note(_ commit: UInt64) {
        _ = lastNoted.max(commit, ordering: .acquiringAndReleasing)
    }

    /// Where those who want to know of commits are told. Others may be told there too: who is looks for himself.
    var channel: String {
        var names = SQLNames()
        return names.give("cairn:" + layout.space)
    }

    // MARK: Asking

    /// Asks what writes nothing, all in one round trip; once more if the connection is lost.
    func ask(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        do throws(StoreError) {
            return try carryOut(statements)
        } catch {
            guard (error.cause as? SQLFailure)?.isConnectionLoss == true else { throw error }
            return try carryOut(statements)
        }
    }

    /// Carries out statements that are no request of the engine, all in one round trip.
    @discardableResult
    func carryOut(_ statements: [Statement]) throws(StoreError) -> [PostgresResult] {
        let connection = try borrow()
        defer { pool.giveBack(connection) }
        return try Self.sql { () throws(SQLFailure) in
            try connection.pipeline(statements, bound: bound)
        }
    }

    /// Runs what talks to the server; what goes wrong there is said as stores say it.
    @discardableResult
    static func sql<R>(_ body: () throws(SQLFailure) -> R) throws(StoreError) -> R {
        do throws(SQLFailure) {
            return try body()
        } catch {
            throw StoreError(error)
        }
    }
}
