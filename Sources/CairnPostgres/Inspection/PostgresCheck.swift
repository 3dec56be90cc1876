// Checks the consistency of everything in a store in a database, in one snapshot.
//
//   1. Tables, columns, unique indexes and foreign keys are there, as the model says.           (PostgresCheck+Tables)
//   2. Every row is one of an entity of its table, and each of its values can be read. Keys that have columns of their own
//      are those of the values.
//   3. Constraints hold: no two rows have one key.
//   4. References lead to an object of the entity that they have to lead to; of one-to-one relationships no two lead to the
//      same, and it leads back. Pairs have both their ends.                                                    (PostgresCheck+References)
//   5. Numbers that were given are below those that are to come. Redirects are of objects that are gone, and lead round in
//      no circle. The history can be read.
//
// The server knows most of that by itself: but its files may be damaged, or somebody has changed the tables by hand.
//
// Threads: one.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// A check of a store in a database.
package struct PostgresCheck {
    let store: PostgresStore
    let reading: ReadTransaction
    private let snapshot: PostgresSnapshot
    var report = PostgresCheckReport()

    var core: StoreCore { store.core }
    var layout: TableLayout { store.core.layout }
    var schema: Schema { store.core.schema }

    private init(_ store: PostgresStore) throws(StoreError) {
        self.store = store
        reading = try ReadTransaction(store.core, begins: true)
        snapshot = PostgresSnapshot(store.core, reading)
        report.commit = reading.commit
    }

    /// Checks a store.
    ///
    /// - Parameter progress: told what is looked at, how many tables are done, and how many there are.
    /// - Throws: `StoreError` if it cannot be read; what is wrong in it is in the report.
    package static func run(_ store: PostgresStore, _ progress: (String, Int, Int) -> Void) throws
        -> PostgresCheckReport
    {
        var check = try PostgresCheck(store)
        progress("tables", 0, 1)
        // Without a table or a column there is nothing to be asked.
        guard try check.compareTables() else { return check.report }
        try check.compareIndexes()
        try check.compareNames()
        for table in check.layout.tables.indices {
            progress("rows", table, check.layout.tables.count)
            try check.readRows(table)
        }
        for (index, key) in check.core.keys.keys.enumerated() {
            progress("constraints", index, check.core.keys.keys.count)
            try check.findDuplicates(key)
        }
        progress("references", 0, 1)
        try check.checkReferences()
        progress("history", 0, 1)
        try check.checkNumbers()
        try check.checkRedirects()
        try check.checkHistory()
        return check.report
    }

    func int64s(_ result: PostgresResult, _ column: Int) throws(StoreError) -> [Int64] {
        try StoreCore.sql { () throws(SQLFailure) in
            try (0..<result.rowCount).map { row throws(SQLFailure) in
                try result.int64(row, column)
            }
        }
    }

    // MARK: 2 Rows

    private mutating func readRows(_ table: Int) throws {
        report.tables += 1
        let keys = core.keys.keysWithColumns(of: layout.tables[table].root)
        let name = layout.tables[table].name
        try TableScan(snapshot).rows(of: table, more: keys.map(\.column)) {
            selection, page, index in
            report.rows += 1
            let row: PartialStore.PlacedRow
            do throws(SQLFailure) {
                row = try selection.placedRow(page, index)
            } catch {
                let number = (try? page.int64(index, 0)).map { " with the number \($0)" } ?? ""
                return report.note(
                    "the table \(name) has a row\(number) that cannot be read: \(error.message)")
            }
            let entity = schema.entities[row.entity]
            if entity.isAbstract {
                report.note("p\(row.number) is of an abstract entity", entity: entity.name)
            }
            for (place, key) in keys.enumerated() {
                let column = selection.count + place
                let isOf = schema.entities[key.key.entity].family.contains(row.entity)
                let wanted = isOf ? key.key.bytes.bytes(row.values) : nil
                let found =
                    page.isNull(index, column)
                    ? nil : (try? page.bytes(index, column)).map(Array.init)
                guard wanted != found else { continue }
                report.note(
                    "the key of p\(row.number) in the column \(key.column) does not match its values",
                    entity: entity.name, key: key.key.constraint.names.joined(separator: ","))
            }
        }
    }

    // MARK: 3 Constraints

    private mutating func findDuplicates(_ key: KeyLayout.Key) throws(StoreError) {
        report.constraints += 1
        let table = layout.sql(layout.tables[layout.table(of: key.entity)].name)
        let columns =
            switch key.form {
            case .columns:
                key.constraint.columns.map { layout.column($0, of: key.entity).name.quoted }
            case .column(let name): [name.quoted]
            }
        let id = TableLayout.Fixed.id.quoted
        let result = try reading.ask(
            Statement(
                """
                SELECT min(\(id)), max(\(id)), count(*) FROM \(table) \
                WHERE \(columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")) \
                GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1 ORDER BY 1 LIMIT 100
                """))
        let (first, last, counts) = (
            try int64s(result, 0), try int64s(result, 1), try int64s(result, 2)
        )
        for row in 0..<result.rowCount {
            report.note(
                "\(counts[row]) objects have one key, p\(first[row]) and p\(last[row]) among them",
                entity: schema.entities[key.entity].name,
                key: key.constraint.names.joined(separator: ","))
        }
    }

    // MARK: 5 Numbers, redirects, history

    private mutating func checkNumbers() throws(StoreError) {
        let id = TableLayout.Fixed.id.quoted
        for table in layout.tables {
            let result = try reading.ask(
                Statement(
                    """
                    SELECT coalesce((SELECT max(\(id)) FROM \(layout.sql(table.name))), 0), \
                    (SELECT next FROM \(layout.sql(.numbers)) WHERE hierarchy = $1)
                    """, [.int64(hierarchy(of: table))]))
            let greatest = try int64s(result, 0)[0]
            let next = try StoreCore.sql { () throws(SQLFailure) -> Int64? in
                result.isNull(0, 1) ? nil : try result.int64(0, 1)
            }
            guard let next else {
                report.note("the table cairn_numbers has no row for the table \(table.name)")
                continue
            }
            if next <= greatest {
                report.note(
                    "p\(next) is the next number of the table \(table.name), which already contains p\(greatest)"
                )
            }
        }
    }

    private func hierarchy(of table: TableLayout.Table) -> Int64 {
        Int64(core.identity.hierarchies[table.root])
    }

    private mutating func checkRedirects() throws(StoreError) {
        let redirects = layout.sql(.redirects)
        let id = TableLayout.Fixed.id.quoted
        for table in layout.tables {
            let result = try reading.ask(
                Statement(
                    """
                    SELECT r.id, r.survivor, t.\(id) IS NOT NULL FROM \(redirects) AS r \
                    LEFT JOIN \(layout.sql(table.name)) AS t ON t.\(id) = r.id \
                    WHERE r.hierarchy = $1 ORDER BY r.id
                    """, [.int64(hierarchy(of: table))]))
            let (ids, survivors) = (try int64s(result, 0), try int64s(result, 1))
            report.redirects += ids.count
            let entity = schema.entities[table.root].name
            for row in 0..<result.rowCount {
                let isThere = try StoreCore.sql { () throws(SQLFailure) in try result.bool(row, 2) }
                guard isThere else { continue }
                report.note(
                    "p\(ids[row]) exists, but is redirected to p\(survivors[row])",
                    entity: entity)
            }
            for circle in Self.circles(Dictionary(zip(ids, survivors)) { first, _ in first }) {
                report.note("p\(circle) is redirected to itself, by way of others", entity: entity)
            }
        }
        let known = SQLParameter.array(.int64s(layout.tables.map(hierarchy)))
        let others = try reading.ask(
            Statement(
                "SELECT count(*) FROM \(redirects) WHERE NOT (hierarchy = ANY($1::bigint[]))",
                [known]))
        let count = try int64s(others, 0)[0]
        if count > 0 { report.note("redirects of no entity of the model: \(count)") }
    }

    /// One id of each circle.
    private static func circles(_ survivors: [Int64: Int64]) -> [Int64] {
        var circles: [Int64] = []
        var done: Set<Int64> = []
        for start in survivors.keys.sorted() {
            var way: Set<Int64> = []
            var next: Int64? = start
            while let id = next, !done.contains(id) {
                guard way.insert(id).inserted else {
                    circles.append(id)
                    break
                }
                next = survivors[id]
            }
            done.formUnion(way)
        }
        return circles
    }

    private mutating func checkHistory() throws(StoreError) {
        let transactions = layout.sql(.transactions)
        let results = try reading.ask([
            Statement(
                "SELECT count(*) FROM \(transactions) WHERE commit > $1",
                [.int64(Int64(clamping: report.commit))]),
            Statement(
                """
                SELECT count(*) FROM \(layout.sql(.changes)) AS c WHERE NOT EXISTS \
                (SELECT 1 FROM \(transactions) AS t WHERE t.commit = c.commit)
                """),
        ])
        let (late, lost) = (try int64s(results[0], 0)[0], try int64s(results[1], 0)[0])
        if late > 0 {
            report.note("transactions in the history after the last commit: \(late)")
        }
        if lost > 0 { report.note("changes of the history without a transaction: \(lost)") }
        do throws(StoreError) {
            _ = try store.metadata()
            guard let bounds = try store.historyBounds() else { return }
            let history = try store.historyCursor(after: bounds.horizon)
            while try history.next() != nil { report.transactions += 1 }
        } catch {
            guard error.code == .damaged else { throw error }
            report.note(error)
        }
    }
}
