// Whole rows of one table as arrays, one for each column.
//
// Threads: one; a value.

import CairnLog
import CairnModel
import CairnStore

/// Rows on their way into a table.
struct RowArrays {
    private let columnNames: [String]
    private let types: [ColumnType]
    private var arrays: [ColumnArray]

    init(_ table: TableLayout.Table, _ keys: KeyLayout) {
        let keyColumns = keys.columns(of: table.root)
        columnNames =
            [TableLayout.Fixed.id, TableLayout.Fixed.entity, TableLayout.Fixed.version]
            + table.columns.map(\.name) + keyColumns
        types =
            [.bigint, .smallint, .integer] + table.columns.map(\.type)
            + keyColumns.map { _ in .bytea }
        arrays = types.map { ColumnArray($0) }
    }

    /// Appends a row.
    ///
    /// - Throws: `StoreError` that names the property whose value the database cannot keep.
    mutating func append(
        _ row: PartialStore.PlacedRow, code: Int16, _ cells: [Value], _ keys: [Value],
        in layout: TableLayout
    ) throws(StoreError) {
        let all =
            [.integer(Int64(row.number)), .integer(Int64(code)), .integer(Int64(row.version))]
            + cells + keys
        for (column, value) in all.enumerated() {
            do throws(StoreError) {
                try arrays[column].append(value)
            } catch {
                var error = error
                error.context.entity = layout.schema.entities[row.entity].name
                error.context.key = columnNames[column]
                throw error
            }
        }
    }

    var parameters: [SQLParameter] { arrays.map(\.parameter) }
    var names: String { columnNames.map(\.quoted).joined(separator: ", ") }

    /// What stands for the rows in a statement.
    var lists: String {
        types.enumerated().map { ColumnArray.sql($0 + 1, $1) }.joined(separator: ", ")
    }

    /// Sets all columns but the number to those of a source.
    func assignments(from source: String) -> String {
        columnNames.dropFirst().map { "\($0.quoted) = \(source).\($0.quoted)" }
            .joined(separator: ", ")
    }
}
