// New rows that are streamed into their table.
//
// Threads: owned by one call.

import CairnLog
import CairnStore

/// Rows to copy into a table.
struct RowCopy {
    let form: RowForm
    let rows: ArraySlice<PartialStore.PlacedRow>
    /// The numbers of those that lead nowhere yet.
    let loose: Set<UInt32>

    /// From so many rows on a copy is faster than a statement with arrays, though it costs two round trips more.
    static let fewest = 1000
    /// As many as a call's bound is enough for.
    static let most = 1 << 14

    /// Sends the rows.
    ///
    /// - Throws: `StoreError` that names the property whose value the database cannot keep, or `SQLFailure`.
    func run(_ connection: PostgresConnection, _ bound: CallBound) throws {
        let table = form.layout.sql(form.layout.tables[form.table].name)
        do throws(SQLFailure) {
            try connection.copyIn(
                "COPY \(table) (\(form.list)) FROM STDIN (FORMAT binary)", bound: bound
            ) { writer in
                for row in rows {
                    try writer.beginRow(form.types.count)
                    try form.write(row, isLoose: loose.contains(row.number)) {
                        (column, value) throws(SQLFailure) in
                        try writer.fields.append(value, as: form.types[column])
                    }
                }
            }
        } catch {
            if case .bodyThrew(let cause as StoreError) = error.kind { throw cause }
            throw error
        }
    }
}
