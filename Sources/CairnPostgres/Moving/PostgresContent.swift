// The contents of a store in a database, read with cursors in the transaction of a snapshot.
//
// Memory: some megabytes of rows.
// Threads: one at a time.

import CairnFormat
import CairnLog
import CairnModel
import CairnMoving
import CairnStore
import FoundationEssentials

/// The contents of a store in a database, in one snapshot.
final class PostgresContent: StoreContent {
    private let core: StoreCore
    private let reading: any Questions
    let catalog: Catalog
    let identity: StoreIdentity
    let head: StoreContentHead

    init(_ core: StoreCore, _ reading: any Questions) throws(StoreError) {
        self.core = core
        self.reading = reading
        catalog = core.catalog.ofAnotherStore
        let layout = core.layout
        let results = try reading.ask([
            Statement(
                "SELECT identifier, last_commit, keeps_history, history_begins FROM \(layout.sql(.store))"
            ),
            Statement("SELECT hierarchy, next FROM \(layout.sql(.numbers))"),
            Statement("SELECT name, seen FROM \(layout.sql(.consumers))"),
            Statement("SELECT key, value FROM \(layout.sql(.metadata))"),
        ])
        let catalog = core.catalog
        let found = try StoreCore.sql { () throws(SQLFailure) -> (UUID, StoreContentHead) in
            guard results[0].rowCount == 1 else {
                throw SQLFailure(.storeReplaced, "the store no longer exists")
            }
            var numbers = catalog.trees.map { _ in UInt32(1) }
            for row in 0..<results[1].rowCount {
                guard let id = UInt32(exactly: try results[1].int64(row, 0)),
                    let tree = catalog.treeIndex(id: id)
                else { continue }
                numbers[tree] = min(
                    UInt32(clamping: try results[1].int64(row, 1)), FormatLimits.maximumNumber)
            }
            var history: HistorySettings?
            if try results[0].bool(0, 2) {
                var settings = HistorySettings(
                    isTracked: true, horizon: UInt64(clamping: try results[0].int64(0, 3)))
                for row in 0..<results[2].rowCount {
                    settings.consumers[try results[2].string(row, 0)] = UInt64(
                        clamping: try results[2].int64(row, 1))
                }
                history = settings
            }
            return (
                try results[0].uuid(0, 0),
                StoreContentHead(
                    lastCommit: UInt64(clamping: try results[0].int64(0, 1)),
                    nextNumbers: numbers, metadata: try results[3].metadata(), history: history)
            )
        }
        identity = StoreIdentity(
            identifier: found.0, hierarchies: core.identity.hierarchies)
        head = found.1
    }

    // MARK: Rows

    func forEachRow(
        ofTree tree: Int, _ body: (PartialStore.PlacedRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        let selection = core.selection(core.layout.table(of: catalog.trees[tree].root))
        let table = core.layout.tables[selection.table].name
        try forEach(selection.list("r"), of: core.layout.sql(table)) {
            result, row throws(StoreError) in
            try body(
                StoreCore.sql { () throws(SQLFailure) in try selection.placedRow(result, row) })
        }
    }

    func forEachPair(
        of pairs: Int, _ body: (PartialStore.PlacedPair) throws(StoreError) -> Void
    ) throws(StoreError) {
        let selection = PairSelection(layout: core.layout, pairs: pairs)
        let table = core.layout.pairs[pairs].name
        try forEach(selection.list("r"), of: core.layout.sql(table)) {
            result, row throws(StoreError) in
            try body(StoreCore.sql { () throws(SQLFailure) in try selection.pair(result, row) })
        }
    }

    /// Goes through a table by rising numbers.
    private func forEach(
        _ list: String, of table: String,
        _ body: (PostgresResult, Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        let id = TableLayout.Fixed.id.quoted
        try reading.stream(Statement("SELECT \(list) FROM \(table) AS r ORDER BY r.\(id)")) {
            result throws(StoreError) in
            for row in 0..<result.rowCount { try body(result, row) }
            return true
        }
    }

    // MARK: Redirects and history

    func forEachRedirect(
        _ body: (PartialStore.PlacedRedirect) throws(StoreError) -> Void
    ) throws(StoreError) {
        let result = try reading.ask(
            Statement(
                """
                SELECT hierarchy, id, survivor FROM \(core.layout.sql(.redirects)) \
                ORDER BY hierarchy, id
                """))
        for row in 0..<result.rowCount {
            let redirect = try StoreCore.sql {
                () throws(SQLFailure) -> PartialStore.PlacedRedirect? in
                guard let hierarchy = UInt32(exactly: try result.int64(row, 0)),
                    let tree = catalog.treeIndex(id: hierarchy)
                else { return nil }
                guard let number = UInt32(exactly: try result.int64(row, 1)),
                    let survivor = UInt32(exactly: try result.int64(row, 2)), number > 0,
                    survivor > 0
                else { throw SQLFailure(.unreadable, "a redirected id is not an object id") }
                return .init(tree: tree, number: number, survivor: survivor)
            }
            if let redirect { try body(redirect) }
        }
    }

    func forEachTransaction(
        _ body: (PersistentHistoryTransaction) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let history = head.history else { return }
        let cursor = PostgresHistoryCursor(
            core, after: history.horizon, through: head.lastCommit, reading.ask)
        while let transaction = try cursor.next() { try body(transaction) }
    }
}
