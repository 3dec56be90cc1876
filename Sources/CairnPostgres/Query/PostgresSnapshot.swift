// A snapshot of a store in a database.
//
// Threads: any.

import CairnModel
import CairnStore

final class PostgresSnapshot: StoreSnapshot {
    let core: StoreCore
    let reading: any Questions

    init(_ core: StoreCore, _ reading: any Questions) {
        self.core = core
        self.reading = reading
    }

    var commit: UInt64 { reading.commit }
    var schema: Schema { core.schema }
    var identity: StoreIdentity { core.identity }

    // MARK: Rows

    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] {
        var numbers: [Int: [UInt32]] = [:]
        let places = ids.map { id -> (table: Int, number: UInt32)? in
            guard let entity = identity.entity(of: id), let number = UInt32(exactly: id.reference)
            else { return nil }
            let table = core.layout.table(of: entity)
            numbers[table, default: []].append(number)
            return (table, number)
        }
        let tables = numbers.keys.sorted()
        let results = try reading.ask(
            tables.map { table in
                let selection = core.selection(table)
                return Statement(
                    """
                    SELECT \(selection.list("r")) FROM \(core.layout.sql(core.layout.tables[table].name)) AS r \
                    WHERE r.\(TableLayout.Fixed.id.quoted) = ANY($1::bigint[])
                    """, [SQLParameter.numbers(numbers[table] ?? [])])
            })
        var found: [Int: [UInt32: Row]] = [:]
        for (table, result) in zip(tables, results) {
            var rows: [UInt32: Row] = [:]
            rows.reserveCapacity(result.rowCount)
            for row in try self.rows(result, table: table) {
                rows[UInt32(truncatingIfNeeded: row.id.reference)] = row
            }
            found[table] = rows
        }
        return places.map { place in place.flatMap { found[$0.table]?[$0.number] } }
    }

    /// The rows of a result for the selection of a table.
    func rows(_ result: PostgresResult, table: Int) throws(StoreError) -> [Row] {
        var reader = RowReader(core.selection(table))
        var rows: [Row] = []
        rows.reserveCapacity(result.rowCount)
        do throws(SQLFailure) {
            for row in 0..<result.rowCount { rows.append(try reader.row(result, row)) }
        } catch {
            throw StoreError(error)
        }
        return rows
    }
}
