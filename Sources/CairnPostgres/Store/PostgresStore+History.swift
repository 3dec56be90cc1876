// The history of a store in a database.

import CairnModel
public import CairnStore
public import FoundationEssentials

extension PostgresStore: HistoryStore {
    /// Whether the store keeps a history.
    public var historyTracking: PersistentHistoryTracking { core.historyTracking }

    /// The retained range; nil if the store keeps no history.
    public func historyBounds() throws(StoreError) -> PersistentHistoryBounds? {
        try checkOpen()
        let result = try core.ask([
            Statement(
                "SELECT history_begins, last_commit, keeps_history FROM \(core.layout.sql(.store))")
        ])[0]
        return try StoreCore.sql { () throws(SQLFailure) in
            let isKept = try result.bool(0, 2)
            core.note(keepsHistory: isKept)
            guard isKept else { return nil }
            return PersistentHistoryBounds(
                horizon: UInt64(clamping: try result.int64(0, 0)),
                last: UInt64(clamping: try result.int64(0, 1)))
        }
    }

    /// Iterates over the transactions after a commit, in the current state.
    public func historyCursor(after number: UInt64) throws(StoreError)
        -> any PersistentHistoryCursor
    {
        guard let bounds = try historyBounds() else { throw StoreError.noHistory }
        guard number >= bounds.horizon else {
            throw StoreError(
                .historyTokenExpired, "part of the history after the commit was deleted")
        }
        let core = core
        return PostgresHistoryCursor(core, after: number, through: bounds.last) {
            questions throws(StoreError) in try core.ask(questions, inOneState: true)
        }
    }

    /// The newest retained transaction up to a commit, and when it was committed; nil if there is none.
    public func historyMoment(through number: UInt64) throws(StoreError) -> (
        transaction: UInt64, time: Date
    )? {
        try checkOpen()
        let result = try core.ask([
            Statement(
                """
                SELECT commit, made FROM \(core.layout.sql(.transactions)) WHERE commit <= $1 \
                ORDER BY commit DESC LIMIT 1
                """, [.int64(Int64(clamping: number))])
        ])[0]
        guard result.rowCount > 0 else { return nil }
        return try StoreCore.sql { () throws(SQLFailure) in
            (
                UInt64(clamping: try result.int64(0, 0)),
                Date(timeIntervalSinceReferenceDate: try result.double(0, 1))
            )
        }
    }

    /// The newest retained transaction that was committed before a date; nil if there is none.
    public func historyTransaction(before date: Date) throws(StoreError) -> UInt64? {
        try checkOpen()
        let result = try core.ask([
            Statement(
                """
                SELECT commit FROM \(core.layout.sql(.transactions)) WHERE made < $1 \
                ORDER BY commit DESC LIMIT 1
                """, [.double(date.timeIntervalSinceReferenceDate)])
        ])[0]
        guard result.rowCount > 0 else { return nil }
        return try StoreCore.sql { () throws(SQLFailure) in UInt64(clamping: try result.int64(0, 0))
        }
    }

    /// Deletes the history up to a commit, as far as every registered consumer has seen it, and returns the number of
    /// deleted transactions.
    public func deleteHistory(through number: UInt64) throws(StoreError) -> Int {
        try checkWritable()
        let layout = core.layout
        let end = "(SELECT history_begins FROM \(layout.sql(.store)) WHERE keeps_history)"
        let results = try core.carryOut([
            Statement(
                """
                UPDATE \(layout.sql(.store)) SET history_begins = greatest(history_begins, \
                least($1, last_commit, (SELECT min(seen) FROM \(layout.sql(.consumers))))) \
                WHERE keeps_history
                """, [.int64(Int64(clamping: number))]),
            Statement("DELETE FROM \(layout.sql(.changes)) WHERE commit <= \(end)"),
            Statement("DELETE FROM \(layout.sql(.transactions)) WHERE commit <= \(end)"),
        ])
        if results[0].affectedRows == 0 { throw StoreError.noHistory }
        return results[2].affectedRows
    }

    /// The registered consumers, and the last commit that each of them has seen.
    public func historyConsumerNumbers() throws(StoreError) -> [String: UInt64] {
        try checkOpen()
        let result = try core.ask([
            Statement("SELECT name, seen FROM \(core.layout.sql(.consumers))")
        ])[0]
        return try StoreCore.sql { () throws(SQLFailure) in
            var consumers: [String: UInt64] = [:]
            for row in 0..<result.rowCount {
                consumers[try result.string(row, 0)] = UInt64(clamping: try result.int64(row, 1))
            }
            return consumers
        }
    }

    /// Records how far a consumer has seen the history; nil removes the consumer.
    public func setHistoryConsumer(_ name: String, seen number: UInt64?, mustExist: Bool)
        throws(StoreError)
    {
        try checkWritable()
        guard let bounds = try historyBounds() else { throw StoreError.noHistory }
        let table = core.layout.sql(.consumers)
        guard let number else {
            try core.carryOut([Statement("DELETE FROM \(table) WHERE name = $1", [.text(name)])])
            return
        }
        if number > bounds.last { throw StoreError.unseenCommit }
        let seen = SQLParameter.int64(Int64(clamping: number))
        let result = try core.carryOut([
            mustExist
                ? Statement(
                    "UPDATE \(table) SET seen = greatest(seen, $2) WHERE name = $1",
                    [.text(name), seen])
                : Statement(
                    """
                    INSERT INTO \(table) AS c (name, seen) VALUES ($1, $2) \
                    ON CONFLICT (name) DO UPDATE SET seen = greatest(c.seen, excluded.seen)
                    """, [.text(name), seen])
        ])[0]
        if mustExist, result.affectedRows == 0 { throw StoreError.noSuchConsumer }
    }
}
