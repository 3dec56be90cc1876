// The queries of a transaction, which has cursors: a result is read in batches of limited size.
//
//   1. The first rows come with the declaration of the cursor, in one round trip.
//   2. Each next page is one more. How many rows it has follows from how large they are.
//   3. A cursor whose reading has ended is closed with the next question.

import CairnStore
import Synchronization

protocol CursorQuestions: Questions {
    /// The names of the transaction's cursors. `ask` closes those that have ended.
    var cursors: Mutex<CursorNames> { get }
}

/// How many rows a page has.
private enum CursorPage {
    static let firstRows = 256
    private static let mostRows = 4096
    private static let mostBytes = 4 << 20

    /// In steps, to limit the number of different statements.
    static func rows(after result: PostgresResult) -> Int {
        let bytes = max(1, result.byteCount / max(1, result.rowCount))
        var rows = mostRows
        while rows > 1, rows * bytes > mostBytes { rows /= 4 }
        return rows
    }
}

extension CursorQuestions {
    func stream(
        _ statement: Statement, _ body: (PostgresResult) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let cursor = cursors.withLock { $0.take() }
        let name = CursorNames.name(cursor)
        var rows = CursorPage.firstRows
        func page() -> Statement { Statement("FETCH \(rows) FROM \(name)") }
        // If that fails the transaction has failed, and its cursors are gone with it.
        var result = try ask([
            Statement(
                "DECLARE \(name) NO SCROLL CURSOR FOR \(statement.sql)", statement.parameters),
            page(),
        ])[1]
        defer { cursors.withLock { $0.end(cursor) } }
        while true {
            let isLast = result.rowCount < rows
            if result.rowCount > 0, try !body(result) { return }
            if isLast { return }
            rows = CursorPage.rows(after: result)
            result = try ask(page())
        }
    }
}
