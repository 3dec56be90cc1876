// Removes a store that was just created.
//
//   1. Nobody else writes to it meanwhile: whoever does has to change the row of `cairn_store`, which is locked.
//   2. If something was committed, it stays.
//   3. All its tables go in one transaction. The schema stays, which somebody else may have made.
//
// Threads: any.

package import CairnStore

extension PostgresStore {
    /// Removes the tables of a store to which nothing has been committed. It cannot be used afterwards.
    ///
    /// - Returns: false if something was committed: then the store is not removed.
    package func removeIfEmpty() throws(StoreError) -> Bool {
        try checkWritable()
        let layout = core.layout
        let tables =
            layout.pairs.map(\.name) + layout.tables.map(\.name)
            + SystemTable.allCases.map(\.rawValue)
        let connection = try core.borrow()
        // A transaction that is still open is given up with it.
        defer { core.pool.giveBack(connection) }
        return try StoreCore.sql { () throws(SQLFailure) -> Bool in
            let results = try connection.pipeline(
                [
                    Statement("BEGIN"),
                    Statement("SELECT last_commit FROM \(layout.sql(.store)) FOR UPDATE"),
                ], bound: core.bound)
            guard try results[1].int64(0, 0) == Int64(FirstRows.firstCommit) else { return false }
            // Tables that lead to each other go together.
            let all = tables.map(layout.sql).joined(separator: ", ")
            let statements =
                ReadableViews(layout: layout).removal + ["DROP TABLE \(all)", "COMMIT"]
            try connection.pipeline(
                statements.map { Statement($0, [], .once) }, bound: core.bound)
            return true
        }
    }
}
