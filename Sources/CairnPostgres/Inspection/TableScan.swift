// Reads all rows of a table in one snapshot of a store, in the order of their numbers, a page at a time.
//
// Threads: any; one question at a time.

import CairnLog
import CairnStore

/// The rows of the tables of a store.
struct TableScan {
    private static let rowsAtOnce = 1000
    private static let pairsAtOnce = 10_000

    private let core: StoreCore
    private let reading: any Questions

    init(_ snapshot: PostgresSnapshot) {
        core = snapshot.core
        reading = snapshot.reading
    }

    /// Hands over the rows of a table of objects.
    ///
    /// - Parameters:
    ///   - more: columns that are read besides; they stand behind those of the selection.
    ///   - body: told the answer and the row in it.
    func rows(
        of table: Int, more: [String] = [],
        _ body: (RowSelection, PostgresResult, Int) throws -> Void
    ) throws {
        let selection = core.selection(table)
        let columns = ([selection.list("r")] + more.map { "r.\($0.quoted)" }).joined(
            separator: ", ")
        let id = "r.\(TableLayout.Fixed.id.quoted)"
        let sql = """
            SELECT \(columns) FROM \(core.layout.sql(core.layout.tables[table].name)) AS r \
            WHERE \(id) > $1 ORDER BY \(id) LIMIT \(Self.rowsAtOnce)
            """
        var last = Int64.min
        while true {
            let page = try reading.ask(Statement(sql, [.int64(last)]))
            for row in 0..<page.rowCount { try body(selection, page, row) }
            if page.rowCount < Self.rowsAtOnce { return }
            last = try StoreCore.sql { () throws(SQLFailure) in
                try page.int64(page.rowCount - 1, 0)
            }
        }
    }

    /// Hands over the pairs of a relationship that is kept as such, by source, then by destination.
    ///
    /// - Parameter pairs: as an index of the schema's pairs.
    func pairs(_ pairs: Int, _ body: (PartialStore.PlacedPair) throws -> Void) throws {
        let selection = PairSelection(layout: core.layout, pairs: pairs)
        let ends = [TableLayout.Fixed.source, TableLayout.Fixed.destination]
            .map { "p.\($0.quoted)" }.joined(separator: ", ")
        let sql = """
            SELECT \(selection.list("p")) FROM \(core.layout.sql(core.layout.pairs[pairs].name)) AS p \
            WHERE (\(ends)) > ($1, $2) ORDER BY \(ends) LIMIT \(Self.pairsAtOnce)
            """
        var last: (Int64, Int64) = (.min, .min)
        while true {
            let page = try reading.ask(Statement(sql, [.int64(last.0), .int64(last.1)]))
            let found = try StoreCore.sql { () throws(SQLFailure) in
                try (0..<page.rowCount).map { row throws(SQLFailure) in
                    try selection.pair(page, row)
                }
            }
            for pair in found { try body(pair) }
            guard page.rowCount == Self.pairsAtOnce, let end = found.last else { return }
            last = (Int64(end.source), Int64(end.destination))
        }
    }
}
